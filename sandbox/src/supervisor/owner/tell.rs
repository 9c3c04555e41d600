//! Messages to the host.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::{BEAT, Owner};
use crate::supervisor::polling::timeout;
use crate::wire::{self, Writer, to_host};
use crate::{Limit, Process, socket};

/// Maximum number of bytes that are kept for a host that does not read; beyond this the host counts as broken.
const UNREAD: usize = 16 << 20;

/// Time limit for the last messages to be read.
const LAST_WORDS: Duration = Duration::from_secs(5);

impl Owner {
    pub(super) fn bytes(&self) -> u64 {
        self.pump.as_ref().map_or(0, |pump| pump.bytes)
    }

    pub(super) fn progress(&mut self, gone: bool) {
        let message = match &self.pump {
            Some(pump) => {
                self.told = (Instant::now(), pump.bytes, pump.closed());
                Writer::new(to_host::PROGRESS)
                    .number(pump.bytes)
                    .number(pump.newlines)
                    .number(pump.written)
                    .flag(pump.error.is_some())
                    .signed(pump.error.unwrap_or(0))
                    .flag(pump.closed())
            }
            None => {
                Writer::new(to_host::PROGRESS).number(0).number(0).number(0).flag(false).signed(0).flag(gone)
            }
        };
        self.say(message.byte(Limit::number(self.exceeded)).flag(gone));
    }

    pub(super) fn stopped(&mut self, id: u64, terminated: u32, killed: u32, left: &[Process]) {
        let message =
            Writer::new(to_host::REPLY).number(id).number(u64::from(terminated)).number(u64::from(killed));
        self.say(wire::processes(message, left));
    }

    pub(super) fn say(&mut self, message: Writer) {
        if self.alone {
            return;
        }
        self.outgoing.extend_from_slice(&message.finish());
        self.flush();
        if self.outgoing.len() > UNREAD {
            self.abandon();
        }
    }

    pub(super) fn flush(&mut self) {
        while !self.outgoing.is_empty() {
            match socket::send(&self.socket, &self.outgoing, &[], false) {
                Ok(length) => drop(self.outgoing.drain(..length)),
                Err(Errno::AGAIN) => return,
                Err(_) => {
                    self.outgoing.clear();
                    return;
                }
            }
        }
    }

    /// Reports that no process is left.
    pub(super) fn finish(&mut self) {
        self.turn();
        self.sweep();
        if let Some(cgroup) = &self.cgroup {
            cgroup.remove();
        }
        if let Some(plan) = &self.plan {
            plan.tidy();
        }
        self.progress(true);
        let begun = Instant::now();
        while !self.outgoing.is_empty() && begun.elapsed() < LAST_WORDS {
            let mut watched = [PollFd::new(&self.socket, PollFlags::OUT)];
            let _ = poll(&mut watched, timeout(BEAT).as_ref());
            self.flush();
        }
    }
}
