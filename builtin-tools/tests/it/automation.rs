//! `cron`, over a service that notes what it is asked.
#![cfg(feature = "automation")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use builtin_tools::automation::{
    JobAnswer, JobFields, JobInfo, JobRun, JobSchedule, JobService, JobTask, MissedTimes,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit::permission::{PermissionSettings, Permissions};
use toolkit::prelude::*;
use toolkit::{Caller, ToolCall, ToolErrorKind};

#[derive(Default)]
struct Notes {
    calls: Mutex<Vec<String>>,
    fields: Mutex<Vec<JobFields>>,
}

impl Notes {
    fn note(&self, call: String) {
        self.calls.lock().unwrap().push(call);
    }
}

fn job() -> JobInfo {
    JobInfo {
        id: "j1".to_owned(),
        session_key: "agent:main:main".to_owned(),
        schedule: "0 9 * * *".to_owned(),
        timezone: Some("UTC".to_owned()),
        prompt: Some("Report.".to_owned()),
        tool: None,
        arguments: None,
        model: None,
        timeout_seconds: None,
        missed: MissedTimes::Once,
        enabled: true,
        paused: None,
        failures: 0,
        next_at: Some("2027-01-01T09:00:00+00:00".to_owned()),
        running: false,
    }
}

impl JobService for Notes {
    fn add<'a>(&'a self, ctx: &'a ToolContext, fields: JobFields) -> JobAnswer<'a, JobInfo> {
        self.note(format!("add in {}", ctx.session_id().unwrap_or_default()));
        self.fields.lock().unwrap().push(fields);
        Box::pin(async { Ok(job()) })
    }

    fn list<'a>(&'a self, _ctx: &'a ToolContext) -> JobAnswer<'a, Vec<JobInfo>> {
        self.note("list".to_owned());
        Box::pin(async { Ok(vec![job()]) })
    }

    fn update<'a>(&'a self, _ctx: &'a ToolContext, id: &'a str, fields: JobFields) -> JobAnswer<'a, JobInfo> {
        self.note(format!("update {id}"));
        self.fields.lock().unwrap().push(fields);
        Box::pin(async { Ok(job()) })
    }

    fn remove<'a>(&'a self, _ctx: &'a ToolContext, id: &'a str) -> JobAnswer<'a, ()> {
        self.note(format!("remove {id}"));
        Box::pin(async { Ok(()) })
    }

    fn run<'a>(&'a self, _ctx: &'a ToolContext, id: &'a str) -> JobAnswer<'a, ()> {
        self.note(format!("run {id}"));
        Box::pin(async { Ok(()) })
    }

    fn runs<'a>(&'a self, _ctx: &'a ToolContext, id: &'a str, limit: u32) -> JobAnswer<'a, Vec<JobRun>> {
        self.note(format!("runs {id} {limit}"));
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn toolkit(notes: &Arc<Notes>, permission: &str) -> Toolkit {
    let service: Arc<dyn JobService> = Arc::clone(notes) as _;
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(json!({ "cron": permission })).unwrap();
    let builder = Toolkit::builder().leave_out_incomplete().shared_service(service);
    builder.permissions(Permissions::new([settings])).build().unwrap()
}

async fn call(toolkit: &Toolkit, arguments: Value) -> Result<Value, ToolError> {
    let toolbox = toolkit.toolbox(&Caller::new().with_session("s1")).await;
    let output = toolbox.call(ToolCall::new("1", "cron", arguments)).await.outcome?;
    Ok(output.details.unwrap_or_default())
}

