//! The structured output of `process`: that of the actions `list` and `stop`.

/// The result of an action.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(untagged)]
pub enum ProcessDetails {
    /// The result of `list`.
    List(BackgroundJobs),
    /// The result of `stop`.
    Stop(StoppedJob),
}

/// The commands in the background of a session.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundJobs {
    /// The commands.
    pub tasks: Vec<BackgroundJob>,
}

/// A command in the background.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundJob {
    /// The id of the job.
    pub task_id: String,
    /// The command.
    pub command: String,
    /// The working directory.
    pub directory: String,
    /// The process id of the shell.
    pub pid: u32,
    /// True while the command itself runs.
    pub running: bool,
    /// True while the command or a process that it started runs.
    pub alive: bool,
    /// The exit code; null while the command runs, and if a signal ended it.
    pub exit_code: Option<i32>,
    /// Number of bytes of output so far.
    pub bytes: u64,
    /// The path of the file with the whole output; null if no file could be created, so that only its beginning is kept, in memory.
    pub output_path: Option<String>,
}

/// The processes of a command that was stopped.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct StoppedJob {
    /// Number of processes that got the signal TERM.
    pub terminated: u32,
    /// Number of processes that got the signal KILL.
    pub killed: u32,
    /// Number of processes that hang in the system and cannot be ended.
    pub left: usize,
}
