//! The service behind the tool `cron`: jobs in the store.

use builtin_tools::automation::{
    JobAnswer, JobFields, JobInfo, JobRun, JobSchedule, JobService, JobTask, MissedTimes,
};
use serde_json::Value;
use toolkit::{ToolContext, ToolError};

use super::scope::{Sending, may_send};
use super::{SessionTools, call_origin, calling, delegates, of_store, reply_target, wrong};
use crate::SessionKey;
use crate::moment::Moment;
use crate::recurrence::{Schedule, Zone};
use crate::settings::SessionSettings;
use crate::store::{Fire, Job, JobChange, JobFilter, JobId, JobWork, Missed, NewJob, SessionRecord, Store};

/// The jobs of a store, for the sessions that call `cron`.
///
/// The jobs of a session are those of its person. A session that belongs to no single person, as that of a group, has the jobs that run in
/// it.
#[derive(Debug, Clone)]
pub struct StoredJobs(Store, Option<SessionTools>);

impl StoredJobs {
    /// The jobs of this store.
    pub fn new(store: Store) -> Self {
        Self(store, None)
    }

    /// Uses the settings of these sessions: a session names another one for a job only if it may send to it. Without, the default settings count.
    #[must_use]
    pub fn with_sessions(mut self, sessions: SessionTools) -> Self {
        self.1 = Some(sessions);
        self
    }

    async fn add(&self, ctx: &ToolContext, fields: JobFields) -> Result<JobInfo, ToolError> {
        let calling = calling(&self.0, ctx).await?;
        let schedule = fields.schedule.as_ref().ok_or_else(|| wrong("the schedule is missing"))?;
        let schedule = read_schedule(schedule, self.0.clock().now())?;
        let task = fields.task.clone().ok_or_else(|| wrong("the work is missing"))?;
        let mut job = NewJob::new(calling.key.agent(), schedule, work_of(task));
        let model = fields.model.as_deref().filter(|model| !model.is_empty());
        let delegates = delegates(ctx, &calling.key);
        // Neither a delegate nor a sub-agent adds a job that has more rights than itself.
        let is_of_session = delegates.is_empty();
        if !is_of_session || calling.parent.is_some() {
            job = job.with_maker(calling.key.clone(), delegates);
        }
        match (&fields.session_key, model) {
            (Some(_), _) if !is_of_session => {
                return Err(wrong(
                    "a job that a sub-agent of a run adds has a session of its own; leave `sessionKey` out",
                ));
            }
            (None, _) if !is_of_session && calling.person.is_none() => {
                return Err(wrong(
                    "a sub-agent of a run adds no jobs in this session; the agent of the session does",
                ));
            }
            (None, None) if !is_of_session => {}
            (Some(key), _) => job = job.with_session(self.target(&calling, key).await?),
            // A job with a model of its own has a session of its own.
            (None, Some(_)) if calling.person.is_some() => {}
            (None, Some(_)) => {
                return Err(wrong("a model is pinned only for a job of one person; leave `model` out"));
            }
            (None, None) => job = job.with_session(calling.key.clone()),
        }
        if let Some(model) = model {
            job = job.with_model(model);
        }
        if let Some(person) = &calling.person {
            job = job.with_person(person);
        }
        if let Some(timeout) = fields.timeout {
            job = job.with_timeout(timeout);
        }
        job = job.with_origin(call_origin(&self.0, ctx, &calling, &fields).await?);
        if let Some(target) = reply_target(&self.0, ctx, &calling.key).await? {
            job = job.with_reply_to(target);
        }
        job = job
            .with_missed(fields.missed.map_or_else(Missed::default, of_tool))
            .with_enabled(fields.enabled.unwrap_or(true));
        Ok(info(&self.0.add_job(job).await.map_err(of_store)?))
    }

    /// The session that a call names, if it is one of the same person and agent to which the calling one may send.
    async fn target(&self, calling: &SessionRecord, key: &str) -> Result<SessionKey, ToolError> {
        let unknown =
            || wrong(format!("you have no session `{key}`; `sessions_list` names those that are there"));
        let key: SessionKey = key.parse().map_err(|_| unknown())?;
        if key == calling.key {
            return Ok(key);
        }
        let record = self.0.session(key.clone()).await.map_err(of_store)?.ok_or_else(unknown)?;
        let is_own = record.person.is_some() && record.person == calling.person;
        if !is_own || key.agent() != calling.key.agent() {
            return Err(unknown());
        }
        if self.may_send(calling, &record).await? { Ok(key) } else { Err(unknown()) }
    }

