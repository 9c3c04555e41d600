//! Start of the command by its supervisor.

use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer};

use super::cgroup::Cgroup;
use super::child::{Child, report};
use super::quarantine::Sweeper;
use super::ready::Ready;
use crate::failure::{Failure, Step};
use crate::inside::{Plan, most};
use crate::pump::Kept;
use crate::sys::{self, Forked};
use crate::tree::{self, Identity};
use crate::wire::{OutputKind, Run};
use crate::{Containment, Limits, Mode, Repositories, Sandbox, socket};

/// Capacity requested for an output pipe, if the user's total for pipes is not used up. A larger one does not fit into the processor's
/// cache, so writing to it and reading from it take longer.
const PIPE: usize = 256 << 10;

/// A started command.
pub(super) struct Launched {
    pub(super) command: i32,
    pub(super) init: Option<i32>,
    pub(super) report: OwnedFd,
    /// The end of the pipe that the command writes to.
    pub(super) output: Option<OwnedFd>,
    pub(super) master: Option<OwnedFd>,
    /// The terminal's other side. While it is open here, output that the command writes after it has closed the terminal still
    /// arrives.
    pub(super) slave: Option<OwnedFd>,
    pub(super) kept: Kept,
    pub(super) identity: Identity,
    pub(super) started: Instant,
    pub(super) containment: Containment,
    pub(super) plan: Option<Plan>,
    pub(super) limits: Limits,
    pub(super) cgroup: Option<Cgroup>,
    pub(super) sweeper: Option<Sweeper>,
}

fn failed(error: Errno) -> Failure {
    Failure::new(Step::Prepare, error)
}

/// The descriptors of the command's streams.
#[derive(Default)]
struct Streams {
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    /// The end that is read here.
    output: Option<OwnedFd>,
    kept: Kept,
    /// The further descriptors of the command.
    given: Vec<OwnedFd>,
}

impl Streams {
    /// Creates the streams from the descriptors that came with the command.
    fn make(run: &Run, given: Vec<OwnedFd>) -> Result<Self, Failure> {
        let mut given = given.into_iter();
        let mut streams = Self::default();
        if run.stdin {
            streams.stdin = given.next();
        }
        if run.output == OutputKind::Pipes {
            (streams.stdout, streams.stderr) = (given.next(), given.next());
            streams.given = given.collect();
            return Ok(streams);
        }
        if matches!(run.output, OutputKind::File | OutputKind::FileAndBeginning) {
            streams.kept.file = given.next();
        }
        if matches!(run.output, OutputKind::Beginning | OutputKind::FileAndBeginning) {
            streams.kept.beginning = given.next();
        }
        streams.given = given.collect();
        if run.terminal.is_none() {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
            let _ = fcntl_setpipe_size(&read, PIPE);
            rustix::io::ioctl_fionbio(&read, true).map_err(failed)?;
            streams.output = Some(read);
            streams.stderr = Some(rustix::io::fcntl_dupfd_cloexec(&write, 3).map_err(failed)?);
            streams.stdout = Some(write);
        }
        Ok(streams)
    }
}

/// Starts the command; in `ready`, if that is suitable. `None` if there is no host to report a failure to.
pub(super) fn launch(
    mut run: Run,
    given: Vec<OwnedFd>,
    ready: Option<Ready>,
    socket: &OwnedFd,
    host: Option<&OwnedFd>,
) -> Result<Launched, Option<Failure>> {
    let Streams { stdin, stdout, stderr, output, kept, given } = Streams::make(&run, given)?;
    let identity = tree::links(stdout.iter().chain(&stderr));
    let sweeper = sweeper(&mut run)?;
    let limits = run.limits;
    let cgroup = run.cgroup.as_deref().and_then(|within| Cgroup::make(within, limits).ok());
    let (plan, containment) = match &run.sandbox {
        Some(sandbox) => {
            let (plan, containment) = Plan::make(sandbox, &run)?;
            (Some(plan), containment)
        }
        None => (None, Containment::default()),
    };
    let (Begun { pid, reports, errors }, plan) = match plan {
        Some(plan) if plan.namespaces() != 0 => {
            let ready = Ready::or_make(ready, plan.namespaces())?;
            if let Some(cgroup) = &cgroup {
                let _ = cgroup.add(ready.pid);
            }
            let begun = ready.begin(&run, &plan, &[&stdin, &stdout, &stderr], &given);
            // The closing of the output is detected only once this process no longer has it open.
            drop((stdin, stdout, stderr, given));
            let Ready { pid, reports, errors, .. } = ready;
            if let Err(failure) = begun {
                return Err(given_up(pid, Some(failure)));
            }
            (Begun { pid, reports, errors }, Some(plan))
        }
        plan => {
            if let Some(ready) = ready {
                ready.end();
            }
            fork(run, plan, [stdin, stdout, stderr], given, cgroup.as_ref())?
        }
    };
    let first = pid.as_raw_nonzero().get();
    let init = plan.as_ref().is_some_and(Plan::has_init).then_some(first);
    let outcome = outcome(&errors, socket, host);
    let started = Instant::now();
    match outcome {
        Ok(None) => {}
        Ok(Some(failure)) => return Err(given_up(pid, Some(failure))),
        Err(()) => return Err(given_up(pid, None)),
    }
    let said = Said::hear(&reports, identity);
    let mut slave = None;
    if let Some(master) = &said.master {
        rustix::io::ioctl_fionbio(master, true).map_err(failed)?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        slave = ioctl_tiocgptpeer(master, flags).ok();
    }
    Ok(Launched {
        command: said.command.unwrap_or(first),
        init,
        report: reports,
        output,
        master: said.master,
        slave,
        kept,
        identity: said.identity,
        started,
        containment,
        plan,
        limits,
        cgroup,
        sweeper,
    })
}

