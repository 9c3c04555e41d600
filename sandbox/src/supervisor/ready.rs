//! Preparation for a sandboxed job before the job is known: its first process, in its own namespaces.

use std::io::{Seek as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::child::report;
use super::init;
use crate::failure::{Failure, Step};
use crate::inside::{Plan, identity};
use crate::socket;
use crate::sys::{self, Forked};
use crate::wire::{Run, Writer};

/// A process that waits for its order. It ends with the process that created it.
pub(super) struct Ready {
    pub(super) pid: Pid,
    /// Its namespaces; it creates the mount namespace only on receiving its order, so as not to miss mounts made
    /// meanwhile.
    namespaces: i32,
    /// Socket on which the process reports its progress.
    pub(super) reports: OwnedFd,
    /// Pipe on which the process reports a failure; closed without data if there was none.
    pub(super) errors: OwnedFd,
}

fn failed(error: Errno) -> Failure {
    Failure::new(Step::Prepare, error)
}

/// Returns true if this child of this process has not ended.
pub(super) fn lives(pid: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid), look).is_ok_and(|ended| ended.is_none())
}

impl Ready {
    /// Makes it, in these namespaces.
    pub(super) fn make(namespaces: i32) -> Result<Self, Failure> {
        let (reports, report_end) = socket::packets().map_err(failed)?;
        rustix::net::sockopt::set_socket_passcred(&reports, true).map_err(failed)?;
        let (errors, errors_end) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        let forked = sys::clone(namespaces & !libc::CLONE_NEWNS);
        let pid = match forked.map_err(|error| Failure::io(Step::Namespaces, &error))? {
            Forked::Child => init::run(namespaces, errors_end, report_end),
            Forked::Parent(pid) => pid,
        };
        let ready = Self { pid, namespaces, reports, errors };
        match identity::write(pid.as_raw_nonzero().get()) {
            Ok(()) => Ok(ready),
            Err(failure) => {
                ready.end();
                Err(failure)
            }
        }
    }

    /// Returns this process, if it lives and is in these namespaces; otherwise creates another.
    pub(super) fn or_make(ready: Option<Self>, namespaces: i32) -> Result<Self, Failure> {
        match ready {
            Some(ready) if ready.namespaces == namespaces && lives(ready.pid) => Ok(ready),
            other => {
                if let Some(other) = other {
                    other.end();
                }
                Self::make(namespaces)
            }
        }
    }

    /// Ends it, and waits for that.
    pub(super) fn end(self) {
        let _ = kill_process(self.pid, Signal::KILL);
        let _ = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED);
    }

    /// Sends the order.
    pub(super) fn begin(
        &self,
        run: &Run,
        plan: &Plan,
        streams: &[&Option<OwnedFd>; 3],
        beside: &[OwnedFd],
    ) -> Result<(), Failure> {
        let order = memfd_create(c"toolkit-order", MemfdFlags::CLOEXEC).map_err(failed)?;
        let mut order = std::fs::File::from(order);
        let given = streams.iter().fold(0, |bits, stream| bits << 1 | u8::from(stream.is_some()));
        let written = plan.write(Writer::new(report::GO).bytes(&run.write())).finish();
        order
            .write_all(&written)
            .and_then(|()| order.rewind())
            .map_err(|error| Failure::io(Step::Prepare, &error))?;
        let descriptors: Vec<BorrowedFd<'_>> = streams
            .iter()
            .filter_map(|stream| stream.as_ref())
            .chain(beside)
            .map(OwnedFd::as_fd)
            .chain([order.as_fd()])
            .collect();
        // An ended process is detected by the closing of its descriptors.
        let _ = socket::send(&self.reports, &[report::GO, given], &descriptors, true);
        Ok(())
    }
}
