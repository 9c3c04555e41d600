//! The supervisor of one job.

mod begin;
mod tell;
mod waits;

use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::getpid;

use super::cgroup::Cgroup;
use super::child::report;
use super::ending::Ending;
use super::polling::{drain, timeout};
use super::quarantine::Sweeper;
use super::usage::Usage;
use crate::inside::Plan;
use crate::pump::Pump;
use crate::sys::{self, Reaped};
use crate::tree::{self, Identity};
use crate::wire::{self, Incoming, Reader, Writer, to_host, to_supervisor};
use crate::{Limit, socket};
use waits::Wait;

pub(super) use begin::{run, wait};

/// Interval between reports of output to the host: 20 a second.
const BEAT: Duration = Duration::from_millis(50);

struct Owner {
    socket: OwnedFd,
    incoming: Incoming,
    outgoing: Vec<u8>,
    /// True once the host can no longer be told.
    alone: bool,
    host: Option<OwnedFd>,
    spawner: OwnedFd,
    children: OwnedFd,
    /// Socket on which the first process of a namespace reports, until its last report; the process may end a while after
    /// that.
    report: Option<OwnedFd>,
    pump: Option<Pump>,
    identity: Identity,
    /// Kept open if the output is a terminal; then reading does not detect the end of the output.
    slave: Option<OwnedFd>,
    command: i32,
    init: Option<i32>,
    started: Instant,
    exited: bool,
    empty: bool,
    ending: Option<Ending>,
    waits: Vec<Wait>,
    told: (Instant, u64, bool),
    plan: Option<Plan>,
    /// The limit that the job went beyond.
    exceeded: Option<Limit>,
    usage: Option<Usage>,
    cgroup: Option<Cgroup>,
    /// Finds the files that the job must not leave behind. `None` if there is nothing to find, and once no process is left
    /// that could create one.
    sweeper: Option<Sweeper>,
}

impl Owner {
    fn serve(&mut self) {
        // Processes that ended during the start have already sent their signal.
        self.reap();
        while !(self.empty && self.pump.as_ref().is_none_or(Pump::closed)) {
            let wait = self.wait();
            let idle = self.children.as_fd();
            let mut conversation = PollFlags::empty();
            if !self.alone {
                conversation |= PollFlags::IN;
                if !self.outgoing.is_empty() {
                    conversation |= PollFlags::OUT;
                }
            }
            let mut watched = [
                PollFd::from_borrowed_fd(idle, PollFlags::IN),
                PollFd::from_borrowed_fd(if self.alone { idle } else { self.socket.as_fd() }, conversation),
                PollFd::from_borrowed_fd(self.spawner.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.host.as_ref().map_or(idle, OwnedFd::as_fd), PollFlags::IN),
                PollFd::from_borrowed_fd(
                    self.pump.as_ref().and_then(Pump::source).unwrap_or(idle),
                    PollFlags::IN,
                ),
                PollFd::from_borrowed_fd(self.report.as_ref().map_or(idle, OwnedFd::as_fd), PollFlags::IN),
            ];
            let _ = poll(&mut watched, timeout(wait).as_ref());
            let [ended, said, orphaned, host_gone, output, reported] =
                watched.map(|fd| !fd.revents().is_empty());
            if reported {
                self.reports();
            }
            if ended {
                drain(&self.children);
                self.reap();
            }
            if output && let Some(pump) = &mut self.pump {
                pump.turn();
            }
            if said && !self.alone {
                self.converse();
            }
            if orphaned || (host_gone && self.host.is_some()) {
                self.abandon();
            }
            self.turn();
        }
    }

