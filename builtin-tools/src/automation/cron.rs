//! `cron`: jobs that are run at their times.

use std::time::Duration;

use serde_json::{Map, Value};
use toolkit::prelude::*;
use toolkit::{Caller, Preparation, ToolErrorKind};

use super::service::{JobFields, JobInfo, JobRun, JobSchedule, JobService, JobTask, MissedTimes};
use crate::titles;

/// The kind of the questions.
const KIND: &str = "cron";
/// Runs that are listed.
const MAX_RUNS: u32 = 50;

/// The action.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum CronAction {
    /// Adds a job: a schedule, and a prompt or a tool.
    Add,
    /// Lists the jobs.
    List,
    /// Removes the job `id`.
    Remove,
    /// Changes the given fields of the job `id`.
    Update,
    /// Runs the job `id` once now, beside its schedule.
    Run,
    /// Lists the last runs of the job `id`.
    Runs,
}

/// The arguments.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct CronArguments {
    /// The action.
    pub action: CronAction,
    /// A cron expression with five fields: minute, hour, day of month, month, day of week. Or `every` or `at`.
    #[arg(length(1..=256), example = "0 9 * * mon-fri")]
    pub schedule: Option<String>,
    /// The message that the agent gets each time. It must make sense without this conversation.
    #[arg(length(1..=32_768), example = "Summarize the new issues.")]
    pub prompt: Option<String>,
    /// The id of a job.
    #[arg(length(1..=64))]
    pub id: Option<String>,
    /// The time zone of `schedule` and `at`. Default: UTC.
    #[arg(length(1..=64), example = "Europe/Berlin")]
    pub timezone: Option<String>,
    /// An interval, in place of `schedule`.
    #[arg(length(1..=64), example = "1h30m")]
    pub every: Option<String>,
    /// A single time, in place of `schedule`.
    #[arg(length(1..=64), example = "2027-03-01T09:00:00+01:00")]
    pub at: Option<String>,
    /// The policy for times at which the job could not begin. Default: once.
    pub missed: Option<MissedTimes>,
    /// The session in which the job runs; for `add` alone. Default: this session.
    #[arg(length(1..=2_048))]
    pub session_key: Option<String>,
    /// A tool to call in place of `prompt`, without a model.
    #[arg(length(1..=128))]
    pub tool: Option<String>,
    /// A JSON object with the values that `tool` takes; none without it.
    pub arguments: Option<Map<String, Value>>,
    /// The model, for a job with a session of its own.
    #[arg(length(..=128))]
    pub model: Option<String>,
    /// Cancel a run that takes longer.
    #[arg(range(1..=604_800))]
    pub timeout_seconds: Option<u64>,
    /// False pauses the job, true lets it go on.
    pub enabled: Option<bool>,
}

/// The result.
#[toolkit::args]
#[derive(Debug, Clone, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CronResult {
    /// The job that was added or changed.
    pub job: Option<JobInfo>,
    /// The jobs.
    pub jobs: Option<Vec<JobInfo>>,
    /// The runs of a job, the newest first.
    pub runs: Option<Vec<JobRun>>,
    /// The id of the job that was removed.
    pub removed: Option<String>,
    /// The id of the job that is run now.
    pub requested: Option<String>,
}

/// Hides the tool where nothing runs jobs.
async fn provided(_caller: &Caller, tool: &mut Preparation) {
    if tool.service::<dyn JobService>().is_none() {
        tool.hide("this host runs no jobs; a gateway does");
    }
}

/// Schedules jobs: a prompt for the agent, or a call of a tool, at the times of a cron expression, at intervals, or once. Jobs stay after
/// this session, until they are removed.
///
/// # Errors
///
/// If a field is missing or wrong, there is no such job, or the change is denied.
#[tool(
    name = "cron",
    group = "automation",
    title = "Schedule jobs",
    permission = "cron",
    asks,
    prepare = provided
)]
pub async fn cron(
    ctx: &ToolContext,
    #[args] arguments: CronArguments,
) -> Result<Json<CronResult>, ToolError> {
    let service = ctx.service::<dyn JobService>();
    let service = service.ok_or_else(|| ToolError::unavailable("this host runs no jobs; a gateway does"))?;
    let action = arguments.action;
    let id = arguments.id.clone();
    titles::begin(ctx, words(action), id.as_deref().or(arguments.prompt.as_deref()).unwrap_or_default());
    let named = || {
        id.as_deref().ok_or_else(|| wrong("`id` is missing: name the job; the action `list` shows the ids"))
    };
    let mut result = CronResult::default();
    match action {
        CronAction::Add => {
            if id.is_some() {
                return Err(wrong("`id` is not for `add`: the new job gets one"));
            }
            let fields = fields(arguments)?;
            if fields.schedule.is_none() {
                return Err(wrong("a schedule is missing: give `schedule`, `every` or `at`"));
            }
            if fields.task.is_none() {
                return Err(wrong("the work is missing: give `prompt`, or `tool` with its `arguments`"));
            }
            ctx.ask(question("Add a job", &fields)).await?;
            result.job = Some(service.add(ctx, fields).await?);
        }
        CronAction::Update => {
            let id = named()?;
            if arguments.session_key.is_some() {
                return Err(wrong(
                    "`sessionKey` is for `add` alone: the session of a job stays; add a new job",
                ));
            }
            let fields = fields(arguments)?;
            if fields == JobFields::default() {
                return Err(wrong("nothing to change is given: give the fields that are to change"));
            }
            let ask = question(&format!("Change the job {id}"), &fields);
            ctx.ask(about(ask, service.list(ctx).await?, id)).await?;
            result.job = Some(service.update(ctx, id, fields).await?);
        }
        CronAction::List => result.jobs = Some(service.list(ctx).await?),
        CronAction::Runs => result.runs = Some(service.runs(ctx, named()?, MAX_RUNS).await?),
        CronAction::Remove => {
            let id = named()?;
            let ask = Ask::new(KIND, format!("Remove the job {id}")).with_pattern(id).before_acting();
            ctx.ask(about(ask, service.list(ctx).await?, id)).await?;
            service.remove(ctx, id).await?;
            result.removed = Some(id.to_owned());
        }
        CronAction::Run => {
            let id = named()?;
            let ask = Ask::new(KIND, format!("Run the job {id} now")).with_pattern(id).before_acting();
            ctx.ask(about(ask, service.list(ctx).await?, id)).await?;
            service.run(ctx, id).await?;
            result.requested = Some(id.to_owned());
        }
    }
    Ok(Json(result))
}

