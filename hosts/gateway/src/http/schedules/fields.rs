//! The fields of a job as a request has them.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;

use crate::Schedule;
use crate::store::{JobChange, JobWork, Missed, Moment};

/// A job that is added, or a change of one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Fields {
    schedule: Option<String>,
    timezone: Option<String>,
    every: Option<String>,
    at: Option<Time>,
    prompt: Option<String>,
    tool: Option<String>,
    arguments: Option<Map<String, Value>>,
    pub(super) session_key: Option<String>,
    /// The agent of a job with a session of its own; by default, the person's.
    pub(super) agent: Option<String>,
    #[serde(default)]
    model: Nullable<String>,
    #[serde(default)]
    timeout_seconds: Nullable<u64>,
    pub(super) missed: Option<Missed>,
    pub(super) enabled: Option<bool>,
}

/// A single time.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "`at` is a time such as \"2027-03-01T09:00:00+01:00\", or milliseconds since 1970"
)]
enum Time {
    Number(Moment),
    Text(String),
}

/// A field that null clears.
#[derive(Debug, Default)]
enum Nullable<T> {
    #[default]
    Missing,
    Null,
    Value(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}

impl<T> Nullable<T> {
    fn is_given(&self) -> bool {
        !matches!(self, Self::Missing)
    }

    fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing | Self::Null => None,
        }
    }
}

impl Fields {
    /// The schedule, counted from now, if one is given.
    pub(super) fn schedule(&self, now: Moment) -> Result<Option<Schedule>, Problem> {
        let zone = self.timezone.as_deref();
        let read = match (&self.schedule, &self.every, &self.at) {
            (None, None, None) if zone.is_some() => {
                return Err(unfit("`timezone` is given without `schedule` or `at`: give the schedule, too"));
            }
            (None, None, None) => return Ok(None),
            (Some(expression), None, None) => Schedule::read_cron(expression, zone),
            (None, Some(_), None) if zone.is_some() => {
                Err("`timezone` is not for `every`, which follows real time: leave it out".to_owned())
            }
            (None, Some(interval), None) => Schedule::read_every(interval, now),
            (None, None, Some(Time::Number(_))) if zone.is_some() => {
                Err("`timezone` is not for a number of milliseconds: leave it out".to_owned())
            }
            (None, None, Some(Time::Number(time))) => Ok(Schedule::At { time: *time }),
            (None, None, Some(Time::Text(time))) => Schedule::read_at(time, zone),
            _ => Err("several schedules are given: give one of `schedule`, `every` and `at`".to_owned()),
        };
        read.map(Some).map_err(|reason| unfit(&reason))
    }

    /// Refuses fields other than those of a schedule.
    pub(super) fn check_is_schedule(&self) -> Result<(), Problem> {
        let has_others = self.prompt.is_some()
            || self.tool.is_some()
            || self.arguments.is_some()
            || self.session_key.is_some()
            || self.agent.is_some()
            || self.model.is_given()
            || self.timeout_seconds.is_given()
            || self.missed.is_some()
            || self.enabled.is_some();
        if has_others {
            return Err(unfit("a preview takes `schedule`, `every` or `at`, and `timezone`, alone"));
        }
        Ok(())
    }

    /// The work, if one is given.
    pub(super) fn work(&self) -> Result<Option<JobWork>, Problem> {
        match (&self.prompt, &self.tool) {
            (Some(_), Some(_)) => Err(unfit("`prompt` and `tool` are given: give one of them")),
            (_, None) if self.arguments.is_some() => {
                Err(unfit("`arguments` is given without `tool`: name the tool"))
            }
            (Some(prompt), None) => Ok(Some(JobWork::Prompt { prompt: prompt.clone() })),
            (None, Some(tool)) => {
                let arguments = Value::Object(self.arguments.clone().unwrap_or_default());
                Ok(Some(JobWork::Tool { tool: tool.clone(), arguments }))
            }
            (None, None) => Ok(None),
        }
    }

    /// The model; none for null and an empty text, which stand for that of the agent.
    pub(super) fn model(&self) -> Option<String> {
        self.model.value().filter(|model| !model.is_empty()).cloned()
    }

    /// The time-out.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout_seconds.value().copied().map(Duration::from_secs)
    }

    /// The change of a job.
    pub(super) fn change(&self, now: Moment) -> Result<JobChange, Problem> {
        if self.session_key.is_some() || self.agent.is_some() {
            return Err(unfit("the session and the agent of a job stay: add a new job"));
        }
        let change = JobChange {
            schedule: self.schedule(now)?,
            work: self.work()?,
            model: self.model.is_given().then(|| self.model()),
            timeout: self.timeout_seconds.is_given().then(|| self.timeout()),
            missed: self.missed,
            enabled: self.enabled,
            ..JobChange::default()
        };
        if change == JobChange::default() {
            return Err(unfit("nothing to change is given: give the fields that are to change"));
        }
        Ok(change)
    }
}

pub(super) fn unfit(text: &str) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text)
}