    /// Returns true if a session may send to another one of its person.
    async fn may_send(&self, calling: &SessionRecord, to: &SessionRecord) -> Result<bool, ToolError> {
        let settings = match &self.1 {
            Some(sessions) => sessions.directory().await.settings(),
            None => SessionSettings::default(),
        };
        let sending = may_send(&self.0, &settings, calling, to).await.map_err(of_store)?;
        Ok(matches!(sending, Sending::Allowed))
    }

    /// A job that the calling session has.
    async fn job(&self, ctx: &ToolContext, id: &str) -> Result<Job, ToolError> {
        let calling = calling(&self.0, ctx).await?;
        let job = self.0.job(&JobId::new(id), calling.person.clone()).await.map_err(of_store)?;
        let is_there =
            |job: &Job| calling.person.is_some() || job.person.is_none() && job.session == calling.key;
        job.filter(is_there).ok_or_else(|| {
            wrong(format!("there is no job `{id}`; the action `list` names those that are there"))
        })
    }

    /// A job that the calling session has, and that the caller may change, remove or run: a sub-agent none of an agent above it, and no session one
    /// of another agent to which it may not send.
    async fn changeable(&self, ctx: &ToolContext, id: &str) -> Result<Job, ToolError> {
        let job = self.job(ctx, id).await?;
        let calling = calling(&self.0, ctx).await?;
        let delegates = delegates(ctx, &calling.key);
        let session = self.0.session(job.session.clone()).await.map_err(of_store)?;
        if calling.parent.is_none() && delegates.is_empty() {
            if job.session.agent() == calling.key.agent() {
                return Ok(job);
            }
            return match session {
                Some(session) if self.may_send(&calling, &session).await? => Ok(job),
                _ => Err(wrong(format!(
                    "the job is of the agent `{}`, to whose session this one may not send; the owner changes it on the command line",
                    job.session.agent()
                ))),
            };
        }
        let is_below = self.0.is_in_tree(job.session.clone(), calling.key.clone()).await.map_err(of_store)?;
        let is_of_delegate = job.session != calling.key
            && session.is_some_and(|session| session.agents_above.starts_with(&delegates));
        if is_below && (delegates.is_empty() || is_of_delegate) {
            return Ok(job);
        }
        Err(wrong(
            "a sub-agent changes, removes and runs only jobs of its own session and of those below; report what is to be done",
        ))
    }

    async fn list(&self, ctx: &ToolContext) -> Result<Vec<JobInfo>, ToolError> {
        let calling = calling(&self.0, ctx).await?;
        let session = calling.person.is_none().then(|| calling.key.clone());
        let is_of_nobody = calling.person.is_none();
        let filter = JobFilter { person: calling.person, session, agent: None };
        let mut jobs = self.0.jobs(filter).await.map_err(of_store)?;
        jobs.retain(|job| !is_of_nobody || job.person.is_none());
        Ok(jobs.iter().map(info).collect())
    }

    async fn update(&self, ctx: &ToolContext, id: &str, fields: JobFields) -> Result<JobInfo, ToolError> {
        let job = self.changeable(ctx, id).await?;
        let now = self.0.clock().now();
        let change = JobChange {
            schedule: fields.schedule.map(|schedule| read_schedule(&schedule, now)).transpose()?,
            work: fields.task.map(work_of),
            model: fields.model.map(|model| Some(model).filter(|model| !model.is_empty())),
            timeout: fields.timeout.map(Some),
            missed: fields.missed.map(of_tool),
            enabled: fields.enabled,
            ..JobChange::default()
        };
        Ok(info(&self.0.update_job(&job.id, job.person, change).await.map_err(of_store)?))
    }

    async fn remove(&self, ctx: &ToolContext, id: &str) -> Result<(), ToolError> {
        let job = self.changeable(ctx, id).await?;
        self.0.remove_job(&job.id, job.person).await.map_err(of_store)?;
        Ok(())
    }

    async fn request(&self, ctx: &ToolContext, id: &str) -> Result<(), ToolError> {
        let job = self.changeable(ctx, id).await?;
        self.0.request_fire(&job.id, job.person).await.map_err(of_store)
    }

