//! A started command, and all processes that descend from it.

mod refused;
mod spawn;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;

use crate::group::{Ends, Group};
use crate::host::control::{Control, PATIENCE, State};
use crate::tree;
use crate::wire::{self, OutputKind, Reader, Run, to_supervisor};
use crate::{
    Command, Conflict, Containment, Drained, Exit, Guarantee, Input, Output, Process, Progress, Quarantined,
    SpawnError, Stdin, Stopped,
};
use refused::refused;

/// A started command, and all processes that descend from it.
///
/// Dropping it ends all of them: with the command's [grace](Command::grace), without waiting. Its methods can be called from any number of
/// tasks at once, in any runtime.
pub struct Job {
    backend: Backend,
    containment: Arc<Containment>,
    pid: u32,
    begun: Instant,
    grace: Duration,
    input: Option<Input>,
    pipes: Mutex<(Option<OwnedFd>, Option<OwnedFd>)>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Job")
            .field("id", &self.id())
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

/// The means that holds the processes together.
enum Backend {
    Supervised(Arc<Control>),
    Group(Arc<Group>),
}

impl Backend {
    fn state(&self) -> &watch::Sender<State> {
        match self {
            Self::Supervised(control) => &control.state,
            Self::Group(group) => &group.state,
        }
    }
}

/// Time limit for the search through directories.
const SWEEPING: Duration = Duration::from_mins(1);

/// Multiple of that time within which a job must start.
const STARTING: u32 = 12;

/// Closes the conversation of a job that did not come about.
struct Attempt(Option<Arc<Control>>);

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            control.close();
        }
    }
}

fn supervisor(step: &'static str) -> impl Fn(io::Error) -> SpawnError {
    move |source| SpawnError::Supervisor { step, source }
}

/// Adds to an error what a supervisor needs of the system and is not there.
fn with_missing(error: io::Error, exists: impl Fn(&str) -> bool) -> io::Error {
    let needed = [("/proc/self", "/proc is not mounted"), ("/dev/null", "there is no /dev/null")];
    let missing: Vec<&str> = needed.iter().filter(|(path, _)| !exists(path)).map(|(_, why)| *why).collect();
    if missing.is_empty() {
        error
    } else {
        io::Error::new(error.kind(), format!("{error}: {}", missing.join(", and ")))
    }
}

