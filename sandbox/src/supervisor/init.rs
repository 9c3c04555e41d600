//! The first process of a sandbox with its own process ids.
//!
//! It lives as long as any other process, adopts and waits for orphans, and reports to the supervisor how the command ended. The command
//! cannot affect it: the first process of a namespace receives no signal from within that it does not handle, it has capabilities that the
//! other processes lack, and its descriptors are inaccessible to them. When it ends, the system kills all remaining processes.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use super::child::{Child, ordered, report};
use super::polling::drain;
use crate::failure::{Failure, Step};
use crate::inside::broker::Broker;
use crate::inside::{self, capabilities, loopback, most, mounts};
use crate::wire::Writer;
use crate::{socket, sys};

/// Runs in the process created in these new namespaces (`CLONE_NEW…`): waits for its order, arranges the mounts, then starts the command,
/// or becomes it if the process is not the first of a PID namespace.
pub(crate) fn run(namespaces: i32, errors: OwnedFd, report: OwnedFd) -> ! {
    let mut child = wait(namespaces, errors, report);
    most::prefer_to_kill();
    if namespaces & libc::CLONE_NEWPID != 0
        && let Some(count) = child.run.limits.processes
    {
        most::limit_processes(count);
    }
    if namespaces & libc::CLONE_NEWIPC != 0
        && let Some(bytes) = child.run.limits.memory
    {
        most::limit_shared_memory(bytes);
    }
    match prepare(&child) {
        Ok(true) => {}
        Ok(false) => child.run(),
        Err(failure) => {
            let _ = rustix::io::write(&child.errors, &failure.write());
            sys::leave(127);
        }
    }
    // Dropping capabilities must not make this process accessible to the command: it becomes non-dumpable before any other process exists.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let brokers = brokers(&mut child);
    // When this returns, the program has started, or has failed to.
    let command = match sys::borrow(|| child.run()) {
        Ok(pid) => pid.as_raw_nonzero().get(),
        Err(error) => {
            let _ = rustix::io::write(&child.errors, &Failure::io(Step::Fork, &error).write());
            sys::leave(127);
        }
    };
    let Child { report: socket, plan, .. } = child;
    let broker = brokers.and_then(|(place, abstract_names)| {
        let listener = socket::receive(&place, &mut [0; 1], false).ok()?.descriptors.pop()?;
        let plan = plan.as_ref()?;
        Some(Broker::new(listener, plan, abstract_names))
    });
    // All other descriptors would be held open as long as anything runs: the supervisor detects by their closing that the program has
    // started.
    let kept: Vec<&OwnedFd> = [&socket].into_iter().chain(broker.as_ref().map(Broker::listener)).collect();
    sys::close_but(&kept);
    let broker = broker.filter(|_| capabilities::keep_for_broker().is_ok());
    stay(command, &socket, broker)
}

/// Prepares this process to connect sockets for the command. Returns the descriptor for the calls, and true if abstract sockets of others
/// are blocked.
fn brokers(child: &mut Child) -> Option<(OwnedFd, bool)> {
    let plan = child.plan.as_ref().filter(|plan| plan.has_filter())?;
    let (ours, theirs) = socket::packets().ok()?;
    // The same mechanism blocks them for the command, in nested rules.
    let abstract_names = plan.scope_abstract_sockets();
    child.broker = Some(theirs);
    Some((ours, abstract_names))
}

/// Waits for the order, which may take until there is a job. The order contains everything that is needed; before it, the process has only
/// the socket open.
fn wait(namespaces: i32, errors: OwnedFd, report: OwnedFd) -> Child {
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        let _ = rustix::io::write(&errors, &Failure::new(Step::Prepare, error).write());
        sys::leave(127);
    }
    sys::close_but(&[&errors, &report]);
    inside::prepare_filters();
    if namespaces & libc::CLONE_NEWNET != 0 {
        // If the loopback stays down, nothing is reachable either: fewer programs work, but no restriction is weaker.
        let _ = loopback::up();
    }
    // An error is reported later, when there is a job to report it to.
    let _ = capabilities::drop_bounds();
    // A supervisor that has exited sends nothing.
    let mut go = [0; 2];
    let received = match socket::receive(&report, &mut go, true) {
        Ok(received) if received.length == 2 && go[0] == report::GO => received,
        _ => sys::leave(127),
    };
    ordered(received, go[1], errors, report).unwrap_or_else(|| sys::leave(127))
}

/// Prepares the mounts, and returns true if this process is to stay as the first one.
fn prepare(child: &Child) -> Result<bool, Failure> {
    let Some(plan) = &child.plan else { return Ok(false) };
    sys::own_mounts().map_err(|error| Failure::io(Step::Namespaces, &error))?;
    mounts::arrange(plan)?;
    let _ = rustix::thread::set_name(c"toolkit-init");
    Ok(plan.has_init())
}

/// Waits for everything that ends, and connects sockets, until nothing is left.
fn stay(command: i32, socket: &OwnedFd, mut broker: Option<Broker>) -> ! {
    let Ok(children) = sys::children_ended() else { sys::leave(127) };
    loop {
        match sys::reap(false) {
            Ok(Some(reaped)) if reaped.pid == command => {
                let message = Writer::new(report::EXIT)
                    .signed(reaped.status)
                    .duration(reaped.user)
                    .duration(reaped.system)
                    .number(reaped.peak)
                    .finish();
                // Packets need no length prefix.
                let _ = socket::send(socket, &message[4..], &[], true);
            }
            Ok(Some(reaped)) => {
                if let Some(broker) = &mut broker {
                    broker.ended(reaped.pid, reaped.status);
                }
            }
            Ok(None) => wait_for_more(&children, &mut broker),
            Err(_) => sys::leave(0),
        }
    }
}

/// Waits until a child has ended, or until there is a socket to connect, which it connects.
fn wait_for_more(children: &OwnedFd, broker: &mut Option<Broker>) {
    let listener = broker.as_ref().map_or(children, Broker::listener);
    let mut watched = [PollFd::new(children, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
    let _ = poll(&mut watched, None);
    let [ended, called] = watched.map(|fd| fd.revents());
    if ended.contains(PollFlags::IN) {
        drain(children);
    }
    if called.contains(PollFlags::IN) {
        if let Some(broker) = broker {
            broker.serve();
        }
    } else if !called.is_empty() {
        // No process is left that could call.
        *broker = None;
    }
}
