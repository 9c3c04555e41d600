use super::*;
use toolkit_gateway::{JobId, Moment, Schedules, SessionKey};

use crate::agents::until;
use crate::schedules_at_work::Tools;

const HOUR: i64 = 3_600_000;

impl Gateway {
    /// Adds a job, and returns it.
    async fn job(&self, token: &str, fields: Value) -> Value {
        let (status, job) = self.call("POST", "/v1/schedules", token, Some(fields)).await;
        assert_eq!(status, 201, "{job}");
        job
    }

    /// The ids of the jobs that a person sees, sorted: the clock stands, so they have no other order.
    async fn jobs(&self, query: &str, token: &str) -> Vec<String> {
        let jobs = self.get(&format!("/v1/schedules{query}"), token).await;
        let mut ids: Vec<_> = jobs["jobs"].as_array().unwrap().iter().map(id).collect();
        ids.sort();
        ids
    }

    /// Waits until so many runs of a job have ended, and returns all as the person sees them, the newest first.
    async fn ended(&self, id: &str, token: &str, count: usize) -> Value {
        let store = self.sessions.store();
        until(store, || async {
            let fires = store.fires(&JobId::new(id), None, 100).await.unwrap();
            fires.iter().filter(|fire| fire.ended_at.is_some()).count() >= count
        })
        .await;
        self.get(&format!("/v1/schedules/{id}/runs"), token).await["runs"].clone()
    }
}

fn id(job: &Value) -> String {
    job["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_job_runs_at_its_times_and_beside_them_and_its_runs_are_listed() {
    let gateway = Gateway::start().await;
    let schedules =
        Schedules::start(gateway.sessions.clone(), Tools(Arc::clone(&gateway.ledger))).await.unwrap();
    let ada = gateway.person("ada").await;
    let job = gateway.job(&ada, json!({ "every": "1h", "prompt": "plain report" })).await;
    let id = id(&job);
    let own = format!("agent:main:cron:{id}");
    assert_eq!((&job["sessionKey"], &job["person"]), (&json!(own), &json!("ada")));
    assert_eq!((&job["nextAt"], &job["lastAt"]), (&json!(START.0 + HOUR), &Value::Null));
    assert_eq!(gateway.get(&format!("/v1/schedules/{id}/runs"), &ada).await, json!({ "runs": [] }));

    gateway.clock.set(Moment(START.0 + HOUR));
    schedules.check();
    let runs = gateway.ended(&id, &ada, 1).await;
    assert_eq!((&runs[0]["at"], &runs[0]["state"]), (&json!(START.0 + HOUR), &json!("done")));
    let shown = gateway.get(&format!("/v1/sessions/{own}/messages"), &ada).await;
    assert_eq!(shown["messages"][1]["text"], "answer to plain report");
    let job = gateway.get(&format!("/v1/schedules/{id}"), &ada).await;
    assert_eq!((&job["nextAt"], &job["lastAt"]), (&json!(START.0 + 2 * HOUR), &json!(START.0 + HOUR)));

    // Beside the schedule, also while it is paused.
    let path = format!("/v1/schedules/{id}");
    let (_, paused) = gateway.call("PATCH", &path, &ada, Some(json!({ "enabled": false }))).await;
    assert_eq!(paused["enabled"], false);
    let (status, asked) = gateway.call("POST", &format!("{path}/run"), &ada, None).await;
    assert_eq!((status, &asked["sessionKey"]), (202, &json!(own)));
    let runs = gateway.ended(&id, &ada, 2).await;
    assert_eq!((&runs[0]["manual"], &runs[1]["manual"]), (&json!(true), &json!(false)));
    assert_eq!(gateway.get(&format!("{path}/runs?limit=1"), &ada).await["runs"].as_array().unwrap().len(), 1);

    // A tool without a model, which fails.
    let broken = gateway.job(&ada, json!({ "at": START.0 + 9 * HOUR, "tool": "broken" })).await;
    let broken = broken["id"].as_str().unwrap();
    gateway.call("POST", &format!("/v1/schedules/{broken}/run"), &ada, None).await;
    let runs = gateway.ended(broken, &ada, 1).await;
    assert_eq!((&runs[0]["state"], &runs[0]["reason"]), (&json!("failed"), &json!("it is broken")));

    // The runs of a job that was removed stay, for its person.
    assert_eq!(gateway.call("DELETE", &path, &ada, None).await.0, 204);
    assert_eq!(gateway.call("DELETE", &path, &ada, None).await.0, 404);
    assert_eq!(gateway.get(&format!("{path}/runs"), &ada).await["runs"].as_array().unwrap().len(), 2);
    let bob = gateway.person("bob").await;
    assert_eq!(gateway.call("GET", &format!("{path}/runs"), &bob, None).await.0, 404);
    in_time(schedules.stop(Duration::ZERO)).await;
}

#[tokio::test]
async fn the_fields_of_a_job_are_shown_as_they_are_given_and_changed() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let given = json!({
        "schedule": "0 8 * * mon-fri", "timezone": "Europe/Berlin", "prompt": "report", "model": "large",
        "timeoutSeconds": 60, "missed": "skip", "enabled": false
    });
    let job = gateway.job(owner, given.clone()).await;
    let path = format!("/v1/schedules/{}", id(&job));
    for (key, value) in given.as_object().unwrap() {
        assert_eq!(&job[key], value, "{key}: {job}");
    }
    // Neither reading nor a clock that goes on changes anything.
    gateway.clock.set(Moment(START.0 + 999 * HOUR));
    assert_eq!(gateway.get(&path, owner).await, job);
    assert_eq!(gateway.get("/v1/schedules", owner).await["jobs"][0], job);

    for (change, key, value) in [
        (json!({ "model": null }), "model", Value::Null),
        (json!({ "model": "small" }), "model", json!("small")),
        (json!({ "model": "" }), "model", Value::Null),
        (json!({ "timeoutSeconds": null }), "timeoutSeconds", Value::Null),
        (json!({ "missed": "all" }), "missed", json!("all")),
        (json!({ "prompt": "other" }), "prompt", json!("other")),
        (json!({ "enabled": true }), "enabled", json!(true)),
        (json!({ "every": "90s" }), "every", json!("1m30s")),
        (json!({ "tool": "effect", "arguments": { "id": "1" } }), "arguments", json!({ "id": "1" })),
        (
            json!({ "at": "2040-01-01T01:00:00", "timezone": "Europe/Berlin" }),
            "at",
            json!(2_208_988_800_000_i64),
        ),
        (json!({ "at": 2_208_988_800_001_i64 }), "nextAt", json!(2_208_988_800_001_i64)),
    ] {
        let before = gateway.get(&path, owner).await;
        let (status, after) = gateway.call("PATCH", &path, owner, Some(change.clone())).await;
        assert_eq!((status, &after[key]), (200, &value), "{change}: {after}");
        assert_eq!(gateway.get(&path, owner).await, after);
        // Fields that are not sent stay.
        let is_time = change.get("at").is_some() || change.get("every").is_some() || key == "enabled";
        assert!(is_time || before["nextAt"] == after["nextAt"], "{change}");
        assert!(key == "missed" || before["missed"] == after["missed"], "{change}");
    }
    let job = gateway.get(&path, owner).await;
    for gone in ["schedule", "timezone", "every", "prompt"] {
        assert_eq!(job.get(gone), None, "{job}");
    }
}