impl Job {
    async fn start(command: Command) -> Result<Self, SpawnError> {
        if command.terminal.is_some() && matches!(command.output, Output::Pipes) {
            return Err(SpawnError::Contradiction {
                conflict: Conflict::TerminalWithPipes,
                why: "a command on a terminal has no separate pipes; let its output go to a file".to_owned(),
            });
        }
        if command.descriptors.len() > Command::MAX_DESCRIPTORS {
            return Err(SpawnError::Contradiction {
                conflict: Conflict::TooManyDescriptors,
                why: format!(
                    "a command can be given {} descriptors beside its standard streams, not {}",
                    Command::MAX_DESCRIPTORS,
                    command.descriptors.len()
                ),
            });
        }
        if crate::host::program().is_none() {
            let grace = command.grace;
            let (group, ends) = crate::group::start(command)?;
            return Ok(Self {
                pid: group.pid,
                backend: Backend::Group(group),
                containment: Arc::new(ends.containment),
                begun: Instant::now(),
                grace,
                input: ends.sink.map(|sink| Input::new(Arc::new(sink), false)),
                pipes: Mutex::new(ends.pipes),
            });
        }
        let grace = command.grace;
        let (run, given, mut ends) = described(command)?;
        let control = {
            let descriptors: Vec<BorrowedFd<'_>> = given.iter().map(|fd| fd.as_fd()).collect();
            Control::start(&run, &descriptors)
                .map_err(|error| with_missing(error, |path| std::path::Path::new(path).exists()))
                .map_err(supervisor("starting a supervisor"))?
        };
        drop(given);
        let mut attempt = Attempt(Some(Arc::clone(&control)));
        let mut news = control.state.subscribe();
        let known = |state: &State| state.started.is_some() || state.failed.is_some() || state.lost;
        let mut turns = STARTING;
        loop {
            // A supervisor that is only slow and not stopped, for example because of a slow disk, is left alone.
            match tokio::time::timeout(PATIENCE, news.wait_for(known)).await {
                Ok(Ok(_)) => break,
                Ok(Err(_)) => return Err(supervisor("hearing of it")(io::ErrorKind::ConnectionReset.into())),
                Err(_) if turns == 0 => {
                    return Err(supervisor("waiting for it")(io::ErrorKind::TimedOut.into()));
                }
                Err(_) => {
                    turns -= 1;
                    crate::host::spawner::rouse();
                }
            }
        }
        let started = {
            let state = control.state.borrow();
            match (&state.started, &state.failed) {
                (Some(started), _) => started.clone(),
                (None, Some(failure)) => return Err(refused(failure, &run)),
                (None, None) => {
                    let hint = "it was killed, or `init` is not the first thing in the `main` of its program";
                    let source = io::Error::new(io::ErrorKind::ConnectionReset, hint);
                    return Err(supervisor("it ended before")(source));
                }
            }
        };
        attempt.0 = None;
        // The input has it from now on.
        control.state.send_modify(|state| {
            if let Some(started) = &mut state.started {
                started.master = None;
            }
        });
        let input = match (&started.master, ends.sink.take()) {
            (Some(master), _) => Some(Input::new(Arc::clone(master), true)),
            (None, Some(sink)) => Some(Input::new(Arc::new(sink), false)),
            (None, None) => None,
        };
        Ok(Self {
            backend: Backend::Supervised(control),
            containment: started.containment,
            pid: started.pid,
            begun: Instant::now(),
            grace,
            input,
            pipes: Mutex::new(ends.pipes),
        })
    }

    /// The job's number, unlike that of every other job of this process.
    pub fn id(&self) -> u64 {
        match &self.backend {
            Backend::Supervised(control) => control.number,
            Backend::Group(group) => group.number,
        }
    }

    /// The process id of the command itself.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the means that holds the processes together.
    pub fn guarantee(&self) -> Guarantee {
        match self.backend {
            Backend::Supervised(_) => Guarantee::Supervised,
            Backend::Group(_) => Guarantee::ProcessGroup,
        }
    }

    /// Returns the containment that is in effect.
    pub fn containment(&self) -> &Containment {
        &self.containment
    }

