//! The beginning of a supervisor: with its job, or before it.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::process::{getpid, set_child_subreaper, setsid};

use super::Owner;
use crate::failure::Failure;
use crate::pump::Pump;
use crate::supervisor::launch;
use crate::supervisor::ready::Ready;
use crate::supervisor::usage::Usage;
use crate::wire::{self, Incoming, Reader, Run, Writer, to_host, to_supervisor};
use crate::{socket, sys};

/// Runs the command that the host describes at the other end of `socket`, and owns its processes until none is left.
pub(in crate::supervisor) fn run(socket: OwnedFd, host: Option<OwnedFd>, spawner: OwnedFd) -> ! {
    match prepare() {
        Ok(children) => serve(socket, host, spawner, children, None),
        Err(_) => sys::leave(0),
    }
}

/// Prepares for a job with these namespaces (none of them, if zero), and waits until one arrives on `jobs`. Exits if the other end
/// of that is closed first.
pub(in crate::supervisor) fn wait(
    jobs: OwnedFd,
    namespaces: i32,
    host: Option<OwnedFd>,
    spawner: OwnedFd,
) -> ! {
    let Ok(children) = prepare() else { sys::leave(0) };
    // If the preparation fails, it is repeated for the job, which receives the error.
    let ready = if namespaces == 0 { None } else { Ready::make(namespaces).ok() };
    let given =
        socket::receive(&jobs, &mut [0; 1], true).ok().and_then(|mut received| received.descriptors.pop());
    drop(jobs);
    match given {
        Some(socket) => serve(socket, host, spawner, children, ready),
        None => {
            if let Some(ready) = ready {
                ready.end();
            }
            sys::leave(0)
        }
    }
}

/// Makes this process adopt orphans, and receive notifications of ended children.
fn prepare() -> std::io::Result<OwnedFd> {
    let _ = setsid();
    let _ = rustix::thread::set_name(c"toolkit-job");
    set_child_subreaper(Some(getpid()))?;
    sys::children_ended()
}

fn serve(
    socket: OwnedFd,
    host: Option<OwnedFd>,
    spawner: OwnedFd,
    children: OwnedFd,
    ready: Option<Ready>,
) -> ! {
    let code = match start(socket, host, spawner, children, ready) {
        Ok(mut owner) => {
            owner.serve();
            owner.finish();
            0
        }
        Err(()) => 0,
    };
    sys::leave(code)
}

/// Waits for the description of the command, starts it, and reports the result to the host.
fn start(
    socket: OwnedFd,
    host: Option<OwnedFd>,
    spawner: OwnedFd,
    children: OwnedFd,
    ready: Option<Ready>,
) -> Result<Owner, ()> {
    let mut incoming = Incoming::default();
    let mut given = Vec::new();
    // Most need no more; a longer one is read in turns.
    let mut buffer = [0; 8 << 10];
    let message = loop {
        if let Some(message) = incoming.next()? {
            break message;
        }
        let received = socket::receive(&socket, &mut buffer, true).map_err(drop)?;
        if received.length == 0 {
            return Err(());
        }
        incoming.push(&buffer[..received.length]);
        given.extend(received.descriptors);
    };
    let mut reader = Reader::new(&message);
    let run =
        (reader.byte() == Some(to_supervisor::RUN)).then(|| Run::read(&mut reader)).flatten().ok_or(())?;
    let tell = |failure: &Failure| {
        let message = Writer::new(to_host::FAILED)
            .byte(failure.step as u8)
            .signed(failure.error)
            .bytes(&failure.detail)
            .finish();
        let _ = socket::send(&socket, &message, &[], true);
    };
    let launched = match launch::launch(run, given, ready, &socket, host.as_ref()) {
        Ok(launched) => launched,
        Err(failure) => {
            if let Some(failure) = failure {
                tell(&failure);
            }
            return Err(());
        }
    };
    let mut message = Writer::new(to_host::STARTED).number(u64::from(launched.command.cast_unsigned()));
    message = wire::containment(message, &launched.containment);
    let master: Vec<BorrowedFd<'_>> = launched.master.iter().map(|master| master.as_fd()).collect();
    let message = message.finish();
    let sent = socket::send(&socket, &message, &master, true).unwrap_or(0);
    drop(master);
    let pump = match (launched.output, launched.master) {
        (Some(pipe), _) => Some(Pump::new(pipe, launched.kept, launched.limits.output)),
        (None, Some(master)) => Some(Pump::new(master, launched.kept, launched.limits.output)),
        (None, None) => None,
    };
    Ok(Owner {
        socket,
        incoming,
        outgoing: message[sent..].to_vec(),
        alone: false,
        host,
        spawner,
        children,
        report: launched.init.map(|_| launched.report),
        pump,
        identity: launched.identity,
        slave: launched.slave,
        command: launched.command,
        init: launched.init,
        started: launched.started,
        exited: false,
        empty: false,
        ending: None,
        waits: Vec::new(),
        told: (Instant::now(), 0, false),
        plan: launched.plan,
        exceeded: None,
        usage: Usage::new(launched.limits),
        cgroup: launched.cgroup,
        sweeper: launched.sweeper,
    })
}
