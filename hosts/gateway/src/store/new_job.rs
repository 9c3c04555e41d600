//! A job as it is asked for, and the limits of its parts.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::damage::Fault;
use super::overdue::Missed;
use super::target::Target;
use crate::SessionKey;
use crate::recurrence::Schedule;

/// The longest work, in bytes of its JSON.
const MAX_WORK_BYTES: usize = 64 << 10;
/// The longest jitter.
const MAX_JITTER: Duration = Duration::from_hours(1);
/// The longest time-out.
const MAX_TIMEOUT: Duration = Duration::from_hours(7 * 24);
/// The greatest limit of missed times that are run.
const MAX_MISSED: u32 = 1_000;

/// The work of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JobWork {
    /// A message to the agent.
    Prompt {
        /// Its text.
        prompt: String,
    },
    /// A call of a tool, without a model.
    Tool {
        /// The name of the tool.
        tool: String,
        /// The arguments.
        arguments: Value,
    },
}

/// A job to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    pub(super) agent: String,
    pub(super) schedule: Schedule,
    pub(super) work: JobWork,
    pub(super) session: Option<SessionKey>,
    pub(super) maker: Option<(SessionKey, Vec<String>)>,
    pub(super) person: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) reply_to: Option<Target>,
    pub(super) model: Option<String>,
    pub(super) delete_after_run: bool,
    pub(super) settings: Settings,
}

/// Settings that can be changed later.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) timeout: Option<Duration>,
    pub(super) missed: Missed,
    pub(super) missed_limit: u32,
    pub(super) jitter: Duration,
    pub(super) max_failures: u32,
    pub(super) is_enabled: bool,
}

impl NewJob {
    /// A job of an agent, in a session of its own, that is enabled: missed times are made up for by one fire, without a time-out and a
    /// jitter, and it is paused after five failures in a row.
    pub fn new(agent: impl Into<String>, schedule: Schedule, work: JobWork) -> Self {
        let settings = Settings {
            timeout: None,
            missed: Missed::default(),
            missed_limit: 100,
            jitter: Duration::ZERO,
            max_failures: 5,
            is_enabled: true,
        };
        Self {
            agent: agent.into(),
            schedule,
            work,
            session: None,
            maker: None,
            person: None,
            origin: None,
            reply_to: None,
            model: None,
            delete_after_run: false,
            settings,
        }
    }

    /// Runs it in a session, such as that in which it was asked for. It stays there.
    #[must_use]
    pub fn with_session(mut self, session: SessionKey) -> Self {
        session.agent().clone_into(&mut self.agent);
        self.session = Some(session);
        self
    }

    /// Names the session whose agent asks for it, and the agents to which a run there delegated, the nearest first: a session of the job's own
    /// stands below these.
    #[must_use]
    pub fn with_maker(mut self, session: SessionKey, delegates: Vec<String>) -> Self {
        self.maker = Some((session, delegates));
        self
    }

    /// Names the person whose job it is.
    #[must_use]
    pub fn with_person(mut self, person: impl Into<String>) -> Self {
        self.person = Some(person.into());
        self
    }

    /// Names the call that asks for it: a second request of the same call returns the job of the first.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// Says where answers go, and results of a tool.
    #[must_use]
    pub fn with_reply_to(mut self, target: Target) -> Self {
        self.reply_to = Some(target);
        self
    }

    /// Pins the model of the job, which then has a session of its own.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Removes it once it has run, if its schedule is a single time.
    #[must_use]
    pub fn with_delete_after_run(mut self, delete: bool) -> Self {
        self.delete_after_run = delete;
        self
    }

    /// Cancels a run that takes longer.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Says what happens with missed times.
    #[must_use]
    pub fn with_missed(mut self, missed: Missed) -> Self {
        self.settings.missed = missed;
        self
    }

    /// Sets how many missed times are run where all are; 100 by default.
    #[must_use]
    pub fn with_missed_limit(mut self, limit: u32) -> Self {
        self.settings.missed_limit = limit;
        self
    }

    /// Delays each fire by a part of this time, the same at each look.
    #[must_use]
    pub fn with_jitter(mut self, jitter: Duration) -> Self {
        self.settings.jitter = jitter;
        self
    }

    /// Pauses it after so many failures in a row; never, if zero.
    #[must_use]
    pub fn with_max_failures(mut self, failures: u32) -> Self {
        self.settings.max_failures = failures;
        self
    }

    /// Adds it enabled or not.
    #[must_use]
    pub fn with_enabled(mut self, enabled: bool) -> Self {
        self.settings.is_enabled = enabled;
        self
    }
}

/// Refuses a model that is pinned in a session that is not the job's own.
pub(super) fn check_model(model: Option<&str>, job: &str, session: &SessionKey) -> Result<(), Fault> {
    let own = SessionKey::cron(session.agent(), job);
    if model.is_some() && own.ok().as_ref() != Some(session) {
        return Err(Fault::Refused(
            "a model is pinned only where the job has a session of its own; name no session, or no model"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Refuses work that is too long, or none.
pub(super) fn check_work(work: &JobWork) -> Result<(), Fault> {
    let length = serde_json::to_string(work)?.len();
    if length > MAX_WORK_BYTES {
        return Err(Fault::Refused(format!(
            "the work of a job has {length} bytes as JSON, and the limit is {MAX_WORK_BYTES}; put long content into a file"
        )));
    }
    let is_empty = match work {
        JobWork::Prompt { prompt } => prompt.trim().is_empty(),
        JobWork::Tool { tool, .. } => tool.is_empty(),
    };
    if is_empty {
        return Err(Fault::Refused("the job has nothing to do; give it a prompt, or a tool".to_owned()));
    }
    Ok(())
}

/// Refuses settings that are out of range.
pub(super) fn check_settings(settings: &Settings) -> Result<(), Fault> {
    let wrong = if settings.jitter > MAX_JITTER {
        "the jitter is longer than one hour; shorten it"
    } else if settings.timeout.is_some_and(|timeout| timeout > MAX_TIMEOUT || timeout.is_zero()) {
        "the time-out is out of range; it is longer than zero, and at most seven days"
    } else if !(1..=MAX_MISSED).contains(&settings.missed_limit) {
        "the limit of missed times is out of range; it is from 1 to 1000"
    } else {
        return Ok(());
    };
    Err(Fault::Refused(wrong.to_owned()))
}