#[tokio::test]
async fn each_person_sees_and_changes_their_own_jobs_and_the_owner_all() {
    let gateway = Gateway::start().await;
    let (ada, bob) = (gateway.person("ada").await, gateway.person("bob").await);
    let owner = gateway.owner.as_str();
    let fields = |session: &str| json!({ "every": "1h", "prompt": "plain a", "sessionKey": session });
    let of_ada = id(&gateway.job(&ada, fields("main")).await);
    let of_owner = id(&gateway.job(owner, fields("main")).await);
    // A job that the owner gives to a session of ada is hers.
    let given = gateway.job(owner, fields("agent:main:person:ada")).await;
    assert_eq!(given["person"], "ada");
    let given = id(&given);
    assert_eq!(gateway.jobs("", &ada).await.len(), 2);
    assert_eq!(gateway.jobs("", &bob).await, Vec::<String>::new());
    assert_eq!(gateway.jobs("", owner).await.len(), 3);
    assert_eq!(gateway.jobs("?session=main", owner).await, std::slice::from_ref(&of_owner));
    assert_eq!(gateway.jobs("?session=agent:main:person:ada", owner).await.len(), 2);
    assert_eq!(gateway.jobs("?agent=other", owner).await, Vec::<String>::new());

    // A job of somebody else is refused in the same words as one that is not there.
    for (method, rest, body) in [
        ("GET", "", None),
        ("PATCH", "", Some(json!({ "prompt": "mine" }))),
        ("PATCH", "", Some(json!({ "enabled": false }))),
        ("DELETE", "", None),
        ("POST", "/run", None),
        ("GET", "/runs", None),
    ] {
        for (theirs, token) in [(&of_ada, &bob), (&given, &bob), (&of_owner, &bob), (&of_owner, &ada)] {
            let path = format!("/v1/schedules/{theirs}{rest}");
            let (status, problem) = gateway.call(method, &path, token, body.clone()).await;
            assert_eq!(status, 404, "{method} {path}: {problem}");
            let absent = format!("/v1/schedules/{}{rest}", "0".repeat(12));
            let (_, other) = gateway.call(method, &absent, token, body.clone()).await;
            assert_eq!(problem.to_string().replace(theirs.as_str(), &"0".repeat(12)), other.to_string());
        }
    }
    // So is a session of somebody else, whether it has begun or not.
    for session in
        ["agent:main:person:ada", "agent:main:main", "agent:main:person:nobody", "agent:main:sub:1"]
    {
        let (status, problem) = gateway.call("POST", "/v1/schedules", &bob, Some(fields(session))).await;
        assert_eq!(status, 404, "{session}: {problem}");
        let (status, _) = gateway.call("GET", &format!("/v1/schedules?session={session}"), &bob, None).await;
        assert_eq!(status, 404, "{session}");
    }
    // Below a session of ada: one of bob, whose rights she does not get, and one of nobody.
    let below = |number: &str| SessionKey::sub("main", number).unwrap();
    let parent: SessionKey = "agent:main:person:ada".parse().unwrap();
    for (number, person) in [("2", Some("bob".to_owned())), ("3", None)] {
        let opened = gateway.sessions.store().open_session(below(number), person, Some(parent.clone()));
        opened.await.unwrap();
    }
    let (status, problem) =
        gateway.call("POST", "/v1/schedules", &ada, Some(fields(below("2").as_str()))).await;
    assert!(status == 422 && problem.to_string().contains("another person"), "{problem}");
    let shared = gateway.job(&ada, fields(below("3").as_str())).await;
    assert_eq!(shared["person"], "ada");
    gateway.call("DELETE", &format!("/v1/schedules/{}", id(&shared)), &ada, None).await;

    let elsewhere = json!({ "every": "1h", "prompt": "plain a", "agent": "other" });
    let (status, problem) = gateway.call("POST", "/v1/schedules", &bob, Some(elsewhere.clone())).await;
    assert!(status == 422 && problem["detail"].as_str().unwrap().contains("no agent `other`"), "{problem}");
    let other = gateway.job(owner, elsewhere).await;
    assert_eq!(gateway.jobs("?agent=other", owner).await, [id(&other)]);

    // The owner changes all; nothing of what was refused has happened.
    let path = format!("/v1/schedules/{of_ada}");
    assert_eq!(gateway.get(&path, &ada).await["prompt"], "plain a");
    let (status, changed) = gateway.call("PATCH", &path, owner, Some(json!({ "prompt": "plain b" }))).await;
    assert_eq!((status, &changed["person"]), (200, &json!("ada")));
    assert_eq!(gateway.get(&path, &ada).await["prompt"], "plain b");
    assert_eq!(gateway.call("DELETE", &path, owner, None).await.0, 204);
    assert_eq!(gateway.jobs("", &ada).await, [given]);

    // A token of the owner with fewer rights has their own jobs alone.
    let limited = gateway.token(json!({ "name": "phone", "person": "owner", "role": "user" })).await;
    let mut own = [of_owner, id(&other)];
    own.sort();
    assert_eq!(gateway.jobs("", &limited).await, own);
}

