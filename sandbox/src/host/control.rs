//! The host's state of one job, and its connection to the job's supervisor.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use tokio::sync::{oneshot, watch};

use super::thread::Heard;
use crate::failure::Failure;
use crate::wire::{self, Incoming, Reader, Writer, to_host};
use crate::{Containment, End, Exit, Limit, Progress, Quarantined, socket};

/// Time without a message after which the host checks whether the sending processes are stopped.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The known state of a job.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) started: Option<Started>,
    pub(crate) failed: Option<Failure>,
    pub(crate) progress: Progress,
    pub(crate) exit: Option<Exit>,
    pub(crate) quarantined: Vec<Quarantined>,
    /// The supervisor is gone without having reported the end of all processes.
    pub(crate) lost: bool,
    /// The spawner, which would clean up, is gone as well.
    orphaned: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Started {
    pub(crate) pid: u32,
    pub(crate) containment: Arc<Containment>,
    /// The master of the terminal.
    pub(crate) master: Option<Arc<OwnedFd>>,
}

/// The host's end of a job.
pub(crate) struct Control {
    pub(crate) number: u64,
    /// `None` once the supervisor has ended.
    socket: Mutex<Option<Arc<OwnedFd>>>,
    begun: Instant,
    outgoing: Mutex<Vec<u8>>,
    incoming: Mutex<(Incoming, Vec<OwnedFd>)>,
    pub(crate) state: watch::Sender<State>,
    replies: Mutex<HashMap<u64, oneshot::Sender<Vec<u8>>>>,
    next: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    /// Creates the state of a job whose supervisor has the other end of the socket.
    pub(super) fn new(number: u64, socket: OwnedFd) -> Self {
        Self {
            number,
            socket: Mutex::new(Some(Arc::new(socket))),
            begun: Instant::now(),
            outgoing: Mutex::default(),
            incoming: Mutex::default(),
            state: watch::Sender::default(),
            replies: Mutex::default(),
            next: AtomicU64::new(1),
        }
    }

    /// Sends this, now or when there is room.
    pub(super) fn say(&self, message: &[u8]) {
        let mut outgoing = lock(&self.outgoing);
        let waited = !outgoing.is_empty();
        outgoing.extend_from_slice(message);
        if !waited {
            self.flush(&mut outgoing);
            if !outgoing.is_empty() {
                self.want(true);
            }
        }
    }

    fn want(&self, write: bool) {
        if let (Ok(hearing), Some(socket)) = (super::hearing(), self.socket()) {
            hearing.want(self.number, socket, write);
        }
    }

    fn flush(&self, outgoing: &mut Vec<u8>) {
        let Some(socket) = self.socket() else { return outgoing.clear() };
        while !outgoing.is_empty() {
            match socket::send(&*socket, outgoing, &[], false) {
                Ok(length) => drop(outgoing.drain(..length)),
                Err(Errno::AGAIN) => return,
                Err(_) => outgoing.clear(),
            }
        }
    }

