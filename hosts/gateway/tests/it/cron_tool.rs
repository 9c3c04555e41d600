//! The tool `cron` in sessions of the gateway.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use builtin_tools::automation::JobService;
use serde_json::{Value, json};
use toolkit::permission::{PermissionSettings, Permissions};
use toolkit::prelude::*;
use toolkit::{Caller, ToolCall};
use toolkit_gateway::{JobFilter, PeerKind, SessionKey, StoredJobs, caller_in};

use crate::common::{Place, START, key, target};
use crate::schedules::MINUTE;

struct Tool {
    place: Place,
    toolkit: Toolkit,
}

impl Tool {
    /// Ada and Bob have a session each.
    async fn new() -> Self {
        let place = Place::new().await;
        for person in ["ada", "bob"] {
            place.store.open_session(key(person), Some(person.to_owned()), None).await.unwrap();
        }
        let mut settings = PermissionSettings::default();
        settings.everybody = serde_json::from_value(json!({ "cron": "allow" })).unwrap();
        let service: Arc<dyn JobService> = Arc::new(StoredJobs::new(place.store.clone()));
        let toolkit = Toolkit::builder()
            .leave_out_incomplete()
            .shared_service(service)
            .permissions(Permissions::new([settings]));
        Self { place, toolkit: toolkit.build().unwrap() }
    }

    async fn call(&self, session: &SessionKey, arguments: Value) -> Result<Value, String> {
        let caller = caller_in(Caller::new().with_session("s"), session);
        let toolbox = self.toolkit.toolbox(&caller).await;
        let result = toolbox.call(ToolCall::new("call", "cron", arguments)).await.outcome;
        result.map(|output| output.details.unwrap()).map_err(|error| error.message().to_owned())
    }

