//! A running command, and the task that watches for its end.

use super::clean::clean;
use super::masked::Masked;
use crate::scratch::Scratch;
use serde_json::{Map, Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use toolkit::prelude::*;
use toolkit::{
    BackgroundWork, CancellationToken,
    output::{Keep, KeptOutput, OutputCount, ShownOutput},
};
use toolkit_sandbox::{End, Exit, Guarantee, Job, Limit, Limits, Stopped};

/// Time between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);

/// A command that was started.
#[derive(Debug)]
pub(super) struct Running {
    /// ID under which the model refers to the job.
    pub(super) id: String,
    pub(super) command: String,
    pub(super) cwd: PathBuf,
    pub(super) class: &'static str,
    /// Description of the sandbox that the job was to run in.
    pub(super) contained: String,
    /// The paths that the sandbox masks.
    pub(super) masked: Option<Masked>,
    /// True if every possible effect of text written to the job was proved harmless.
    pub(super) is_harmless: bool,
    /// True if processes that the command leaves are ended with it.
    pub(super) leaves_nothing: bool,
    /// The directory for temporary files of a command that only reads, removed with the job.
    _scratch: Option<Scratch>,
    pub(super) started: Instant,
    /// Time limit; `None` for a job that may run as long as its session.
    pub(super) timeout: Option<Duration>,
    /// Resource limits.
    pub(super) limits: Limits,
    pub(super) job: Job,
    pub(super) output: KeptOutput,
    state: watch::Sender<Option<Ended>>,
    end: CancellationToken,
    why: Mutex<Option<Why>>,
    background: AtomicBool,
    /// The part of the job that was reported to the model.
    pub(super) told: Mutex<ReportedPart>,
}

/// The part of a job that was reported to the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ReportedPart {
    pub(super) bytes: u64,
    pub(super) ended: bool,
    pub(super) gone: bool,
    /// Number of files that were moved away.
    pub(super) quarantined: usize,
}

/// The reason for which a job was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The time limit was exceeded.
    Timeout,
    /// The call that runs it was cancelled.
    Cancelled,
    /// The model, or the end of the session, stopped it.
    Stopped,
    /// A resource limit was exceeded.
    Exceeded(Limit),
}

/// The end of the command's own process.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) exit: Exit,
    pub(super) why: Option<Why>,
    pub(super) stopped: Option<Stopped>,
    pub(super) at: Instant,
}

/// The data of a job at its start.
pub(super) struct Start {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) cwd: PathBuf,
    pub(super) class: &'static str,
    pub(super) contained: String,
    pub(super) masked: Option<Masked>,
    pub(super) is_harmless: bool,
    pub(super) leaves_nothing: bool,
    pub(super) scratch: Option<Scratch>,
    pub(super) timeout: Option<Duration>,
    pub(super) limits: Limits,
    pub(super) output: KeptOutput,
    pub(super) work: BackgroundWork,
}

/// Running commands of this process whose quarantined files may have to be moved away.
static SWEPT: Mutex<Vec<Weak<Running>>> = Mutex::new(Vec::new());

/// Moves away the files that running commands have created and must not leave behind. Called before a command runs without a sandbox,
/// which may execute them.
pub(super) async fn sweep_all() {
    let running: Vec<Arc<Running>> = {
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        swept.retain(|running| running.upgrade().is_some_and(|running| !running.is_gone()));
        swept.iter().filter_map(Weak::upgrade).collect()
    };
    for running in running {
        running.job.sweep().await;
    }
}