    /// Returns the time until the next action.
    fn wait(&self) -> Duration {
        let now = Instant::now();
        let ending = self.ending.as_ref().filter(|_| !self.empty).map_or(Duration::MAX, Ending::wait);
        let waits = self.waits.iter().map(|wait| {
            let at = if self.sees_end() { wait.deadline } else { wait.next.min(wait.deadline) };
            at.saturating_duration_since(now)
        });
        let telling = if self.bytes() == self.told.1 {
            Duration::MAX
        } else {
            (self.told.0 + BEAT).saturating_duration_since(now)
        };
        // Poll counts in milliseconds; rounding down would spin.
        let usage = self.usage.as_ref().filter(|_| !self.empty).map_or(Duration::MAX, Usage::wait);
        let least = waits.chain([ending, telling, usage]).min().unwrap_or(Duration::MAX);
        if least == Duration::MAX { least } else { least + Duration::from_micros(500) }
    }

    /// Ends the job where it has gone beyond one of its limits.
    fn look_at_limits(&mut self) {
        if self.exceeded.is_some() || self.empty {
            return;
        }
        let is_over = self.pump.as_ref().is_some_and(|pump| pump.is_over);
        let is_due = self.usage.as_ref().is_some_and(|usage| usage.wait().is_zero());
        let by_use = || self.usage.as_mut().filter(|_| is_due).and_then(|usage| usage.look(self.init));
        let by_group = || self.cgroup.as_ref().filter(|_| is_due).and_then(Cgroup::exceeded);
        self.exceeded = is_over.then_some(Limit::Output).or_else(by_group).or_else(by_use);
        if self.exceeded.is_some() {
            self.progress(false);
            self.end_within(Duration::ZERO);
        }
    }

    /// Moves away the files that the job must not leave behind.
    fn sweep(&mut self) {
        let Some(sweeper) = &mut self.sweeper else { return };
        let moved = sweeper.sweep();
        if !moved.is_empty() {
            self.say(wire::quarantined(Writer::new(to_host::QUARANTINED), &moved));
        }
    }

    /// Performs the actions that are due by time or because of another event.
    fn turn(&mut self) {
        self.look_at_limits();
        if let Some(ending) = &mut self.ending
            && !self.empty
            && let Some(left) = ending.turn()
        {
            let ids = std::mem::take(&mut ending.waiting);
            let (terminated, killed) = (ending.terminated, ending.killed);
            for id in ids {
                self.stopped(id, terminated, killed, &left);
            }
        }
        if self.empty {
            if let Some(pump) = &mut self.pump
                && !pump.closed()
            {
                // A process that holds the output now does not belong to this job. Output written before the last process
                // ended is in the pipe.
                pump.finish();
            }
            if let Some(ending) = &mut self.ending {
                let ids = std::mem::take(&mut ending.waiting);
                let (terminated, killed) = (ending.terminated, ending.killed);
                for id in ids {
                    self.stopped(id, terminated, killed, &[]);
                }
            }
        }
        let closed = self.pump.as_ref().is_some_and(Pump::closed);
        if closed != self.told.2 || (self.bytes() != self.told.1 && self.told.0.elapsed() >= BEAT) {
            self.progress(false);
        }
        // After the progress that they refer to.
        self.answer_waits();
    }

    /// Waits for ended processes.
    fn reap(&mut self) {
        loop {
            match sys::reap(false) {
                Ok(None) => return,
                Ok(Some(reaped)) => {
                    if Some(reaped.pid) == self.init {
                        self.reports();
                        self.init = None;
                        if !self.exited {
                            // It was killed before it could report; the system has killed the command with it.
                            self.command_ended(&Reaped { status: libc::SIGKILL, ..reaped });
                        }
                    } else if reaped.pid == self.command {
                        self.command_ended(&reaped);
                    }
                }
                Err(_) => {
                    self.empty = true;
                    return;
                }
            }
        }
    }

    /// Reads the reports of the first process of the namespace.
    fn reports(&mut self) {
        let mut packet = [0; 64];
        while let Some(report) = &self.report
            && let Ok(received) = socket::receive(report, &mut packet, false)
        {
            let mut reader = match packet[..received.length].split_first() {
                Some((&report::EXIT, rest)) => Reader::new(rest),
                Some(_) => continue,
                None => {
                    self.report = None;
                    return;
                }
            };
            let mut read = || {
                Some(Reaped {
                    pid: self.command,
                    status: reader.signed()?,
                    user: reader.duration()?,
                    system: reader.duration()?,
                    peak: reader.number()?,
                })
            };
            if let Some(reaped) = read() {
                self.command_ended(&reaped);
            }
        }
    }

