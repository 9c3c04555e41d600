//! The first process in a sandbox that has process ids of its own.
//!
//! It stays as long as any other does, adopts and waits for what loses its parent, and tells the supervisor how the command ended. The
//! command can't touch it: the first process of a namespace takes no signal from within that it does not handle, it has capabilities
//! that those within don't have, and what it has open is closed to them. When it ends, the system kills all that is left.

use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use super::mounts;
use crate::socket;
use crate::supervisor::child::{Child, Failure, Step, report};
use crate::sys::{self, Forked};
use crate::wire::Writer;

/// In the process that was made in new namespaces: arranges what is mounted, then starts the command, or becomes it where it is not
/// the first of its process ids.
pub(crate) fn run(child: Child) -> ! {
    match prepare(&child) {
        Ok(true) => {}
        Ok(false) => child.run(),
        Err(failure) => {
            let _ = rustix::io::write(&child.errors, &failure.write());
            sys::leave(127);
        }
    }
    let command = match sys::fork() {
        Ok(Forked::Child) => child.run(),
        Ok(Forked::Parent(pid)) => pid.as_raw_nonzero().get(),
        Err(error) => {
            let _ = rustix::io::write(&child.errors, &Failure::io(Step::Fork, &error).write());
            sys::leave(127);
        }
    };
    let socket = child.report;
    // All else would be held open as long as anything runs: that the program has begun is seen by what it closes.
    sys::close_but(&socket);
    // Giving up what it has no use for any more must not make it look like the command to those within: it stays without a dump.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    stay(command, &socket)
}

/// Whether this process is to stay as the first.
fn prepare(child: &Child) -> Result<bool, Failure> {
    let Some(plan) = &child.plan else { return Ok(false) };
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Failure::new(Step::Prepare, error))?;
    // Who the process is here is told from outside; a supervisor that is gone meanwhile says nothing.
    let mut go = [0; 1];
    match socket::receive(&child.report, &mut go, true) {
        Ok(received) if received.length == 1 && go[0] == report::GO => {}
        _ => sys::leave(127),
    }
    mounts::arrange(plan)?;
    let _ = rustix::thread::set_name(c"toolkit-init");
    Ok(plan.has_init())
}

/// Waits for everything that ends, until nothing is left.
fn stay(command: i32, socket: &std::os::fd::OwnedFd) -> ! {
    while let Ok(Some(reaped)) = sys::reap(true) {
        if reaped.pid == command {
            let message = Writer::new(report::EXIT)
                .signed(reaped.status)
                .duration(reaped.user)
                .duration(reaped.system)
                .number(reaped.peak)
                .finish();
            // The length before it is not needed between packets.
            let _ = socket::send(socket, &message[4..], &[], true);
        }
    }
    sys::leave(0)
}