    async fn add(&self, session: &SessionKey) -> String {
        let job = json!({ "action": "add", "schedule": "0 9 * * *", "timezone": "Europe/Berlin", "prompt": "Report." });
        let added = self.call(session, job).await.unwrap();
        added["job"]["id"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_job_runs_in_the_session_that_asks_and_answers_where_it_was_asked() {
    let tool = Tool::new().await;
    tool.place.accept("1", "ada").await;
    let run = tool.place.claim().await.run;
    let id = tool.add(&key("ada")).await;
    assert_eq!(tool.add(&key("ada")).await, id, "the same call of the same run");
    let jobs = tool.place.store.jobs(JobFilter::default()).await.unwrap();
    assert_eq!(jobs.len(), 1);
    assert_eq!(
        (&jobs[0].session, jobs[0].person.as_deref(), &jobs[0].reply_to),
        (&key("ada"), Some("ada"), &Some(target("ada")))
    );
    let shown = tool.call(&key("ada"), json!({ "action": "list" })).await.unwrap();
    assert_eq!(shown["jobs"][0]["nextAt"], "2027-01-16T09:00:00+01:00", "strictly later than now");
    assert!(tool.place.store.run(&run).await.unwrap().is_some());
    // In a session of its own, with a model of its own.
    let job = json!({ "action": "add", "every": "1h", "prompt": "Report.", "model": "large" });
    let added = tool.call(&key("ada"), job).await.unwrap();
    let own = format!("agent:main:cron:{}", added["job"]["id"].as_str().unwrap());
    assert_eq!(added["job"]["sessionKey"], own);
    let own = tool.place.store.session(own.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((own.model.as_deref(), own.person.as_deref()), (Some("large"), Some("ada")));
}

#[tokio::test]
async fn a_job_is_changed_run_and_removed_by_its_person() {
    let tool = Tool::new().await;
    let ada = key("ada");
    let id = tool.add(&ada).await;
    let change = json!({ "action": "update", "id": id, "every": "1h", "tool": "read", "arguments": { "file_path": "a" }, "enabled": false });
    let changed = tool.call(&ada, change).await.unwrap();
    let job = &changed["job"];
    assert_eq!(
        (&job["schedule"], &job["tool"], &job["enabled"]),
        (&json!("1h"), &json!("read"), &json!(false))
    );
    tool.call(&ada, json!({ "action": "run", "id": id })).await.unwrap();
    tool.place.clock.set(START.after(MINUTE));
    assert!(tool.place.store.claim_fire().await.unwrap().unwrap().fire.id.is_manual);
    let runs = tool.call(&ada, json!({ "action": "runs", "id": id })).await.unwrap();
    assert_eq!((&runs["runs"][0]["state"], &runs["runs"][0]["manual"]), (&json!("begun"), &json!(true)));
    tool.call(&ada, json!({ "action": "remove", "id": id })).await.unwrap();
    let runs = tool.call(&ada, json!({ "action": "runs", "id": id })).await.unwrap();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "its runs are still shown");
    for (arguments, expected) in [
        (json!({ "action": "add", "schedule": "0 25 * * *", "prompt": "x" }), "25 is out of range"),
        (json!({ "action": "add", "every": "soon", "prompt": "x" }), "`soon` is no interval"),
        (
            json!({ "action": "add", "at": "2020-01-01T00:00:00Z", "prompt": "x" }),
            "the time of the job has passed",
        ),
        (
            json!({ "action": "add", "at": "2030-01-01T00:00:00", "timezone": "Nowhere", "prompt": "x" }),
            "the time zone `Nowhere`",
        ),
    ] {
        let error = tool.call(&ada, arguments).await.unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn jobs_of_one_person_do_not_exist_for_another() {
    let tool = Tool::new().await;
    let (ada, bob) = (key("ada"), key("bob"));
    let id = tool.add(&ada).await;
    assert_eq!(tool.call(&bob, json!({ "action": "list" })).await.unwrap()["jobs"], json!([]));
    for action in ["remove", "run", "runs"] {
        let error = tool.call(&bob, json!({ "action": action, "id": id })).await.unwrap_err();
        assert!(error.contains(&format!("there is no job `{id}`")), "{error}");
    }
    let error = tool.call(&bob, json!({ "action": "update", "id": id, "enabled": false })).await.unwrap_err();
    assert!(error.contains(&format!("there is no job `{id}`")), "{error}");
    let job = |session: &SessionKey| json!({ "action": "add", "every": "1h", "prompt": "x", "sessionKey": session });
    let error = tool.call(&bob, job(&ada)).await.unwrap_err();
    assert!(error.contains(&format!("you have no session `{ada}`")), "{error}");
    let nobody = key("nobody");
    let missing = tool.call(&bob, job(&nobody)).await.unwrap_err();
    assert_eq!(
        missing.replace(nobody.as_str(), ada.as_str()),
        error,
        "an error does not say that it is there"
    );
    // By default, a session does not see another one of the same person that stands beside it.
    let thread = SessionKey::peer("main", "chat", "one", PeerKind::Direct, "ada", Some("t")).unwrap();
    tool.place.store.open_session(thread.clone(), Some("ada".to_owned()), None).await.unwrap();
    assert!(tool.call(&ada, job(&thread)).await.is_err());
    let below = SessionKey::sub("main", "1").unwrap();
    tool.place.store.open_session(below.clone(), Some("ada".to_owned()), Some(ada.clone())).await.unwrap();
    assert_eq!(tool.call(&ada, job(&below)).await.unwrap()["job"]["sessionKey"], below.as_str());
    // A group has its own jobs, and sees nobody's.
    let group = SessionKey::peer("main", "chat", "one", PeerKind::Group, "g", None).unwrap();
    tool.place.store.open_session(group.clone(), None, None).await.unwrap();
    let of_group = tool.add(&group).await;
    let listed = tool.call(&group, json!({ "action": "list" })).await.unwrap();
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 1);
    assert!(tool.call(&group, json!({ "action": "remove", "id": id })).await.is_err());
    assert!(tool.call(&ada, json!({ "action": "remove", "id": of_group })).await.is_err());
    tool.call(&group, json!({ "action": "remove", "id": of_group })).await.unwrap();
    // A call outside of the gateway has no jobs.
    let toolbox = tool.toolkit.toolbox(&Caller::new()).await;
    let result = toolbox.call(ToolCall::new("1", "cron", json!({ "action": "list" }))).await;
    assert!(result.text().contains("not made in a session of the gateway"), "{}", result.text());
}
