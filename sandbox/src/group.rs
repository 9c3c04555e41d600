//! Commands without a supervisor, for hosts that don't call [`init`](crate::init): the host itself watches a process group.
//!
//! The job is found and ended by its process group, and processes that have left the group while their parent lived, by their
//! descent. If the host is killed, the processes live on, and so do those that leave the group after their parent has ended.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::sync::watch;

use crate::host::control::State;
use crate::pump::Pump;
use crate::sys;
use crate::tree::{self, Identity};
use crate::{
    Command, Containment, Drained, End, Exit, Limit, Output, Part, Process, SpawnError, Stdin, Stopped,
};

/// Interval between checks whether a process has ended that sends no notification.
const LOOK: Duration = Duration::from_millis(10);

/// A process group that the host watches.
pub(crate) struct Group {
    pub(crate) number: u64,
    pub(crate) pid: u32,
    pub(crate) state: watch::Sender<State>,
    leader: Pid,
    output: Identity,
    /// Processes found outside the group; they are ended with it.
    strays: Mutex<Vec<i32>>,
}

/// The host's ends of a job's output, and the job's containment.
#[derive(Default)]
pub(crate) struct Ends {
    pub(crate) sink: Option<OwnedFd>,
    pub(crate) pipes: (Option<OwnedFd>, Option<OwnedFd>),
    pub(crate) containment: Containment,
}

/// Starts a command in a separate process group.
pub(crate) fn start(command: Command) -> Result<(Arc<Group>, Ends), SpawnError> {
    let why = "this program does not call `toolkit_sandbox::init` first in its `main`";
    let mut containment = Containment::default();
    if let Some(sandbox) = &command.sandbox {
        if sandbox.required {
            return Err(SpawnError::Sandbox { part: Part::Processes, why: why.to_owned() });
        }
        containment.mode = Some(sandbox.mode());
        containment.missing = Part::ALL.map(|part| (part, why.to_owned())).to_vec();
    }
    let failed = |step| move |source: io::Error| SpawnError::Supervisor { step, source };
    if command.terminal.is_some() {
        let source = io::Error::new(io::ErrorKind::Unsupported, why);
        return Err(failed("opening a terminal")(source));
    }
    let pipe = || {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .map_err(|error| failed("making pipes")(error.into()))?;
        Ok::<_, SpawnError>((read, write))
    };
    if let Err(source) = std::fs::metadata(&command.directory)
        .and_then(|there| if there.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) })
    {
        return Err(SpawnError::Directory { path: command.directory, source });
    }
    let mut process = std::process::Command::new(&command.program);
    if let Some(name) = &command.arg0 {
        process.arg0(name);
    }
    process
        .args(&command.arguments)
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)));
    process.current_dir(&command.directory).process_group(0);
    let mut ends = Ends { sink: None, pipes: (None, None), containment };
    match command.stdin {
        Stdin::Null => process.stdin(Stdio::null()),
        Stdin::Pipe => {
            let (read, write) = pipe()?;
            rustix::io::ioctl_fionbio(&write, true).map_err(|error| failed("making pipes")(error.into()))?;
            ends.sink = Some(write);
            process.stdin(Stdio::from(read))
        }
    };
    let (mut pump, mut output) = (None, Identity::Links(Vec::new()));
    match command.output.kept() {
        Ok(kept) => {
            let (read, write) = pipe()?;
            let second = write.try_clone().map_err(failed("making pipes"))?;
            output = tree::links([&write]);
            process.stdout(Stdio::from(write)).stderr(Stdio::from(second));
            pump = Some(Pump::new(read, kept, command.limits.output));
        }
        Err(Output::Pipes) => {
            let ((out, out_end), (err, err_end)) = (pipe()?, pipe()?);
            output = tree::links([&out_end, &err_end]);
            process.stdout(Stdio::from(out_end)).stderr(Stdio::from(err_end));
            ends.pipes = (Some(out), Some(err));
        }
        Err(_) => drop(process.stdout(Stdio::null()).stderr(Stdio::null())),
    }
    let taken = give(&mut process, command.descriptors)
        .map_err(|error| failed("passing on descriptors")(error.into()))?;
    let path = command
        .environment
        .iter()
        .find(|(name, _)| name == "PATH")
        .map(|(_, path)| path.to_string_lossy().into_owned());
    let child = process.spawn().map_err(|source| {
        let program = command.program.to_string_lossy().into_owned();
        match source.kind() {
            io::ErrorKind::NotFound => {
                let path = (!program.contains('/')).then(|| path.unwrap_or_default());
                SpawnError::NotFound { program, path }
            }
            io::ErrorKind::ArgumentListTooLong => SpawnError::TooLong,
            _ => SpawnError::NotExecutable { program, source },
        }
    })?;
    // It holds the other ends of the pipes.
    drop((process, taken));
    let group = Arc::new(Group {
        number: crate::host::number().map_err(failed("starting a thread"))?,
        pid: child.id(),
        state: watch::Sender::default(),
        leader: i32::try_from(child.id())
            .ok()
            .and_then(Pid::from_raw)
            .expect("a child's id is positive and fits"),
        output,
        strays: Mutex::default(),
    });
    let begun = Instant::now();
    group.state.send_modify(|state| state.progress.closed = pump.is_none());
    if let Some(pump) = pump {
        let writer = Arc::clone(&group);
        thread("toolkit-output", move || writer.write(pump)).map_err(failed("starting a thread"))?;
    }
    let waiter = Arc::clone(&group);
    thread("toolkit-wait", move || waiter.wait(child, begun)).map_err(failed("starting a thread"))?;
    Ok((group, ends))
}