    fn command_ended(&mut self, reaped: &Reaped) {
        if std::mem::replace(&mut self.exited, true) {
            return;
        }
        // The command's output is in the pipe by now: it is read before the host is told of the end.
        if let Some(pump) = &mut self.pump {
            pump.turn();
        }
        // An out-of-memory kill is checked now, since it is not reported later.
        if self.exceeded.is_none() {
            self.exceeded = self.cgroup.as_ref().and_then(Cgroup::exceeded);
        }
        self.progress(false);
        let duration = self.started.elapsed();
        // On hearing of the end, the host may run a program that finds the files.
        if self.sweeper.is_some() {
            let is_alone = self.processes().is_empty();
            self.sweep();
            if is_alone {
                self.sweeper = None;
            }
        }
        self.say(
            Writer::new(to_host::EXITED)
                .signed(reaped.status)
                .duration(duration)
                .duration(reaped.user)
                .duration(reaped.system)
                .number(reaped.peak),
        );
    }

    /// Reads the messages of the host.
    fn converse(&mut self) {
        self.flush();
        let mut buffer = [0; 4096];
        loop {
            match socket::receive(&self.socket, &mut buffer, false) {
                Ok(received) if received.length > 0 => self.incoming.push(&buffer[..received.length]),
                Err(Errno::AGAIN) => break,
                _ => {
                    self.alone = true;
                    break;
                }
            }
        }
        loop {
            match self.incoming.next() {
                Ok(Some(message)) => {
                    let _ = self.obey(&message);
                }
                Ok(None) => break,
                Err(()) => {
                    self.alone = true;
                    break;
                }
            }
        }
        // The job was dropped. With a final message there is a grace period; otherwise the host is dying.
        if self.alone && self.ending.is_none() {
            self.abandon();
        }
    }

    fn obey(&mut self, message: &[u8]) -> Option<()> {
        let mut reader = Reader::new(message);
        let kind = reader.byte()?;
        let id = reader.number()?;
        match kind {
            to_supervisor::PROCESSES => {
                let processes = self.processes();
                self.say(wire::processes(Writer::new(to_host::REPLY).number(id), &processes));
            }
            to_supervisor::DRAINED => {
                let now = Instant::now();
                let deadline = now + reader.duration()?.min(Duration::from_secs(1 << 30));
                self.waits.push(Wait::new(id, deadline));
            }
            to_supervisor::SWEEP => {
                self.sweep();
                self.say(Writer::new(to_host::REPLY).number(id));
            }
            to_supervisor::STOP => self.stop(id, reader.duration()?.min(Duration::from_secs(1 << 30))),
            to_supervisor::INTERRUPT => {
                let number = reader.signed()?;
                if let (Some(signal), false) = (rustix::process::Signal::from_named_raw(number), self.exited)
                {
                    let own = getpid().as_raw_nonzero().get();
                    tree::signal(self.command, own, &[signal]);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Ends the job's processes, at the latest after this time.
    fn end_within(&mut self, grace: Duration) {
        match &mut self.ending {
            None => self.ending = Some(Ending::begin(self.init, grace)),
            Some(ending) => ending.deadline = ending.deadline.min(Instant::now() + grace),
        }
    }

    fn stop(&mut self, id: u64, grace: Duration) {
        self.end_within(grace);
        if let Some(ending) = &mut self.ending {
            ending.waiting.push(id);
        }
    }

    /// Records that the host no longer wants the job: all of its processes are to end.
    fn abandon(&mut self) {
        self.alone = true;
        self.host = None;
        self.end_within(Duration::ZERO);
        if let Some(ending) = &mut self.ending {
            ending.at_once = true;
        }
    }
}
