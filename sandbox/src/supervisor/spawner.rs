//! The spawner: one small process for each host, which makes a supervisor for each job.
//!
//! ```text
//! host ── spawner ── supervisor ── command ── …       one supervisor a job
//!             └───── supervisor ── init ── command    where the sandbox has process ids of its own
//! ```
//!
//! A supervisor is a fork of the spawner, which is small: the cost of a job does not grow with the host. Each of them adopts the
//! orphans below it (`PR_SET_CHILD_SUBREAPER`), so no process leaves the tree by forking twice or by starting a session, and each
//! watches the others:
//!
//! * The host ends: its end of every socket is closed, and a pidfd of its process, which no copy of a socket can keep open, reports
//!   the end. Supervisors kill their trees, and the spawner waits for that; a stopped supervisor is killed by the spawner.
//! * A supervisor is stopped: the spawner kills it.
//! * A supervisor ends: the processes below it are now children of the spawner. A child of the spawner that is not a supervisor can
//!   only have come that way, and is killed with everything below it.
//! * The spawner ends: supervisors see it by its handle, and kill their trees.
//!
//! The remaining risk: a malicious job without its own process ids can kill its supervisor *and* the spawner before one notices the
//! end of the other, or kill the host, as any process of the same user can. Its first process dies even then (`PR_SET_PDEATHSIG`);
//! processes that it has started do not.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getpid, getrlimit, pidfd_open, set_child_subreaper, setrlimit,
    setsid,
};

use super::next::{Next, Waiting};
use super::polling::{drain, timeout};
use super::{owner, trials};
use crate::sys::{self, Forked};
use crate::wire::{Reader, Writer, to_host};
use crate::{socket, tree};

/// Requests of the host to the spawner, in the first byte of a packet.
pub(crate) mod ask {
    /// Sends a handle of the host's process.
    pub(crate) const HELLO: u8 = 0;
    /// Requests a supervisor for the socket that comes with it; the message has the job's number and namespaces.
    pub(crate) const JOB: u8 = 1;
    /// Probes the features that contain commands; the result goes to the socket that comes with the request.
    pub(crate) const PROBE: u8 = 2;
}

/// Time for supervisors to end their jobs after the host is gone.
const LAST: Duration = Duration::from_secs(10);

struct Spawner {
    socket: OwnedFd,
    /// Supervisors of jobs that have not come yet.
    next: Next,
    /// The host's process, once it has been handed over.
    host: Option<OwnedFd>,
    /// A handle of this process.
    own: OwnedFd,
    /// Jobs by their supervisor.
    supervisors: HashMap<i32, u64>,
    /// Processes that are neither supervisors nor left by one.
    others: Vec<i32>,
    /// Jobs whose supervisor was killed, and whose processes may remain.
    left: Vec<u64>,
}

/// Takes part in no session, keeps nothing open that it was not given, and serves the host until that is gone.
pub(crate) fn run() -> ! {
    // A copy of a process with several threads is not whole.
    if sys::threads() != 1 {
        sys::leave(1);
    }
    sys::close_inherited();
    lower_descriptor_limit();
    let code = match prepare() {
        Ok((mut spawner, children)) => {
            spawner.serve(&children);
            0
        }
        Err(_) => 1,
    };
    sys::leave(code)
}

/// Sets the soft limit of open files that the host passed as the second argument: that of commands.
fn lower_descriptor_limit() {
    let given = std::env::args().nth(2).and_then(|number| number.parse().ok());
    if let Some(current) = given {
        let maximum = getrlimit(Resource::Nofile).maximum;
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum });
    }
}

fn prepare() -> rustix::io::Result<(Spawner, OwnedFd)> {
    // The socket is moved, so that the three standard streams stay occupied.
    let given = sys::take_standard_input();
    let socket = rustix::io::fcntl_dupfd_cloexec(&given, 3)?;
    let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    // Its place is taken by another file now, which stays open.
    std::mem::forget(given);
    drop(null);
    let _ = setsid();
    let _ = rustix::process::chdir("/");
    let _ = rustix::thread::set_name(c"toolkit-spawner");
    sys::reset_signals();
    sys::ignore_write_signals();
    set_child_subreaper(Some(getpid()))?;
    let children = sys::children_ended()
        .map_err(|error| rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO))?;
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    let spawner = Spawner {
        socket,
        next: Next::default(),
        host: None,
        own,
        supervisors: HashMap::new(),
        others: Vec::new(),
        left: Vec::new(),
    };
    Ok((spawner, children))
}

impl Spawner {
    fn serve(&mut self, children: &OwnedFd) {
        let mut wait = Duration::MAX;
        loop {
            let nobody = children.as_fd();
            let host = self.host.as_ref().map_or(nobody, OwnedFd::as_fd);
            let mut watched = [
                PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(nobody, PollFlags::IN),
                PollFd::from_borrowed_fd(host, PollFlags::IN),
            ];
            let wait_for = wait.min(self.next.due());
            if poll(&mut watched, timeout(wait_for).as_ref())
                .is_err_and(|error| error != rustix::io::Errno::INTR)
            {
                break;
            }
            let [asked, ended, host_ended] = watched.map(|fd| !fd.revents().is_empty());
            if asked && !self.answer() {
                break;
            }
            if ended {
                drain(children);
            }
            if host_ended && self.host.is_some() {
                break;
            }
            if ended || wait != Duration::MAX {
                wait = if self.clean() { Duration::MAX } else { Duration::from_millis(3) };
            }
            self.make_ready();
        }
        self.end(children);
    }

