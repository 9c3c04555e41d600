//! A single thread that receives the messages of all supervisors of this process, so that a job depends on no runtime.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

/// A receiver of messages. Its methods are called on the thread, and must not block.
pub(crate) trait Heard: Send + Sync {
    /// Returns the socket to read from, until it is [over](Self::over).
    fn socket(&self) -> Option<Arc<OwnedFd>>;
    /// Called when there is something to read or room to write. Returns true to go on listening.
    fn ready(&self) -> bool;
    /// Called when the socket is no longer read.
    fn over(&self);
}

/// The sockets that are read.
pub(crate) struct Hearing {
    epoll: OwnedFd,
    heard: Mutex<HashMap<u64, Arc<dyn Heard>>>,
    next: AtomicU64,
}

impl Hearing {
    /// Starts the thread. It runs as long as the process.
    pub(super) fn start() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        std::thread::Builder::new().name("toolkit-jobs".to_owned()).stack_size(256 << 10).spawn(hear)?;
        Ok(Self { epoll, heard: Mutex::default(), next: AtomicU64::new(1) })
    }

    /// Returns a unique number.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<dyn Heard>>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to this under a number of [`number`](Self::number).
    pub(crate) fn add(&self, number: u64, heard: Arc<dyn Heard>) -> io::Result<()> {
        let mut all = self.all();
        let socket = heard.socket().ok_or(io::ErrorKind::NotConnected)?;
        epoll::add(&self.epoll, socket, EventData::new_u64(number), EventFlags::IN | EventFlags::RDHUP)?;
        all.insert(number, heard);
        Ok(())
    }

    /// Sets whether to wait for the socket to be writable, too.
    pub(crate) fn want(&self, number: u64, socket: impl AsFd, write: bool) {
        let mut flags = EventFlags::IN | EventFlags::RDHUP;
        if write {
            flags |= EventFlags::OUT;
        }
        let _ = epoll::modify(&self.epoll, socket, EventData::new_u64(number), flags);
    }

    fn turn(&self, number: u64) {
        let Some(heard) = self.all().get(&number).cloned() else { return };
        if !heard.ready() {
            if let Some(socket) = heard.socket() {
                let _ = epoll::delete(&self.epoll, socket);
            }
            self.all().remove(&number);
            heard.over();
        }
    }
}

fn hear() {
    // The one that starts this thread puts it into its place right after, which this waits for.
    let Ok(hearing) = super::hearing() else { return };
    let mut events = Vec::with_capacity(64);
    loop {
        events.clear();
        match epoll::wait(&hearing.epoll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        for event in &events {
            let Event { data, .. } = *event;
            hearing.turn(data.u64());
        }
    }
}