/// Has a process started with these descriptors, from number 3 on. What is returned is to be dropped once it is started: what the child
/// tells of a failure by must have none of these numbers, so they are taken here meanwhile.
fn give(process: &mut std::process::Command, descriptors: Vec<OwnedFd>) -> rustix::io::Result<Vec<OwnedFd>> {
    let mut taken = Vec::new();
    let Some(descriptor) = descriptors.first() else { return Ok(taken) };
    let is_above = |taken: &OwnedFd| {
        usize::try_from(taken.as_raw_fd()).is_ok_and(|number| number >= 3 + descriptors.len())
    };
    while !taken.last().is_some_and(is_above) {
        taken.push(rustix::io::fcntl_dupfd_cloexec(descriptor, 3)?);
    }
    sys::give_to(process, descriptors);
    Ok(taken)
}

fn thread(name: &str, act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(256 << 10).spawn(act).map(drop)
}

impl Group {
    /// Writes the output to the file, on a thread of its own.
    fn write(&self, mut pump: Pump) {
        while !pump.closed() {
            pump.read();
            let is_new = pump.is_over && self.state.borrow().progress.exceeded.is_none();
            self.state.send_modify(|state| {
                let progress = &mut state.progress;
                (progress.bytes, progress.newlines) = (pump.bytes, pump.newlines);
                (progress.written, progress.write_error) = (pump.written, pump.error);
                progress.exceeded = pump.is_over.then_some(Limit::Output);
                progress.closed = pump.closed();
            });
            if is_new {
                self.send(&self.members(), &[Signal::KILL]);
            }
        }
    }

