//! The running spawner of this process, started on first use and again after it was killed.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open};

use super::control::Control;
use super::thread::Heard;
use crate::socket;
use crate::supervisor::spawner::ask;
use crate::supervisor::{NAME, TOKEN};
use crate::tree;
use crate::wire::{Incoming, Reader, to_host};

/// The spawner at work, if there is one.
static RUNNING: Mutex<Option<Arc<Spawner>>> = Mutex::new(None);

struct Spawner {
    socket: Arc<OwnedFd>,
    process: Mutex<Child>,
    jobs: Mutex<HashMap<u64, Weak<Control>>>,
}

/// Requests the spawner to serve the socket of a job; starts a spawner if there is none.
///
/// `namespaces` are the namespaces of the job.
pub(crate) fn job(
    number: u64,
    namespaces: i32,
    control: &Arc<Control>,
    socket: BorrowedFd<'_>,
) -> io::Result<()> {
    request(ask::JOB, number, namespaces, Some(control), socket)
}

/// Requests the spawner to send the features of the system to this socket.
pub(crate) fn probe(socket: BorrowedFd<'_>) -> io::Result<()> {
    request(ask::PROBE, 0, 0, None, socket)
}

fn request(
    kind: u8,
    number: u64,
    namespaces: i32,
    control: Option<&Arc<Control>>,
    socket: BorrowedFd<'_>,
) -> io::Result<()> {
    let mut packet = vec![kind];
    packet.extend_from_slice(&number.to_le_bytes());
    packet.extend_from_slice(&u64::from(namespaces.cast_unsigned()).to_le_bytes());
    let mut again = true;
    loop {
        let spawner = running()?;
        if let Some(control) = control {
            spawner.jobs().insert(number, Arc::downgrade(control));
        }
        match socket::send(&*spawner.socket, &packet, &[socket], true) {
            Ok(_) => return Ok(()),
            // It was killed since it was last used.
            Err(_) if again => {
                again = false;
                forget(&spawner);
            }
            Err(error) => {
                let hint = "is `init` the first thing in its `main`, before any thread is started?";
                return Err(io::Error::new(
                    io::Error::from(error).kind(),
                    format!("it ended at once ({error}); {hint}"),
                ));
            }
        }
    }
}

fn running() -> io::Result<Arc<Spawner>> {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(spawner) = &*running {
        return Ok(Arc::clone(spawner));
    }
    let hearing = super::hearing()?;
    let program = super::program().ok_or(io::ErrorKind::NotFound)?;
    let (ours, theirs) = socket::packets()?;
    let mut command = Command::new(program);
    // Nothing of the host's environment can be read there; but where its libraries are found, they must be found again.
    command.env_clear().envs(std::env::var_os("LD_LIBRARY_PATH").map(|path| ("LD_LIBRARY_PATH", path)));
    let process = command
        .arg0(NAME)
        .arg(TOKEN)
        .args(super::descriptors::of_commands().map(|limit| limit.to_string()))
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let host = pidfd_open(getpid(), PidfdFlags::empty())?;
    socket::send(&ours, &[ask::HELLO], &[host.as_fd()], true)?;
    let spawner =
        Arc::new(Spawner { socket: Arc::new(ours), process: Mutex::new(process), jobs: Mutex::default() });
    hearing.add(hearing.number(), Arc::clone(&spawner) as Arc<dyn Heard>)?;
    *running = Some(Arc::clone(&spawner));
    Ok(spawner)
}

/// Wakes the spawner if it is stopped, and kills stopped supervisors, whose remaining processes the spawner then kills.
pub(crate) fn rouse() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(spawner) = running else { return };
    let process = spawner.process.lock().unwrap_or_else(PoisonError::into_inner);
    // The process is waited for only with this lock held, so the id cannot belong to another process.
    let Ok(pid) = i32::try_from(process.id()) else { return };
    for child in tree::children(pid) {
        if tree::state(child) == Some('T') {
            tree::signal(child, pid, &[Signal::KILL]);
        }
    }
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// Makes the next request use a new spawner.
fn forget(spawner: &Arc<Spawner>) {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if running.as_ref().is_some_and(|running| Arc::ptr_eq(running, spawner)) {
        *running = None;
    }
}

impl Spawner {
    fn jobs(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Weak<Control>>> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.len() == jobs.capacity() {
            jobs.retain(|_, control| control.strong_count() > 0);
        }
        jobs
    }
}

impl Heard for Spawner {
    fn socket(&self) -> Option<Arc<OwnedFd>> {
        Some(Arc::clone(&self.socket))
    }

    fn ready(&self) -> bool {
        let mut buffer = [0; 64];
        loop {
            match socket::receive(&*self.socket, &mut buffer, false) {
                Ok(received) if received.length > 0 => {
                    let mut incoming = Incoming::default();
                    incoming.push(&buffer[..received.length]);
                    let Ok(Some(message)) = incoming.next() else { continue };
                    let mut reader = Reader::new(&message);
                    if let (Some(to_host::CLEANED), Some(job)) = (reader.byte(), reader.number())
                        && let Some(control) = self.jobs().remove(&job).and_then(|control| control.upgrade())
                    {
                        control.cleaned();
                    }
                }
                Err(rustix::io::Errno::AGAIN) => return true,
                _ => return false,
            }
        }
    }

    fn over(&self) {
        {
            let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            if running.as_ref().is_some_and(|running| std::ptr::eq(&raw const **running, &raw const *self)) {
                *running = None;
            }
        }
        // Its end of the socket is closed, so it is exiting; one that only closed it would be waited for forever.
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
        for control in std::mem::take(&mut *self.jobs()).into_values().filter_map(|control| control.upgrade())
        {
            control.orphaned();
        }
    }
}