    async fn until<T>(&self, mut known: impl FnMut(&State) -> Option<T>) -> T {
        let mut news = self.backend.state().subscribe();
        loop {
            if let Some(known) = known(&news.borrow_and_update()) {
                return known;
            }
            if news.changed().await.is_err() {
                // The sender is in `self`.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until the command's own process has ended, even if other processes remain. The end is [`End::Lost`](crate::End::Lost) if
    /// [`stop`](Self::stop) found that even KILL does not end it; if it ends later, that end replaces this one.
    pub async fn exited(&self) -> Exit {
        self.until(|state| state.exit).await
    }

    /// Waits until nothing of the tree is left, daemons included.
    pub async fn gone(&self) {
        self.until(|state| state.progress.gone.then_some(())).await;
    }

    /// Waits until nothing of the tree is left, as [`gone`](Self::gone) does, or until the job is dropped.
    pub fn when_gone(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut news = self.backend.state().subscribe();
        async move {
            let _ = news.wait_for(|state| state.progress.gone).await;
        }
    }

    /// Returns the progress.
    pub fn progress(&self) -> Progress {
        self.backend.state().borrow().progress
    }

    /// Waits until the progress differs from `after`, which [`progress`](Self::progress) or this method has returned before. Never returns
    /// after the last process is gone: nothing changes then.
    pub async fn changed(&self, after: &Progress) -> Progress {
        self.until(|state| (state.progress != *after).then_some(state.progress)).await
    }

    /// Waits until the output is closed and all of it is in the file; after `wait`, at most a year, returns the processes that hold it.
    pub async fn drained(&self, wait: Duration) -> Drained {
        let control = match &self.backend {
            Backend::Supervised(control) => control,
            Backend::Group(group) => return group.drained(wait).await,
        };
        if self.progress().closed {
            return Drained::Closed;
        }
        let answer = control.ask(to_supervisor::DRAINED, wait, |message| message.duration(wait)).await;
        let read = |answer: &[u8]| {
            let mut reader = Reader::new(answer);
            let closed = reader.flag()?;
            let holders = wire::read_processes(&mut reader)?;
            Some(if closed { Drained::Closed } else { Drained::Held(holders) })
        };
        // If the supervisor is gone, so are all processes of the job.
        answer.as_deref().and_then(read).unwrap_or(Drained::Closed)
    }

    /// Closes the input and the terminal of a job that is [gone](Self::gone), which is kept for its facts alone. Its other descriptors are
    /// closed with its last process.
    pub fn release(&self) {
        if let Some(input) = self.input.as_ref().filter(|_| self.progress().gone) {
            input.release();
        }
    }

    /// Returns the input: a pipe, if the command has one, or its terminal.
    pub fn stdin(&self) -> Option<Input> {
        self.input.clone()
    }

    fn take(
        &self,
        which: impl FnOnce(&mut (Option<OwnedFd>, Option<OwnedFd>)) -> Option<OwnedFd>,
    ) -> Option<Receiver> {
        let pipe = which(&mut self.pipes.lock().unwrap_or_else(PoisonError::into_inner))?;
        Receiver::from_owned_fd(pipe).ok()
    }

    /// The pipe of its standard output, once, where it was given [pipes](Output::Pipes). To be called within the runtime that reads it.
    pub fn take_stdout(&self) -> Option<Receiver> {
        self.take(|pipes| pipes.0.take())
    }

    /// The same for standard error.
    pub fn take_stderr(&self) -> Option<Receiver> {
        self.take(|pipes| pipes.1.take())
    }

    /// Returns the processes that have not ended, including daemons.
    pub async fn processes(&self) -> Vec<Process> {
        let control = match &self.backend {
            Backend::Supervised(control) => control,
            Backend::Group(group) => return group.processes(),
        };
        let answer = control.ask(to_supervisor::PROCESSES, Duration::ZERO, |message| message).await;
        answer.and_then(|answer| wire::read_processes(&mut Reader::new(&answer))).unwrap_or_default()
    }

    /// Ends every process: TERM to each, with stopped ones woken, then after `grace` KILL until none is left. Without grace it is KILL at
    /// once. Returns when all are gone, or after three seconds of killing with those that hang in the system; in any case within ten
    /// seconds after the grace, ten more if the job has stopped the processes that watch it. Needs a runtime with timers.
    pub async fn stop(&self, grace: Duration) -> Stopped {
        let stopped = self.stop_all(grace).await;
        self.look_at(&stopped);
        stopped
    }

    /// Reports the end of a command that KILL does not end, so that no caller waits for it.
    fn look_at(&self, stopped: &Stopped) {
        if stopped.left.iter().any(|process| process.pid == self.pid) {
            let duration = self.begun.elapsed();
            self.backend.state().send_modify(|state| state.give_up(duration));
        }
    }

    async fn stop_all(&self, grace: Duration) -> Stopped {
        let control = match &self.backend {
            Backend::Supervised(control) => control,
            Backend::Group(group) => return group.stop(grace).await,
        };
        let answer = control.ask(to_supervisor::STOP, grace, |message| message.duration(grace)).await;
        let read = |answer: &[u8]| {
            let mut reader = Reader::new(answer);
            Some(Stopped {
                terminated: reader.small()?,
                killed: reader.small()?,
                left: wire::read_processes(&mut reader)?,
            })
        };
        match answer.as_deref().and_then(read) {
            Some(stopped) => stopped,
            None => {
                let is_gone = tokio::time::timeout(PATIENCE, self.gone()).await.is_ok();
                let own = i32::try_from(self.pid).ok().filter(|_| !is_gone).and_then(tree::describe);
                Stopped { left: own.into_iter().collect(), ..Stopped::default() }
            }
        }
    }

    /// Returns the files moved away so far that the command must not leave behind: see [`Quarantine`](crate::Quarantine).
    pub fn quarantined(&self) -> Vec<Quarantined> {
        self.backend.state().borrow().quarantined.clone()
    }

    /// Moves away now, while the command runs, the files that it must not leave behind: for use before running another program that must
    /// not find them.
    pub async fn sweep(&self) {
        if let Backend::Supervised(control) = &self.backend {
            control.ask(to_supervisor::SWEEP, SWEEPING, |message| message).await;
        }
    }

    /// Sends a signal, by its number, to the command's own process. Nothing happens where that has ended.
    pub fn signal(&self, number: i32) {
        match &self.backend {
            Backend::Supervised(control) => {
                control.tell(to_supervisor::INTERRUPT, |message| message.signed(number));
            }
            Backend::Group(group) => group.signal(number),
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        match &self.backend {
            Backend::Supervised(control) => {
                if !self.grace.is_zero() {
                    control.tell(to_supervisor::STOP, |message| message.duration(self.grace));
                }
                control.close();
            }
            Backend::Group(group) => group.abandon(self.grace),
        }
    }
}

/// Returns a command in the form for a supervisor, the descriptors to send with it, and the host's ends.
fn described(command: Command) -> Result<(Run, Vec<OwnedFd>, Ends), SpawnError> {
    let descriptors = supervisor("making pipes");
    let pipe = || {
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(|error| descriptors(error.into()))
    };
    let mut given = Vec::new();
    let mut ends = Ends::default();
    let stdin = command.stdin == Stdin::Pipe && command.terminal.is_none();
    if stdin {
        let (read, write) = pipe()?;
        rustix::io::ioctl_fionbio(&write, true).map_err(|error| descriptors(error.into()))?;
        given.push(read);
        ends.sink = Some(write);
    }
    let output = match command.output {
        Output::Null => OutputKind::Null,
        Output::File(file) => {
            given.push(file.into());
            OutputKind::File
        }
        Output::Kept { file, beginning } => {
            let kind = if file.is_some() { OutputKind::FileAndBeginning } else { OutputKind::Beginning };
            given.extend(file.map(OwnedFd::from));
            given.push(beginning.into());
            kind
        }
        Output::Pipes => {
            let ((out, out_end), (err, err_end)) = (pipe()?, pipe()?);
            given.extend([out_end, err_end]);
            ends.pipes = (Some(out), Some(err));
            OutputKind::Pipes
        }
    };
    given.extend(command.descriptors);
    let sandbox = command.sandbox.filter(|sandbox| !sandbox.is_open());
    let cgroup =
        if command.limits.are_watched() { crate::probe::probe().cgroup().map(Path::to_owned) } else { None };
    let (offered, missing) = sandbox.as_ref().map_or((0, Vec::new()), |_| crate::probe::offered());
    let variable = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        name
    };
    let name = command.arg0.unwrap_or_else(|| command.program.clone());
    let run = Run {
        program: command.program,
        arguments: std::iter::once(name).chain(command.arguments).collect(),
        environment: command.environment.into_iter().map(variable).collect(),
        directory: command.directory,
        stdin,
        output,
        terminal: command.terminal.map(|size| (size.rows, size.columns)),
        sandbox,
        offered,
        missing,
        limits: command.limits,
        cgroup,
    };
    Ok((run, given, ends))
}

#[cfg(test)]
mod tests;