    /// Waits for the end of the command and of the group, on another thread.
    fn wait(&self, mut child: Child, begun: Instant) {
        let status = child.wait();
        let end = match status {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => End::Code(code),
                (None, Some(number)) => End::Signal { number, core: status.core_dumped() },
                (None, None) => End::Lost,
            },
            Err(_) => End::Lost,
        };
        let exit = Exit { end, ..Exit::lost(begun.elapsed()) };
        self.state.send_modify(|state| {
            state.exit = Some(exit);
            state.progress.exited = true;
        });
        let mut pause = Duration::from_millis(1);
        while !self.members().is_empty() || test_kill_process_group(self.leader).is_ok() {
            std::thread::sleep(pause);
            pause = (pause * 2).min(LOOK * 10);
        }
        self.state.send_modify(|state| state.progress.gone = true);
    }

    /// Returns the processes of the job: those of the group, the descendants of its first process, and processes that once
    /// were descendants.
    fn members(&self) -> Vec<i32> {
        let leader = self.leader.as_raw_nonzero().get();
        let mut strays = self.strays.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<_> = tree::group(leader);
        for pid in tree::descendants(leader) {
            if !found.contains(&pid) {
                found.push(pid);
                if !strays.contains(&pid) {
                    strays.push(pid);
                }
            }
        }
        strays.retain(|&pid| tree::alive(pid));
        found.extend(strays.iter().copied().filter(|pid| !found.contains(pid)).collect::<Vec<_>>());
        found.retain(|&pid| tree::alive(pid));
        found
    }

    pub(crate) fn processes(&self) -> Vec<Process> {
        self.members().into_iter().filter_map(tree::describe).collect()
    }

    fn send(&self, members: &[i32], signals: &[Signal]) {
        if self.state.borrow().progress.gone {
            return;
        }
        for &signal in signals {
            let _ = kill_process_group(self.leader, signal);
            for pid in members.iter().filter_map(|&pid| Pid::from_raw(pid)) {
                let _ = kill_process(pid, signal);
            }
        }
    }

    pub(crate) fn signal(&self, number: i32) {
        let over = self.state.borrow().progress.exited;
        if let (Some(signal), false) = (Signal::from_named_raw(number), over) {
            let _ = kill_process(self.leader, signal);
        }
    }

    /// Waits until the output is closed, or for `wait`, and returns the processes that hold it.
    pub(crate) async fn drained(&self, wait: Duration) -> Drained {
        let begun = Instant::now();
        loop {
            let holders: Vec<_> = if self.state.borrow().progress.closed
                && !matches!(&self.output, Identity::Links(links) if links.len() > 1)
            {
                return Drained::Closed;
            } else {
                self.members().into_iter().filter(|&pid| tree::holds(pid, &self.output)).collect()
            };
            let pipes = self.state.borrow().progress.closed;
            if pipes && holders.is_empty() {
                return Drained::Closed;
            }
            if begun.elapsed() >= wait {
                return Drained::Held(holders.into_iter().filter_map(tree::describe).collect());
            }
            tokio::time::sleep(LOOK.min(wait)).await;
        }
    }

    pub(crate) async fn stop(&self, grace: Duration) -> Stopped {
        let count = |members: &[i32]| u32::try_from(members.len()).unwrap_or(u32::MAX);
        let begun = Instant::now();
        let mut stopped = Stopped::default();
        if !grace.is_zero() {
            let members = self.members();
            stopped.terminated = count(&members);
            self.send(&members, &[Signal::TERM, Signal::CONT]);
            while !self.members().is_empty() && begun.elapsed() < grace {
                tokio::time::sleep(LOOK.min(grace)).await;
            }
        }
        let members = self.members();
        stopped.killed = count(&members);
        let killing = Instant::now();
        loop {
            let members = self.members();
            if members.is_empty() {
                return stopped;
            }
            self.send(&members, &[Signal::KILL]);
            if killing.elapsed() > Duration::from_secs(3) {
                stopped.left = members.into_iter().filter_map(tree::describe).collect();
                return stopped;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The job was dropped.
    pub(crate) fn abandon(self: &Arc<Self>, grace: Duration) {
        let members = self.members();
        if grace.is_zero() {
            self.send(&members, &[Signal::KILL]);
            return;
        }
        self.send(&members, &[Signal::TERM, Signal::CONT]);
        let group = Arc::clone(self);
        let killing = thread("toolkit-end", move || {
            let begun = Instant::now();
            while !group.members().is_empty() && begun.elapsed() < grace {
                std::thread::sleep(LOOK);
            }
            group.send(&group.members(), &[Signal::KILL]);
        });
        if killing.is_err() {
            self.send(&members, &[Signal::KILL]);
        }
    }
}