    /// Handles a request of the host; `false` if the host is gone.
    fn answer(&mut self) -> bool {
        let mut packet = [0; 32];
        let Ok(mut received) = socket::receive(&self.socket, &mut packet, true) else { return false };
        let (Some((&kind, rest)), Some(given)) =
            (packet.get(..received.length).and_then(<[u8]>::split_first), received.descriptors.pop())
        else {
            return received.length > 0;
        };
        let mut reader = Reader::new(rest);
        let number = reader.number().unwrap_or(0);
        if kind == ask::HELLO {
            self.host = Some(given);
            return true;
        }
        if kind == ask::JOB {
            // A supervisor that was killed does not receive it.
            let waiting = self.next.take(reader.signed().unwrap_or(0));
            if let Some(waiting) = waiting.filter(|waiting| waiting.give(given.as_fd())) {
                self.others.retain(|&pid| pid != waiting.pid);
                self.supervisors.insert(waiting.pid, number);
                return true;
            }
        }
        match sys::fork() {
            Ok(Forked::Parent(pid)) => {
                if kind == ask::JOB {
                    self.supervisors.insert(pid.as_raw_nonzero().get(), number);
                } else {
                    self.others.push(pid.as_raw_nonzero().get());
                }
            }
            Ok(Forked::Child) => {
                let (host, own) = self.become_another();
                match kind {
                    ask::JOB => owner::run(given, host, own),
                    ask::PROBE => trials::run(&given),
                    _ => sys::leave(1),
                }
            }
            Err(error) => {
                let message = Writer::new(to_host::FAILED)
                    .byte(crate::failure::Step::Fork as u8)
                    .signed(error.raw_os_error().unwrap_or(0))
                    .bytes(b"")
                    .finish();
                let _ = socket::send(&given, &message, &[], false);
            }
        }
        true
    }

    /// Closes, in a fork, the descriptors that only the spawner may hold, so that the fork is not taken for the spawner. Returns the
    /// handles of the host and the spawner, which it watches.
    fn become_another(&mut self) -> (Option<OwnedFd>, OwnedFd) {
        let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::CLOEXEC, rustix::fs::Mode::empty());
        let (Ok(own), Ok(null)) = (rustix::io::dup(&self.own), null) else { sys::leave(1) };
        self.socket = null;
        self.next.clear();
        (self.host.take(), own)
    }

    /// Makes supervisors for the next jobs, where that is due.
    fn make_ready(&mut self) {
        while let Some(namespaces) = self.next.turn() {
            let waiting = self.wait_for_job(namespaces);
            self.next.put(namespaces, waiting);
        }
    }

    /// A supervisor that waits for a job.
    fn wait_for_job(&mut self, namespaces: i32) -> Option<Waiting> {
        let (jobs, theirs) = socket::packets().ok()?;
        match sys::fork().ok()? {
            Forked::Parent(pid) => {
                let pid = pid.as_raw_nonzero().get();
                self.others.push(pid);
                Some(Waiting { pid, jobs })
            }
            Forked::Child => {
                drop(jobs);
                let (host, own) = self.become_another();
                owner::wait(theirs, namespaces, host, own)
            }
        }
    }

    /// Waits for ended processes, and kills the remaining processes of supervisors. Returns true if none is left.
    fn clean(&mut self) -> bool {
        // Only a malicious job stops its supervisor, which cannot end the job then. The supervisor is not woken, since it would be
        // stopped again at once. It and its processes are killed here.
        while let Some(pid) = sys::stopped() {
            if (self.supervisors.contains_key(&pid) || self.others.contains(&pid))
                && let Some(pid) = Pid::from_raw(pid)
            {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        while let Ok(Some(reaped)) = sys::reap(false) {
            self.others.retain(|&pid| pid != reaped.pid);
            self.next.ended(reaped.pid);
            if let Some(job) = self.supervisors.remove(&reaped.pid)
                && reaped.status != 0
            {
                self.left.push(job);
            }
        }
        let own = getpid().as_raw_nonzero().get();
        let mut clean = true;
        for child in tree::children(own) {
            if self.supervisors.contains_key(&child) || self.others.contains(&child) {
                continue;
            }
            clean = false;
            for pid in std::iter::once(child).chain(tree::descendants(child)) {
                tree::signal(pid, own, &[Signal::KILL]);
            }
        }
        if clean {
            for job in self.left.drain(..) {
                let message = Writer::new(to_host::CLEANED).number(job).finish();
                let _ = socket::send(&self.socket, &message, &[], true);
            }
        }
        clean
    }

    /// Waits until all supervisors have ended their jobs.
    fn end(&mut self, children: &OwnedFd) {
        self.next.clear();
        let begun = Instant::now();
        loop {
            let clean = self.clean();
            if clean && self.supervisors.is_empty() {
                return;
            }
            let late = begun.elapsed() > LAST;
            for &pid in self.supervisors.keys() {
                if (late || tree::state(pid) == Some('T'))
                    && let Some(pid) = Pid::from_raw(pid)
                {
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                }
            }
            let mut watched = [PollFd::new(children, PollFlags::IN)];
            let wait = Duration::from_millis(if clean { 50 } else { 3 });
            let _ = poll(&mut watched, timeout(wait).as_ref());
            drain(children);
        }
    }
}