    async fn runs(&self, ctx: &ToolContext, id: &str, limit: u32) -> Result<Vec<JobRun>, ToolError> {
        let calling = calling(&self.0, ctx).await?;
        // The job may have been removed.
        let fires = self.0.fires(&JobId::new(id), calling.person.clone(), limit).await.map_err(of_store)?;
        let is_there = |fire: &&Fire| calling.person.is_some() || fire.session == calling.key;
        let runs: Vec<_> = fires.iter().filter(is_there).map(run_info).collect();
        if runs.is_empty() {
            self.job(ctx, id).await?;
        }
        Ok(runs)
    }
}

impl JobService for StoredJobs {
    fn add<'a>(&'a self, ctx: &'a ToolContext, fields: JobFields) -> JobAnswer<'a, JobInfo> {
        Box::pin(self.add(ctx, fields))
    }

    fn list<'a>(&'a self, ctx: &'a ToolContext) -> JobAnswer<'a, Vec<JobInfo>> {
        Box::pin(self.list(ctx))
    }

    fn update<'a>(&'a self, ctx: &'a ToolContext, id: &'a str, fields: JobFields) -> JobAnswer<'a, JobInfo> {
        Box::pin(self.update(ctx, id, fields))
    }

    fn remove<'a>(&'a self, ctx: &'a ToolContext, id: &'a str) -> JobAnswer<'a, ()> {
        Box::pin(self.remove(ctx, id))
    }

    fn run<'a>(&'a self, ctx: &'a ToolContext, id: &'a str) -> JobAnswer<'a, ()> {
        Box::pin(self.request(ctx, id))
    }

    fn runs<'a>(&'a self, ctx: &'a ToolContext, id: &'a str, limit: u32) -> JobAnswer<'a, Vec<JobRun>> {
        Box::pin(self.runs(ctx, id, limit))
    }
}

fn read_schedule(given: &JobSchedule, now: Moment) -> Result<Schedule, ToolError> {
    let read = match given {
        JobSchedule::Cron { expression, timezone } => Schedule::read_cron(expression, timezone.as_deref()),
        JobSchedule::Every(interval) => Schedule::read_every(interval, now),
        JobSchedule::At { time, timezone } => Schedule::read_at(time, timezone.as_deref()),
    };
    read.map_err(wrong)
}

fn work_of(task: JobTask) -> JobWork {
    match task {
        JobTask::Prompt(prompt) => JobWork::Prompt { prompt },
        JobTask::Tool { name, arguments } => {
            JobWork::Tool { tool: name, arguments: Value::Object(arguments) }
        }
    }
}

fn of_tool(missed: MissedTimes) -> Missed {
    match missed {
        MissedTimes::Skip => Missed::Skip,
        MissedTimes::Once => Missed::Once,
        MissedTimes::All => Missed::All,
    }
}

pub(super) fn info(job: &Job) -> JobInfo {
    let (schedule, zone) = match &job.schedule {
        Schedule::Cron { expression, zone } => (expression.to_string(), Some(zone)),
        Schedule::Every { interval, .. } => (interval.to_string(), None),
        Schedule::At { time } => (Zone::utc().show(*time).unwrap_or_default(), None),
    };
    let (prompt, tool, arguments) = match &job.work {
        JobWork::Prompt { prompt } => (Some(prompt.clone()), None, None),
        JobWork::Tool { tool, arguments } => (None, Some(tool.clone()), arguments.as_object().cloned()),
    };
    let utc = Zone::utc();
    JobInfo {
        id: job.id.to_string(),
        session_key: job.session.to_string(),
        schedule,
        timezone: zone.map(ToString::to_string),
        prompt,
        tool,
        arguments,
        model: job.model.clone(),
        timeout_seconds: job.timeout.map(|timeout| timeout.as_secs()),
        missed: match job.missed {
            Missed::Skip => MissedTimes::Skip,
            Missed::Once => MissedTimes::Once,
            Missed::All => MissedTimes::All,
        },
        enabled: job.is_enabled,
        paused: job.paused.clone(),
        failures: job.failures,
        next_at: job.next_at.and_then(|next| zone.unwrap_or(&utc).show(next)),
        running: job.in_flight.is_some(),
    }
}

fn run_info(fire: &Fire) -> JobRun {
    let utc = Zone::utc();
    JobRun {
        at: utc.show(fire.id.at).unwrap_or_default(),
        manual: fire.id.is_manual,
        state: fire.state.name().to_owned(),
        missed: fire.missed,
        reason: fire.reason.clone(),
        result: fire.result.clone(),
        ended_at: fire.ended_at.and_then(|ended| utc.show(ended)),
    }
}