/// The question with the job as it is: a person cannot know it by its id.
fn about(ask: Ask, jobs: Vec<JobInfo>, id: &str) -> Ask {
    let Some(job) = jobs.into_iter().find(|job| job.id == id) else { return ask };
    let work = match (job.prompt, job.tool) {
        (Some(prompt), _) => prompt,
        (None, Some(tool)) => {
            let arguments = job.arguments.map(serde_json::Value::Object).unwrap_or_default();
            format!("{tool} {arguments}")
        }
        (None, None) => String::new(),
    };
    ask.with_text("in session", job.session_key)
        .with_text("at present", job.schedule)
        .with_text("work so far", work)
}

/// The words for a call's action, which precede the job.
fn words(action: CronAction) -> &'static str {
    match action {
        CronAction::Add => "Add a job:",
        CronAction::List => "List jobs",
        CronAction::Remove => "Remove the job",
        CronAction::Update => "Change the job",
        CronAction::Run => "Run the job",
        CronAction::Runs => "Runs of the job",
    }
}

/// Returns the fields of a job, if those that are given go together.
fn fields(arguments: CronArguments) -> Result<JobFields, ToolError> {
    let CronArguments { schedule, every, at, timezone, prompt, tool, arguments: of_tool, .. } = arguments;
    let schedule = match (schedule, every, at) {
        (Some(expression), None, None) => Some(JobSchedule::Cron { expression, timezone }),
        (None, Some(_), None) if timezone.is_some() => {
            return Err(wrong("`timezone` is not for `every`, which follows real time: leave it out"));
        }
        (None, Some(interval), None) => Some(JobSchedule::Every(interval)),
        (None, None, Some(time)) => Some(JobSchedule::At { time, timezone }),
        (None, None, None) if timezone.is_some() => {
            return Err(wrong("`timezone` is given without `schedule` or `at`: give the schedule, too"));
        }
        (None, None, None) => None,
        _ => return Err(wrong("several schedules are given: give one of `schedule`, `every` and `at`")),
    };
    let task = match (prompt, tool) {
        (Some(_), Some(_)) => return Err(wrong("`prompt` and `tool` are given: give one of them")),
        (_, None) if of_tool.is_some() => {
            return Err(wrong("`arguments` is given without `tool`: name the tool"));
        }
        (Some(prompt), None) => Some(JobTask::Prompt(prompt)),
        (None, Some(name)) => Some(JobTask::Tool { name, arguments: of_tool.unwrap_or_default() }),
        (None, None) => None,
    };
    Ok(JobFields {
        schedule,
        task,
        missed: arguments.missed,
        session_key: arguments.session_key,
        model: arguments.model,
        timeout: arguments.timeout_seconds.map(Duration::from_secs),
        enabled: arguments.enabled,
    })
}

/// The question for approval, with all that is new.
fn question(title: &str, fields: &JobFields) -> Ask {
    let mut ask = Ask::new(KIND, title).before_acting();
    if let Some(schedule) = &fields.schedule {
        let (when, timezone) = match schedule {
            JobSchedule::Cron { expression, timezone } => (expression.clone(), timezone.as_deref()),
            JobSchedule::Every(interval) => (format!("every {interval}"), None),
            JobSchedule::At { time, timezone } => (format!("at {time}"), timezone.as_deref()),
        };
        ask = ask.with_text(
            "schedule",
            match timezone {
                Some(timezone) => format!("{when} ({timezone})"),
                None => when,
            },
        );
    }
    match &fields.task {
        Some(JobTask::Prompt(prompt)) => ask = ask.with_pattern("prompt").with_text("prompt", prompt),
        Some(JobTask::Tool { name, arguments }) => {
            ask = ask.with_pattern(name);
            ask = ask.with_text("tool", format!("{name} {}", Value::Object(arguments.clone())));
        }
        None => ask = ask.with_pattern("change"),
    }
    let others = [
        ("session", fields.session_key.clone()),
        ("model", fields.model.clone()),
        ("time-out", fields.timeout.map(|timeout| format!("{} s", timeout.as_secs()))),
        ("enabled", fields.enabled.map(|enabled| enabled.to_string())),
        ("missed", fields.missed.map(|missed| format!("{missed:?}").to_lowercase())),
    ];
    for (label, value) in others {
        if let Some(value) = value {
            ask = ask.with_text(label, value);
        }
    }
    ask
}

fn wrong(message: &str) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, message)
}