#[tokio::test]
async fn every_wrong_field_of_a_job_is_refused_with_what_is_wrong() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let job = id(&gateway.job(owner, json!({ "every": "1h", "prompt": "a", "sessionKey": "main" })).await);
    let path = format!("/v1/schedules/{job}");
    let before = gateway.get(&path, owner).await;
    let long = "x".repeat(70_000);
    for (fields, detail) in [
        (json!({ "schedule": "* * *" }), "five"),
        (json!({ "schedule": "61 * * * *" }), "61"),
        (json!({ "schedule": "0 0 30 2 *" }), "no time that is to come"),
        (json!({ "schedule": "@daily", "timezone": "Europe/Berln" }), "Europe/Berln"),
        (json!({ "every": "0s" }), "out of range"),
        (json!({ "every": "often" }), "no interval"),
        (json!({ "every": "1h", "timezone": "UTC" }), "follows real time"),
        (json!({ "every": "1h", "schedule": "@daily" }), "several schedules"),
        (json!({ "at": "tomorrow" }), "tomorrow"),
        (json!({ "at": "2001-01-01T00:00:00Z" }), "has passed"),
        (json!({ "at": 1_000 }), "has passed"),
        (json!({ "at": 9_999_999_999_999_i64, "timezone": "UTC" }), "leave it out"),
        (json!({ "at": true }), "`at` is a time"),
        (json!({ "timezone": "UTC" }), "without `schedule` or `at`"),
        (json!({ "prompt": " " }), "nothing to do"),
        (json!({ "prompt": long }), "put long content into a file"),
        (json!({ "prompt": "a", "tool": "b" }), "give one of them"),
        (json!({ "arguments": {} }), "without `tool`"),
        (json!({ "tool": "b", "arguments": [] }), "expected a map"),
        (json!({ "tool": "" }), "nothing to do"),
        (json!({ "timeoutSeconds": 0 }), "time-out is out of range"),
        (json!({ "timeoutSeconds": 604_801 }), "time-out is out of range"),
        (json!({ "timeoutSeconds": -1 }), "invalid value"),
        (json!({ "missed": "never" }), "unknown variant `never`"),
        (json!({ "person": "ada" }), "unknown field `person`"),
    ] {
        // As a change, where the job runs in a session that is not its own.
        let (status, told) = gateway.call("PATCH", &path, owner, Some(fields.clone())).await;
        let told = told["detail"].as_str().unwrap();
        assert!(status == 422 && told.contains(detail), "{fields}: {told}");
        // And as a new job, with what is missing.
        let mut whole = fields.clone();
        let has = |keys: &[&str]| keys.iter().any(|key| fields.get(key).is_some());
        if !has(&["schedule", "every", "at", "timezone"]) {
            whole["every"] = "1h".into();
        }
        if !has(&["prompt", "tool", "arguments"]) {
            whole["prompt"] = "a".into();
        }
        let (status, told) = gateway.call("POST", "/v1/schedules", owner, Some(whole)).await;
        let told = told["detail"].as_str().unwrap();
        assert!(status == 422 && told.contains(detail), "{fields}: {told}");
    }
    // None of it changed anything, or added anything.
    assert_eq!(gateway.get("/v1/schedules", owner).await, json!({ "jobs": [before] }));
}

