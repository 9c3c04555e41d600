//! Jobs and their runs as answers show them.

use serde::Serialize;
use serde_json::Value;

use crate::SessionKey;
use crate::recurrence::Schedule;
use crate::store::{Fire, FireState, Job, JobId, JobWork, MessageId, Missed, Moment};

/// The schedule and the work of a job, under the field names of a request.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Definition {
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
}

impl Definition {
    fn of(schedule: Schedule, work: JobWork) -> Self {
        let definition = match schedule {
            Schedule::Cron { expression, zone } => Self {
                schedule: Some(expression.to_string()),
                timezone: Some(zone.to_string()),
                ..Self::default()
            },
            Schedule::Every { interval, .. } => Self { every: Some(interval.to_string()), ..Self::default() },
            Schedule::At { time } => Self { at: Some(time), ..Self::default() },
        };
        match work {
            JobWork::Prompt { prompt } => Self { prompt: Some(prompt), ..definition },
            JobWork::Tool { tool, arguments } => {
                Self { tool: Some(tool), arguments: Some(arguments), ..definition }
            }
        }
    }
}

/// A job.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobView {
    id: JobId,
    person: Option<String>,
    session_key: SessionKey,
    #[serde(flatten)]
    definition: Definition,
    model: Option<String>,
    timeout_seconds: Option<u64>,
    missed: Missed,
    enabled: bool,
    paused: Option<String>,
    failures: u32,
    next_at: Option<Moment>,
    last_at: Option<Moment>,
    requested: bool,
    running: bool,
    created_at: Moment,
}

impl JobView {
    pub(super) fn of(job: Job) -> Self {
        Self {
            id: job.id,
            person: job.person,
            session_key: job.session,
            definition: Definition::of(job.schedule, job.work),
            model: job.model,
            timeout_seconds: job.timeout.map(|timeout| timeout.as_secs()),
            missed: job.missed,
            enabled: job.is_enabled,
            paused: job.paused,
            failures: job.failures,
            next_at: job.next_at,
            last_at: job.last_at,
            requested: job.is_requested,
            running: job.in_flight.is_some(),
            created_at: job.created_at,
        }
    }
}

/// A run of a job.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunView {
    at: Moment,
    /// True for one beside the schedule.
    manual: bool,
    state: FireState,
    session_key: SessionKey,
    /// The message that began it, in the inbox of the session.
    message: Option<MessageId>,
    missed: u32,
    reason: Option<String>,
    result: Option<String>,
    begun_at: Moment,
    ended_at: Option<Moment>,
}

impl RunView {
    pub(super) fn of(fire: Fire) -> Self {
        Self {
            at: fire.id.at,
            manual: fire.id.is_manual,
            state: fire.state,
            session_key: fire.session,
            message: fire.message,
            missed: fire.missed,
            reason: fire.reason,
            result: fire.result,
            begun_at: fire.begun_at,
            ended_at: fire.ended_at,
        }
    }
}