    /// Sends a request to the supervisor, and returns the receiver of its answer. `None` if the supervisor is gone.
    pub(super) fn request(
        &self,
        kind: u8,
        more: impl FnOnce(Writer) -> Writer,
    ) -> Option<oneshot::Receiver<Vec<u8>>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        {
            let mut replies = lock(&self.replies);
            // Read in one borrow: a writer waits for a first borrow to end, and a second borrow would wait for the
            // writer.
            let over = {
                let state = self.state.borrow();
                state.lost || state.progress.gone
            };
            if over {
                return None;
            }
            replies.retain(|_, reply| !reply.is_closed());
            replies.insert(id, sender);
        }
        self.say(&more(Writer::new(kind).number(id)).finish());
        Some(answer)
    }

    /// Sends the supervisor a message that has no answer.
    pub(crate) fn tell(&self, kind: u8, more: impl FnOnce(Writer) -> Writer) {
        self.say(&more(Writer::new(kind).number(0)).finish());
    }

    /// Closes the connection: the supervisor ends the job, within the time that it was given before, if any.
    pub(crate) fn close(&self) {
        if let Some(socket) = self.socket() {
            let _ = shutdown(&*socket, Shutdown::Both);
        }
    }

    /// Records that the spawner has cleaned up after a lost supervisor.
    pub(crate) fn cleaned(&self) {
        self.state.send_modify(|state| {
            state.lost = true;
            state.finish(self.begun.elapsed());
            state.progress.gone = true;
        });
    }

    /// Records that the spawner is gone. The supervisor, if it lives, ends the job by itself.
    pub(crate) fn orphaned(&self) {
        self.state.send_modify(|state| {
            state.orphaned = true;
            if state.lost {
                state.progress.gone = true;
            }
        });
    }

    fn hear(&self, message: &[u8], descriptors: &mut Vec<OwnedFd>) -> Option<()> {
        let mut reader = Reader::new(message);
        match reader.byte()? {
            to_host::STARTED => {
                let started = Started {
                    pid: reader.small()?,
                    containment: Arc::new(wire::read_containment(&mut reader)?),
                    master: descriptors.pop().map(Arc::new),
                };
                self.state.send_modify(|state| state.started = Some(started));
            }
            to_host::FAILED => {
                let failure = Failure {
                    step: crate::failure::Step::from_number(reader.byte()?)?,
                    error: reader.signed()?,
                    detail: reader.bytes()?.to_vec(),
                };
                self.state.send_modify(|state| state.failed = Some(failure));
            }
            to_host::PROGRESS => {
                let bytes = reader.number()?;
                let (newlines, written) = (reader.number()?, reader.number()?);
                let error = reader.flag()?;
                let number = reader.signed()?;
                let (closed, exceeded) = (reader.flag()?, Limit::from_number(reader.byte()?));
                let gone = reader.flag()?;
                self.state.send_modify(|state| {
                    let exited = state.progress.exited;
                    let write_error = error.then_some(number);
                    state.progress =
                        Progress { bytes, newlines, written, write_error, exceeded, closed, exited, gone };
                    if gone {
                        state.finish(self.begun.elapsed());
                    }
                });
            }
            to_host::EXITED => {
                let exit = Exit {
                    end: end(reader.signed()?),
                    duration: reader.duration()?,
                    user: reader.duration()?,
                    system: reader.duration()?,
                    peak_memory: reader.number()?,
                };
                self.state.send_modify(|state| {
                    state.exit = Some(exit);
                    state.progress.exited = true;
                });
            }
            to_host::QUARANTINED => {
                let moved = wire::read_quarantined(&mut reader)?;
                self.state.send_modify(|state| state.quarantined.extend(moved));
            }
            to_host::REPLY => {
                let id = reader.number()?;
                if let Some(reply) = lock(&self.replies).remove(&id) {
                    let _ = reply.send(message.get(9..)?.to_vec());
                }
            }
            _ => {}
        }
        Some(())
    }
}

impl State {
    /// The command can't be ended, and its end is not waited for.
    pub(crate) fn give_up(&mut self, duration: Duration) {
        self.exit.get_or_insert_with(|| Exit::lost(duration));
        self.progress.exited = true;
    }

    /// Records that the command's end will not become known.
    fn finish(&mut self, duration: Duration) {
        self.exit.get_or_insert_with(|| Exit::lost(duration));
        self.progress.exited = true;
        self.progress.closed = true;
    }
}

impl Heard for Control {
    fn socket(&self) -> Option<Arc<OwnedFd>> {
        lock(&self.socket).clone()
    }

    fn ready(&self) -> bool {
        {
            let mut outgoing = lock(&self.outgoing);
            if !outgoing.is_empty() {
                self.flush(&mut outgoing);
                if outgoing.is_empty() {
                    self.want(false);
                }
            }
        }
        let Some(socket) = self.socket() else { return false };
        let mut incoming = lock(&self.incoming);
        let (incoming, descriptors) = &mut *incoming;
        let mut buffer = [0; 16 << 10];
        loop {
            let over = match socket::receive(&*socket, &mut buffer, false) {
                Ok(received) => {
                    incoming.push(&buffer[..received.length]);
                    descriptors.extend(received.descriptors);
                    received.length == 0
                }
                Err(Errno::AGAIN) => return true,
                Err(_) => true,
            };
            loop {
                match incoming.next() {
                    Ok(Some(message)) => {
                        let _ = self.hear(&message, descriptors);
                    }
                    Ok(None) => break,
                    Err(()) => return false,
                }
            }
            if over {
                return false;
            }
        }
    }

    fn over(&self) {
        self.state.send_modify(|state| {
            if !state.progress.gone {
                state.lost = true;
                state.finish(self.begun.elapsed());
                if state.orphaned || state.started.is_none() {
                    state.progress.gone = true;
                }
            }
        });
        // A job that has ended is known for long, and there may be many.
        *lock(&self.socket) = None;
        // After the state, which `ask` reads while it has the replies locked.
        lock(&self.replies).clear();
    }
}

/// Converts a status of `waitpid`.
fn end(status: i32) -> End {
    let number = status & 0x7f;
    if number == 0 {
        End::Code((status >> 8) & 0xff)
    } else {
        End::Signal { number, core: status & 0x80 != 0 }
    }
}