impl Running {
    /// Watches a job from now on.
    pub(super) fn watch(job: Job, start: Start, teller: toolkit::events::EventSender) -> Arc<Self> {
        let running = Arc::new(Self {
            id: start.id,
            command: start.command,
            cwd: start.cwd,
            class: start.class,
            contained: start.contained,
            masked: start.masked,
            is_harmless: start.is_harmless,
            leaves_nothing: start.leaves_nothing,
            _scratch: start.scratch,
            started: Instant::now(),
            timeout: start.timeout,
            limits: start.limits,
            job,
            output: start.output,
            state: watch::Sender::new(None),
            end: CancellationToken::new(),
            why: Mutex::new(None),
            background: AtomicBool::new(false),
            told: Mutex::default(),
        });
        if running.job.containment().mode.is_some() {
            SWEPT.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&running));
        }
        let (watched, work) = (Arc::clone(&running), start.work);
        tokio::spawn(async move {
            let ended = watched.until_ended().await;
            let title = format!("{}: {}", watched.id, how(&ended.exit));
            watched.state.send_replace(Some(ended.clone()));
            if watched.is_background() {
                teller.ended(&watched.id, title, facts(&watched, &ended));
            }
            // Dropping the job ends its other processes, so it is not held while they run.
            let (gone, held) = (watched.job.when_gone(), Arc::downgrade(&watched));
            drop(watched);
            gone.await;
            drop(work);
            if let Some(watched) = held.upgrade() {
                watched.job.release();
                let _ = tokio::task::spawn_blocking(move || watched.output.close()).await;
            }
        });
        running
    }

    async fn until_ended(&self) -> Ended {
        let deadline = self.timeout.map(|timeout| self.started + timeout);
        let why = tokio::select! {
            exit = self.job.exited() => {
                let why = self.job.progress().exceeded.map(Why::Exceeded);
                return Ended { exit, why, stopped: None, at: Instant::now() };
            }
            () = sleep_until(deadline.unwrap_or(self.started)), if deadline.is_some() => Why::Timeout,
            () = self.end.cancelled() => {
                self.why.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(Why::Stopped)
            }
        };
        let stopped = self.stop().await;
        let exit = self.job.exited().await;
        Ended { exit, why: Some(why), stopped: Some(stopped), at: Instant::now() }
    }

    /// Starts to end all processes of the job; [`ended`](Self::ended) waits for the end.
    pub(super) fn end(&self, why: Why) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.end.cancel();
    }

    /// Ends all processes, and waits until those that can be ended have ended.
    pub(super) async fn stop(&self) -> Stopped {
        let stopped = self.job.stop(GRACE).await;
        if stopped.left.is_empty() {
            let _ = timeout(GRACE, self.job.gone()).await;
        }
        stopped
    }

    /// Waits for the end of the command's own process.
    pub(super) async fn ended(&self) -> Ended {
        let mut state = self.state.subscribe();
        loop {
            if let Some(ended) = &*state.borrow_and_update() {
                return ended.clone();
            }
            if state.changed().await.is_err() {
                // The sender is in `self`.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Returns the end of the command's own process, if it has ended.
    pub(super) fn has_ended(&self) -> Option<Ended> {
        self.state.borrow().clone()
    }

    /// Returns true if no process of the job remains.
    pub(super) fn is_gone(&self) -> bool {
        self.job.progress().gone
    }

    pub(super) fn is_background(&self) -> bool {
        self.background.load(Ordering::Relaxed)
    }

    /// Lets it live on when its call is over.
    pub(super) fn to_background(&self) {
        self.background.store(true, Ordering::Relaxed);
        self.output.keep();
    }

    /// Returns the size of the output.
    pub(super) fn count(&self) -> OutputCount {
        let progress = self.job.progress();
        let lost = progress.bytes - progress.written;
        let failed = |error| format!("writing failed: {}", io::Error::from_raw_os_error(error));
        let error = match self.output.no_file() {
            Some(why) => Some(why.to_owned()),
            None => progress.write_error.map(failed),
        };
        let newlines = (lost == 0).then_some(progress.newlines);
        OutputCount { bytes: progress.written, newlines, lost, error }
    }

    /// Returns the output so far in the form for the model, as a terminal would show it.
    pub(super) async fn show(self: &Arc<Self>, ctx: &ToolContext) -> Result<ShownOutput, ToolError> {
        let (running, context) = (Arc::clone(self), ctx.clone());
        let shown = tokio::task::spawn_blocking(move || {
            running.output.show(&context, &running.count(), Keep::Ends, &clean)
        });
        let shown = shown
            .await
            .map_err(|_| ToolError::failed("the output cannot be read: the host is shutting down"))?;
        shown.map_err(|error| ToolError::failed(format!("the output cannot be read: {error}")))
    }

    pub(super) fn told(&self) -> ReportedPart {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_told(&self, told: ReportedPart) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }
}

/// SIGXFSZ. A shell ends with 128 more if its last program was ended by a signal.
const FILE_TOO_LARGE: i32 = 25;
const TOO_LARGE: &str =
    "a program wrote beyond the maximum size of a file, which the user can set with `tools.exec.maxFileMb`";

/// Describes the end of a process: `exit code 1`, `ended by SIGTERM (15)`.
pub(super) fn how(exit: &Exit) -> String {
    match exit.end {
        End::Code(code) if code == 128 + FILE_TOO_LARGE => format!("exit code {code}: {TOO_LARGE}"),
        End::Code(code) => format!("exit code {code}"),
        End::Signal { number: FILE_TOO_LARGE, .. } => format!("{}: {TOO_LARGE}", signal_name(FILE_TOO_LARGE)),
        End::Signal { number, core } => {
            format!("ended by {}{}", signal_name(number), if core { ", core dumped" } else { "" })
        }
        _ => "ended, exit status unknown: its supervisor was killed".to_owned(),
    }
}

fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        _ => return format!("signal {number}"),
    };
    format!("{name} ({number})")
}

/// Formats a duration: `0.3 s`, `2 min 5 s`.
pub(super) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", duration.as_secs_f64()),
        10..120 => format!("{seconds} s"),
        120..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Facts of a job that has ended.
pub(super) fn facts(running: &Running, ended: &Ended) -> Map<String, Value> {
    let mut facts = base_facts(running);
    facts.insert("exitCode".to_owned(), ended.exit.code().into());
    facts.insert("signal".to_owned(), ended.exit.signal().into());
    facts.insert("timedOut".to_owned(), (ended.why == Some(Why::Timeout)).into());
    if let Some(limit) = running.job.progress().exceeded {
        facts.insert("exceeded".to_owned(), limit.name().into());
    }
    let millis = u64::try_from(ended.exit.duration.as_millis()).unwrap_or(u64::MAX);
    facts.insert("durationMs".to_owned(), millis.into());
    facts
}

/// Facts of any job.
pub(super) fn base_facts(running: &Running) -> Map<String, Value> {
    let mut facts = Map::new();
    facts.insert("background".to_owned(), running.is_background().into());
    facts.insert("class".to_owned(), running.class.into());
    let guarantee = match running.job.guarantee() {
        Guarantee::Supervised => "supervised",
        _ => "process-group",
    };
    facts.insert("guarantee".to_owned(), guarantee.into());
    let moved = running.job.quarantined();
    if !moved.is_empty() {
        // JSON has no other text than Unicode, and a path may.
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let moved = moved
            .iter()
            .map(|moved| json!({ "from": text(&moved.from), "to": moved.to.as_deref().map(text) }));
        facts.insert("quarantined".to_owned(), moved.collect());
    }
    facts
}