#[tokio::test]
async fn each_action_reaches_the_service_with_its_fields() {
    let notes = Arc::new(Notes::default());
    let toolkit = toolkit(&notes, "allow");
    let added = call(
        &toolkit,
        json!({
            "action": "add", "schedule": "0 9 * * *", "timezone": "Europe/Berlin", "prompt": "Report.", "missed": "skip",
            "sessionKey": "agent:main:main", "model": "large", "timeoutSeconds": 60, "enabled": false,
        }),
    );
    let added = added.await.unwrap();
    assert_eq!(
        (&added["job"]["id"], &added["job"]["nextAt"]),
        (&json!("j1"), &json!("2027-01-01T09:00:00+00:00"))
    );
    let every = json!({ "action": "update", "id": "j1", "every": "1h", "tool": "read", "arguments": { "file_path": "a" } });
    call(&toolkit, every).await.unwrap();
    let at = json!({ "action": "update", "id": "j1", "at": "2027-03-01T09:00:00", "timezone": "UTC" });
    call(&toolkit, at).await.unwrap();
    assert_eq!(call(&toolkit, json!({ "action": "list" })).await.unwrap()["jobs"][0]["id"], "j1");
    assert_eq!(call(&toolkit, json!({ "action": "remove", "id": "j1" })).await.unwrap()["removed"], "j1");
    assert_eq!(call(&toolkit, json!({ "action": "run", "id": "j1" })).await.unwrap()["requested"], "j1");
    assert_eq!(call(&toolkit, json!({ "action": "runs", "id": "j1" })).await.unwrap()["runs"], json!([]));
    // A change looks first, so that its question says what the job does.
    let expected = [
        "add in s1",
        "list",
        "update j1",
        "list",
        "update j1",
        "list",
        "list",
        "remove j1",
        "list",
        "run j1",
        "runs j1 50",
    ];
    assert_eq!(*notes.calls.lock().unwrap(), expected);
    let arguments = json!({ "file_path": "a" }).as_object().unwrap().clone();
    let expected = [
        JobFields {
            schedule: Some(JobSchedule::Cron {
                expression: "0 9 * * *".to_owned(),
                timezone: Some("Europe/Berlin".to_owned()),
            }),
            task: Some(JobTask::Prompt("Report.".to_owned())),
            missed: Some(MissedTimes::Skip),
            session_key: Some("agent:main:main".to_owned()),
            model: Some("large".to_owned()),
            timeout: Some(Duration::from_mins(1)),
            enabled: Some(false),
        },
        JobFields {
            schedule: Some(JobSchedule::Every("1h".to_owned())),
            task: Some(JobTask::Tool { name: "read".to_owned(), arguments }),
            ..JobFields::default()
        },
        JobFields {
            schedule: Some(JobSchedule::At {
                time: "2027-03-01T09:00:00".to_owned(),
                timezone: Some("UTC".to_owned()),
            }),
            ..JobFields::default()
        },
    ];
    assert_eq!(*notes.fields.lock().unwrap(), expected);
}

#[tokio::test]
async fn fields_that_do_not_go_together_are_refused_before_anything_is_asked() {
    let notes = Arc::new(Notes::default());
    let toolkit = toolkit(&notes, "ask");
    for (arguments, expected) in [
        (
            json!({ "action": "add", "prompt": "x" }),
            "a schedule is missing: give `schedule`, `every` or `at`",
        ),
        (json!({ "action": "add", "every": "1h" }), "the work is missing"),
        (json!({ "action": "add", "every": "1h", "at": "x", "prompt": "x" }), "several schedules are given"),
        (
            json!({ "action": "add", "every": "1h", "timezone": "UTC", "prompt": "x" }),
            "`timezone` is not for `every`",
        ),
        (
            json!({ "action": "add", "every": "1h", "prompt": "x", "tool": "read" }),
            "`prompt` and `tool` are given",
        ),
        (
            json!({ "action": "add", "every": "1h", "prompt": "x", "arguments": {} }),
            "`arguments` is given without `tool`",
        ),
        (json!({ "action": "add", "every": "1h", "prompt": "x", "id": "j1" }), "`id` is not for `add`"),
        (json!({ "action": "update", "every": "1h" }), "`id` is missing: name the job"),
        (json!({ "action": "update", "id": "j1" }), "nothing to change is given"),
        (json!({ "action": "update", "id": "j1", "timezone": "UTC" }), "without `schedule` or `at`"),
        (json!({ "action": "update", "id": "j1", "sessionKey": "x" }), "`sessionKey` is for `add` alone"),
        (json!({ "action": "remove" }), "`id` is missing"),
    ] {
        let error = call(&toolkit, arguments).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{error}");
        assert!(error.message().contains(expected), "{error}");
    }
    assert!(notes.calls.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_change_needs_approval_and_looking_does_not() {
    let notes = Arc::new(Notes::default());
    let toolkit = toolkit(&notes, "ask");
    for arguments in [
        json!({ "action": "add", "every": "1h", "prompt": "x" }),
        json!({ "action": "update", "id": "j1", "enabled": true }),
        json!({ "action": "remove", "id": "j1" }),
        json!({ "action": "run", "id": "j1" }),
    ] {
        assert_eq!(call(&toolkit, arguments).await.unwrap_err().kind(), ToolErrorKind::Denied);
    }
    call(&toolkit, json!({ "action": "list" })).await.unwrap();
    call(&toolkit, json!({ "action": "runs", "id": "j1" })).await.unwrap();
    // Three of the looks are for questions.
    assert_eq!(*notes.calls.lock().unwrap(), ["list", "list", "list", "list", "runs j1 50"]);
}

#[tokio::test]
async fn a_host_that_runs_no_jobs_has_no_such_tool() {
    let toolkit = Toolkit::builder().leave_out_incomplete().build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    assert!(toolbox.find("cron").is_err());
}