#[tokio::test]
async fn every_wrong_request_about_jobs_is_refused_with_what_is_wrong() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.as_str();
    let job = id(&gateway.job(owner, json!({ "every": "1h", "prompt": "a", "sessionKey": "main" })).await);
    let path = format!("/v1/schedules/{job}");
    let before = gateway.get(&path, owner).await;
    for (method, path, fields, status, detail) in [
        ("POST", "/v1/schedules", json!({ "prompt": "a" }), 422, "a schedule is missing"),
        ("POST", "/v1/schedules", json!({ "every": "1h" }), 422, "the work is missing"),
        (
            "POST",
            "/v1/schedules",
            json!({ "every": "1h", "prompt": "a", "agent": "none" }),
            422,
            "no agent `none`",
        ),
        (
            "POST",
            "/v1/schedules",
            json!({ "every": "1h", "prompt": "a", "sessionKey": "agent:none:main" }),
            422,
            "no agent `none`",
        ),
        (
            "POST",
            "/v1/schedules",
            json!({ "every": "1h", "prompt": "a", "sessionKey": "x" }),
            400,
            "no key of a session",
        ),
        (
            "POST",
            "/v1/schedules",
            json!({ "every": "1h", "prompt": "a", "sessionKey": "main", "agent": "main" }),
            422,
            "leave `agent` out",
        ),
        (
            "POST",
            "/v1/schedules",
            json!({ "every": "1h", "prompt": "a", "sessionKey": "main", "model": "large" }),
            422,
            "a session of its own",
        ),
        ("PATCH", path.as_str(), json!({ "agent": "main" }), 422, "stay"),
        ("PATCH", path.as_str(), json!({}), 422, "nothing to change"),
        ("PATCH", path.as_str(), json!({ "model": "large" }), 422, "a session of its own"),
        ("PATCH", path.as_str(), json!({ "sessionKey": "main" }), 422, "stay"),
        ("GET", "/v1/schedules?person=ada", Value::Null, 400, "no parameter `person`"),
        ("GET", &format!("{path}/runs?limit=201"), Value::Null, 400, "from 1 to 200"),
        ("GET", "/v1/schedules/%ff", Value::Null, 400, "UTF-8"),
        ("PUT", path.as_str(), json!({}), 405, "does not take this method"),
    ] {
        let fields = Some(fields).filter(|fields| !fields.is_null());
        let (found, told) = gateway.call(method, path, owner, fields).await;
        assert_eq!(found, status, "{method} {path}: {told}");
        assert!(told["detail"].as_str().unwrap().contains(detail), "{method} {path}: {told}");
    }
    // None of it changed anything, or added anything.
    assert_eq!(gateway.get("/v1/schedules", owner).await, json!({ "jobs": [before] }));
}