/// Records the files that exist before the command, if files that it creates are to be moved away afterwards.
///
/// A sandbox that contradicts itself is refused before the search, which takes minutes in directories such as `/`.
fn sweeper(run: &mut Run) -> Result<Option<Sweeper>, Failure> {
    let searches = |sandbox: &Sandbox| sandbox.mode == Mode::WorkspaceWrite && sandbox.quarantine.is_some();
    let Some(sandbox) = run.sandbox.as_ref().filter(|sandbox| searches(sandbox)) else { return Ok(None) };
    Plan::check(sandbox, run)?;
    let Some(sandbox) = &mut run.sandbox else { return Ok(None) };
    let Some(quarantine) = sandbox.quarantine.take() else { return Ok(None) };
    let protects = quarantine.repositories == Repositories::Protected;
    let (sweeper, repositories) = Sweeper::new(quarantine);
    if protects {
        sandbox.protected.extend(repositories);
    }
    Ok(Some(sweeper))
}

/// A process on its way to executing the program.
struct Begun {
    pid: Pid,
    reports: OwnedFd,
    errors: OwnedFd,
}

/// Begins in the namespaces that there are.
fn fork(
    run: Run,
    plan: Option<Plan>,
    streams: [Option<OwnedFd>; 3],
    given: Vec<OwnedFd>,
    cgroup: Option<&Cgroup>,
) -> Result<(Begun, Option<Plan>), Failure> {
    let (reports, report_end) = socket::packets().map_err(failed)?;
    rustix::net::sockopt::set_socket_passcred(&reports, true).map_err(failed)?;
    let (errors, errors_end) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
    let child = Child::new(run, plan, streams, given, errors_end, report_end)?;
    let pid = match sys::fork().map_err(|error| Failure::io(Step::Fork, &error))? {
        Forked::Child => {
            if let Some(cgroup) = cgroup {
                let _ = cgroup.add(rustix::process::getpid());
            }
            most::prefer_to_kill();
            if let Some(count) = child.run.limits.processes {
                most::limit_processes_of_user(count);
            }
            child.run()
        }
        Forked::Parent(pid) => pid,
    };
    // Everything else is dropped: the start of the program, and later the closing of the output, are only detected once this process
    // no longer has the descriptors open.
    let Child { plan, .. } = child;
    Ok((Begun { pid, reports, errors }, plan))
}

/// Ends a process that was started: it would exit by itself after a failure, but the host may no longer wait for it.
fn given_up(pid: Pid, failure: Option<Failure>) -> Option<Failure> {
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    while sys::reap(true).is_ok() {}
    failure
}

/// The reports of a process on its way to the program.
struct Said {
    command: Option<i32>,
    master: Option<OwnedFd>,
    identity: Identity,
}

impl Said {
    fn hear(reports: &OwnedFd, identity: Identity) -> Self {
        let mut said = Self { command: None, master: None, identity };
        let mut packet = [0; 512];
        while let Ok(mut received) = socket::receive(reports, &mut packet, false) {
            match packet[..received.length].split_first() {
                Some((&report::TERMINAL, name)) => {
                    said.identity = Identity::Suffix(String::from_utf8_lossy(name).into_owned());
                    said.master = received.descriptors.pop();
                }
                Some((&report::HERE, _)) => {
                    said.command = received.sender;
                    break;
                }
                _ => break,
            }
        }
        said
    }
}

/// Waits until the program has started, or reports a failure. An error if the host no longer wants it.
fn outcome(errors: &OwnedFd, socket: &OwnedFd, host: Option<&OwnedFd>) -> Result<Option<Failure>, ()> {
    let mut said = Vec::new();
    loop {
        let mut watched = [
            PollFd::new(errors, PollFlags::IN),
            // Only the end of the host is awaited, not its messages.
            PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::RDHUP),
            PollFd::from_borrowed_fd(
                host.unwrap_or(socket).as_fd(),
                if host.is_some() { PollFlags::IN } else { PollFlags::RDHUP },
            ),
        ];
        let _ = poll(&mut watched, None);
        if !watched[0].revents().is_empty() {
            let mut buffer = [0_u8; 4096];
            match rustix::io::read(errors, &mut buffer) {
                Ok(0) => return Ok(Failure::read(&said)),
                Ok(length) => said.extend_from_slice(&buffer[..length]),
                Err(Errno::INTR) => {}
                Err(_) => return Ok(None),
            }
        } else if watched[1..].iter().any(|fd| !fd.revents().is_empty()) {
            return Err(());
        }
    }
}
