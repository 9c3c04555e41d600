//! The first process in a sandbox that has process ids of its own.
//!
//! It stays as long as any other does, adopts and waits for what loses its parent, and tells the supervisor how the command ended. The
//! command can't touch it: the first process of a namespace takes no signal from within that it does not handle, it has capabilities
//! that those within don't have, and what it has open is closed to them. When it ends, the system kills all that is left.

use std::os::fd::OwnedFd;

use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use super::{capabilities, loopback, mounts, seccomp};
use crate::socket;
use crate::supervisor::child::{Child, Failure, Step, ordered, report};
use crate::sys;
use crate::wire::Writer;

/// In the process that was made in these new namespaces (`CLONE_NEW…`): waits to be told what to do, arranges what is mounted, then starts the command, or
/// becomes it where it is not the first of its process ids.
pub(crate) fn run(namespaces: i32, errors: OwnedFd, report: OwnedFd) -> ! {
    let child = wait(namespaces, errors, report);
    match prepare(&child) {
        Ok(true) => {}
        Ok(false) => child.run(),
        Err(failure) => {
            let _ = rustix::io::write(&child.errors, &failure.write());
            sys::leave(127);
        }
    }
    // Giving up what it has no use for any more must not make it look like the command to those within: it stays without a dump, from
    // before there is anyone to look.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // When that comes back the program has begun, or has failed to.
    let command = match sys::borrow(|| child.run()) {
        Ok(pid) => pid.as_raw_nonzero().get(),
        Err(error) => {
            let _ = rustix::io::write(&child.errors, &Failure::io(Step::Fork, &error).write());
            sys::leave(127);
        }
    };
    let socket = child.report;
    // All else would be held open as long as anything runs: that the program has begun is seen by what it closes.
    sys::close_but(&[&socket]);
    stay(command, &socket)
}

/// Until it is told, which may take as long as there is no job for it. It is told with all that it needs; before, it has nothing open
/// but what it is told by.
fn wait(namespaces: i32, errors: OwnedFd, report: OwnedFd) -> Child {
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        let _ = rustix::io::write(&errors, &Failure::new(Step::Prepare, error).write());
        sys::leave(127);
    }
    sys::close_but(&[&errors, &report]);
    seccomp::prepare();
    if namespaces & libc::CLONE_NEWNET != 0 {
        // Where it stays down, it reaches nothing either: less works, and nothing holds less.
        let _ = loopback::up();
    }
    // What fails now is told of when there is somebody to tell.
    let _ = capabilities::drop_bounds();
    // A supervisor that is gone meanwhile says nothing.
    let mut go = [0; 2];
    let received = match socket::receive(&report, &mut go, true) {
        Ok(received) if received.length == 2 && go[0] == report::GO => received,
        _ => sys::leave(127),
    };
    ordered(received, go[1], errors, report).unwrap_or_else(|| sys::leave(127))
}

/// Whether this process is to stay as the first.
fn prepare(child: &Child) -> Result<bool, Failure> {
    let Some(plan) = &child.plan else { return Ok(false) };
    sys::own_mounts().map_err(|error| Failure::io(Step::Namespaces, &error))?;
    mounts::arrange(plan)?;
    let _ = rustix::thread::set_name(c"toolkit-init");
    Ok(plan.has_init())
}

/// Waits for everything that ends, until nothing is left.
fn stay(command: i32, socket: &OwnedFd) -> ! {
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
