//! The services behind `cron` and `gateway`.

use std::pin::Pin;
use std::time::Duration;

use serde_json::{Map, Value};
use toolkit::prelude::*;

/// Future returned by a [`JobService`] or a [`GatewayService`].
pub type JobAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ToolError>> + Send + 'a>>;

/// Keeps the jobs of callers, and runs them at their times.
///
/// Each method sees only jobs of the caller's person: another person's job does not exist for it, and an error does not tell that it does.
/// The tool has checked which fields go together and has asked for approval; the service parses times, and checks that the caller may run a
/// job in the session that it names.
pub trait JobService: Send + Sync + 'static {
    /// Adds a job. `fields` has a schedule and a task. A call that is made again under its id, after a crash, returns the job that was added
    /// first.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if a time cannot be parsed or has passed, `Denied` if the session is not the person's.
    fn add<'a>(&'a self, ctx: &'a ToolContext, fields: JobFields) -> JobAnswer<'a, JobInfo>;

    /// Lists the jobs, in the order in which they were added. It changes nothing.
    fn list<'a>(&'a self, ctx: &'a ToolContext) -> JobAnswer<'a, Vec<JobInfo>>;

    /// Changes the fields of a job that are given. Its session stays.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if there is no such job, or a time cannot be parsed or has passed.
    fn update<'a>(&'a self, ctx: &'a ToolContext, id: &'a str, fields: JobFields) -> JobAnswer<'a, JobInfo>;

    /// Removes a job. A run of it that is under way goes on.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if there is no such job.
    fn remove<'a>(&'a self, ctx: &'a ToolContext, id: &'a str) -> JobAnswer<'a, ()>;

    /// Runs a job beside its schedule, once no run of it is under way.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if there is no such job.
    fn run<'a>(&'a self, ctx: &'a ToolContext, id: &'a str) -> JobAnswer<'a, ()>;

    /// Lists the newest runs of a job, the newest first, also of one that was removed.
    fn runs<'a>(&'a self, ctx: &'a ToolContext, id: &'a str, limit: u32) -> JobAnswer<'a, Vec<JobRun>>;
}

/// Fields of a job to be added, or of a change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobFields {
    /// When it is due.
    pub schedule: Option<JobSchedule>,
    /// Its work.
    pub task: Option<JobTask>,
    /// The policy for missed times.
    pub missed: Option<MissedTimes>,
    /// The session in which it runs; of a job to be added alone. By default that of the caller.
    pub session_key: Option<String>,
    /// The model; an empty text for that of the agent.
    pub model: Option<String>,
    /// The time after which a run is cancelled.
    pub timeout: Option<Duration>,
    /// False pauses it.
    pub enabled: Option<bool>,
}

/// When a job is due, as the caller wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobSchedule {
    /// A cron expression.
    Cron {
        /// The expression.
        expression: String,
        /// The time zone.
        timezone: Option<String>,
    },
    /// An interval, such as `1h30m`.
    Every(String),
    /// A single time.
    At {
        /// The time.
        time: String,
        /// The time zone of a time without an offset.
        timezone: Option<String>,
    },
}

/// The work of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobTask {
    /// A message to the agent.
    Prompt(String),
    /// A call of a tool without a model.
    Tool {
        /// The name of the tool.
        name: String,
        /// The arguments.
        arguments: Map<String, Value>,
    },
}

/// The policy for times at which a job could not begin.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum MissedTimes {
    /// They are left out.
    Skip,
    /// One run makes up for all.
    Once,
    /// Each is run, up to a limit.
    All,
}

/// A job.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct JobInfo {
    /// Its id.
    pub id: String,
    /// The session in which it runs.
    pub session_key: String,
    /// When it is due: a cron expression, an interval or a time.
    pub schedule: String,
    /// The time zone of a cron expression.
    pub timezone: Option<String>,
    /// The message to the agent.
    pub prompt: Option<String>,
    /// The tool that it calls.
    pub tool: Option<String>,
    /// The arguments of the tool.
    pub arguments: Option<Map<String, Value>>,
    /// The model.
    pub model: Option<String>,
    /// The time after which a run is cancelled.
    pub timeout_seconds: Option<u64>,
    /// The policy for missed times.
    pub missed: MissedTimes,
    /// False while it is paused.
    pub enabled: bool,
    /// Why it is paused.
    pub paused: Option<String>,
    /// Failures in a row.
    pub failures: u32,
    /// The next time.
    pub next_at: Option<String>,
    /// True while a run is under way.
    pub running: bool,
}

/// A run of a job.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct JobRun {
    /// Its time on the schedule; that of the request for one beside it.
    pub at: String,
    /// True for a run beside the schedule.
    pub manual: bool,
    /// How far it is: begun, done, failed, late, cancelled, interrupted or skipped.
    pub state: String,
    /// The number of missed times that it stands for.
    pub missed: u32,
    /// Why it did not end well.
    pub reason: Option<String>,
    /// The result of a tool.
    pub result: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
}

/// Tells the status of the host, and restarts it.
pub trait GatewayService: Send + Sync + 'static {
    /// Returns the status, as far as the caller's person may see it.
    fn status<'a>(&'a self, ctx: &'a ToolContext) -> JobAnswer<'a, GatewayStatus>;

    /// Checks that the caller may restart the host. It changes nothing.
    ///
    /// # Errors
    ///
    /// `Denied` if a restart is not enabled, or the caller's person may not ask for one.
    fn check_restart<'a>(&'a self, ctx: &'a ToolContext) -> JobAnswer<'a, ()>;

    /// Asks for a restart, which lets other runs end and does not wait for the run that asks. Returns at once.
    ///
    /// # Errors
    ///
    /// As [`check_restart`](Self::check_restart).
    fn restart<'a>(&'a self, ctx: &'a ToolContext) -> JobAnswer<'a, ()>;
}

/// The status of a host.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GatewayStatus {
    /// The version of the program.
    pub version: String,
    /// `ok`, or `degraded` if something does not work.
    pub health: String,
    /// When it began.
    pub started_at: String,
    /// The sessions that the caller's person may see and that are not archived.
    pub sessions: u64,
    /// The runs under way in them.
    pub runs: u64,
    /// The messages that wait in them.
    pub queued: u64,
    /// Faults, for the owner alone.
    pub problems: Vec<String>,
    /// True if this session may restart it.
    pub restart_enabled: bool,
}
