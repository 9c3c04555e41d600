//! The broker: connects sockets for the processes of a sandbox, since a filter for system calls cannot see where a socket is connected to.
//!
//! Every `connect` in the sandbox waits until the broker, which is the first process of the sandbox, has answered it. The broker copies
//! the address once, so the process cannot exchange it after the check. For a path it opens the file (`O_PATH`), decides about that very
//! file, and connects to it through `/proc/self/fd`, so the path cannot be exchanged either. It lets a process connect to:
//!
//! * a socket in the file system that a process of this sandbox has bound. If the sandbox has its own network, the kernel reports the file
//!   that each of its sockets is bound to (`SIOCUNIXFILE`). With the network of the machine it does not: then only the sandbox's own
//!   `/tmp`, `/var/tmp` and `/dev/shm` count, which contain no sockets of others;
//! * an abstract socket, if the sandbox has its own network or Landlock restricts the broker to sockets of the sandbox;
//! * an address that is not a local socket: access to the network is restricted elsewhere.
//!
//! Local datagram sockets, which can send to an address without `connect`, are refused by the filter.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use rustix::net::AddressFamily;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::Plan;
use crate::sys::{self, Forked, Notification};

/// The longest address that the kernel takes (`struct sockaddr_storage`).
const LONGEST_ADDRESS: usize = 128;
/// Maximum number of remembered files that sockets of the sandbox are bound to.
const MAX_KNOWN: usize = 64;
/// Maximum number of remembered sockets whose process was interrupted before it received an answer.
const MAX_UNHEARD: usize = 1024;
/// Up to which number descriptors are tried where they are not listed.
const MAX_GUESSED: i32 = 256;
/// Exit code of a helper that has connected for a call which no longer waits.
const UNHEARD: i32 = 3;

/// Answers the calls of one sandbox.
pub(crate) struct Broker {
    listener: OwnedFd,
    /// True if the sandbox has its own network.
    own_network: bool,
    /// True if abstract sockets outside the sandbox cannot be reached.
    abstract_names: bool,
    /// The mounts in which only the sandbox has sockets, by their ids.
    own_mounts: Vec<u64>,
    /// Files that a socket of the sandbox is bound to. They are held open, so that their numbers stay theirs; a file is bound to once.
    known: HashMap<(u64, u64), OwnedFd>,
    /// Processes that wait for a connection, and the number of the socket that each connects.
    helpers: HashMap<i32, u64>,
    /// Sockets that were connected, or are about to be, for a call that was interrupted. A repeated call gets that result.
    unheard: HashSet<u64>,
}

/// The socket and the address of a `connect` call.
struct Wanted {
    socket: OwnedFd,
    /// The number of the socket.
    number: u64,
    address: Vec<u8>,
    /// Held open while `address` names it.
    _file: Option<OwnedFd>,
}

impl Broker {
    pub(crate) fn new(listener: OwnedFd, plan: &Plan, abstract_names: bool) -> Self {
        let own_network = plan.has_loopback();
        let given = plan.tmp.as_deref();
        // A directory given as `/tmp` belongs to the sandbox, unless it is the shared `/tmp`.
        let is_shared = given.is_some_and(|tmp| plan.private.iter().any(|private| private == tmp));
        let private = plan.private.iter().filter(|_| !is_shared).map(PathBuf::as_path);
        let own_mounts =
            private.chain([Path::new("/dev/shm")]).filter_map(|path| mount_of_path(path).ok()).collect();
        Self {
            listener,
            own_network,
            abstract_names,
            own_mounts,
            known: HashMap::new(),
            helpers: HashMap::new(),
            unheard: HashSet::new(),
        }
    }

    pub(crate) fn listener(&self) -> &OwnedFd {
        &self.listener
    }

    /// Answers one call. A call that blocks gets a process that waits for it.
    pub(crate) fn serve(&mut self) {
        let Ok(notification) = sys::next_notification(self.listener.as_fd()) else { return };
        let wanted = match self.look_at(&notification) {
            Ok(wanted) => wanted,
            Err(error) => {
                let _ = sys::answer(self.listener.as_fd(), &notification, Err(error));
                return;
            }
        };
        let is_blocking =
            rustix::fs::fcntl_getfl(&wanted.socket).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK));
        if is_blocking {
            self.connect_elsewhere(&notification, &wanted);
        } else if self.connect(&notification, &wanted) == UNHEARD {
            self.remember(wanted.number);
        }
    }

    /// Records that a child of the first process has ended.
    pub(crate) fn ended(&mut self, pid: i32, status: i32) {
        if let Some(socket) = self.helpers.remove(&pid)
            && status == UNHEARD << 8
        {
            self.remember(socket);
        }
    }

    fn remember(&mut self, socket: u64) {
        if self.unheard.len() >= MAX_UNHEARD {
            self.unheard.clear();
        }
        self.unheard.insert(socket);
    }

    fn connect_elsewhere(&mut self, notification: &Notification, wanted: &Wanted) {
        match sys::fork() {
            Ok(Forked::Child) => sys::leave(self.connect(notification, wanted)),
            Ok(Forked::Parent(pid)) => {
                self.helpers.insert(pid.as_raw_nonzero().get(), wanted.number);
                self.unheard.remove(&wanted.number);
            }
            Err(_) => {
                let _ = sys::answer(self.listener.as_fd(), notification, Err(Errno::AGAIN));
            }
        }
    }

    /// Connects, and answers. The status of a helper that has done so.
    fn connect(&mut self, notification: &Notification, wanted: &Wanted) -> i32 {
        let is_again = self.unheard.remove(&wanted.number);
        let result = match sys::connect(wanted.socket.as_fd(), &wanted.address) {
            Err(Errno::ISCONN) if is_again => Ok(()),
            Err(Errno::ALREADY) if is_again => Err(Errno::INPROGRESS),
            result => result,
        };
        let is_done = matches!(result, Ok(()) | Err(Errno::INPROGRESS));
        match sys::answer(self.listener.as_fd(), notification, result) {
            Err(_) if is_done => UNHEARD,
            _ => 0,
        }
    }

    /// Examines a `connect` call, and decides whether it is allowed.
    fn look_at(&mut self, notification: &Notification) -> Result<Wanted, Errno> {
        let [fd, address, length, ..] = notification.arguments;
        let fd = i32::try_from(fd & 0xffff_ffff).map_err(|_| Errno::BADF)?;
        let length = usize::try_from(length & 0xffff_ffff).unwrap_or(usize::MAX);
        if length > LONGEST_ADDRESS {
            return Err(Errno::INVAL);
        }
        let thread = notification.thread;
        let socket = socket_of(thread, fd)?;
        let mut bytes = vec![0; length];
        sys::read_memory(thread, address, &mut bytes).map_err(|_| Errno::FAULT)?;
        if !sys::still_waits(self.listener.as_fd(), notification) {
            return Err(Errno::INTR);
        }
        let domain = rustix::net::sockopt::socket_domain(&socket)?;
        let number = rustix::fs::fstat(&socket)?.st_ino;
        let family = bytes.first_chunk::<2>().map(|family| u16::from_ne_bytes(*family));
        let is_local = domain == AddressFamily::UNIX && family == Some(AddressFamily::UNIX.as_raw());
        if !is_local || length == 2 {
            return Ok(Wanted { socket, number, address: bytes, _file: None });
        }
        if bytes[2] == 0 {
            return if self.own_network || self.abstract_names {
                Ok(Wanted { socket, number, address: bytes, _file: None })
            } else {
                Err(Errno::PERM)
            };
        }
        let path = bytes[2..].split(|&byte| byte == 0).next().unwrap_or_default();
        let file = self.file(thread, Path::new(std::ffi::OsStr::from_bytes(path)))?;
        let mut address = bytes[..2].to_vec();
        address.extend_from_slice(format!("/proc/self/fd/{}\0", file.as_raw_fd()).as_bytes());
        Ok(Wanted { socket, number, address, _file: Some(file) })
    }

    /// Opens the socket at a path, as the thread sees it, if it belongs to the sandbox.
    fn file(&mut self, thread: i32, path: &Path) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let directory = if path.is_absolute() { "/".to_owned() } else { format!("/proc/{thread}/cwd") };
        let directory = rustix::fs::open(directory, flags | OFlags::DIRECTORY, Mode::empty())?;
        // Here these names would refer to the broker.
        let of_thread =
            ["/proc/self", "/proc/thread-self"].iter().find_map(|own| path.strip_prefix(own).ok());
        let path = of_thread
            .map_or_else(|| path.to_owned(), |rest| Path::new("/proc").join(thread.to_string()).join(rest));
        let file = rustix::fs::openat(&directory, &path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
            return Err(Errno::CONNREFUSED);
        }
        let identity = (stat.st_dev, stat.st_ino);
        if self.known.contains_key(&identity) {
            return Ok(file);
        }
        let is_own = if self.own_network {
            is_bound_here(identity)
        } else {
            mount_of(&file).is_ok_and(|mount| self.own_mounts.contains(&mount))
        };
        if !is_own {
            return Err(Errno::ACCESS);
        }
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        if let Ok(held) = rustix::io::fcntl_dupfd_cloexec(&file, 3) {
            self.known.insert(identity, held);
        }
        Ok(file)
    }
}

/// A copy of the socket that a thread has open as `fd`.
fn socket_of(thread: i32, fd: i32) -> Result<OwnedFd, Errno> {
    /// A handle of the thread itself, from Linux 6.9 on.
    const PIDFD_THREAD: u32 = libc::O_EXCL.cast_unsigned();
    let id = Pid::from_raw(thread).ok_or(Errno::SRCH)?;
    let handle = pidfd_open(id, PidfdFlags::from_bits_retain(PIDFD_THREAD)).or_else(|_| {
        let process = process_of(thread).and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        pidfd_open(process, PidfdFlags::empty())
    })?;
    pidfd_getfd(&handle, fd, PidfdGetfdFlags::empty())
}

/// Returns the process of a thread.
fn process_of(thread: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

fn mount_of(file: &OwnedFd) -> Result<u64, Errno> {
    let found = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
    // Not available before Linux 5.8.
    if found.stx_mask & StatxFlags::MNT_ID.bits() == 0 { Err(Errno::NOSYS) } else { Ok(found.stx_mnt_id) }
}

fn mount_of_path(path: &Path) -> Result<u64, Errno> {
    mount_of(&rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Returns true if a process of this sandbox holds a socket that is bound to this file, of which the caller has a descriptor. Only for a
/// network of the sandbox's own.
fn is_bound_here(identity: (u64, u64)) -> bool {
    let Ok(sockets) = std::fs::read("/proc/net/unix") else { return false };
    let numbers: HashSet<String> =
        sockets.split(|&byte| byte == b'\n').skip(1).filter_map(listening).collect();
    if numbers.is_empty() {
        return false;
    }
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_bound = |socket: OwnedFd| {
        let stat = sys::bound_file(socket.as_fd()).ok().and_then(|file| rustix::fs::fstat(file).ok());
        stat.is_some_and(|stat| (stat.st_dev, stat.st_ino) == identity)
    };
    processes.any(|process| match listed_sockets(process, &numbers) {
        Some(listed) => listed.into_iter().any(|fd| socket_of(process, fd).is_ok_and(is_bound)),
        // A process that cannot be examined, such as an agent that holds keys.
        None => (0..MAX_GUESSED).any(|fd| {
            let socket = socket_of(process, fd).ok();
            let is_candidate = |socket: &OwnedFd| {
                rustix::fs::fstat(socket).is_ok_and(|stat| numbers.contains(&stat.st_ino.to_string()))
            };
            socket.filter(is_candidate).is_some_and(is_bound)
        }),
    })
}

/// Returns the descriptors of a process that refer to one of these sockets. `None` if they cannot be listed.
fn listed_sockets(process: i32, numbers: &HashSet<String>) -> Option<Vec<i32>> {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let is_one = |target: PathBuf| {
        let name = target.to_str().and_then(|target| target.strip_prefix("socket:[")?.strip_suffix(']'));
        name.is_some_and(|number| numbers.contains(number))
    };
    let listed = open.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(is_one));
    Some(listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// The number of a listening socket with a path, of its line in `/proc/net/unix`.
fn listening(line: &[u8]) -> Option<String> {
    /// `__SO_ACCEPTCON`.
    const ACCEPTS: u32 = 1 << 16;
    let line = String::from_utf8_lossy(line);
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let flags = u32::from_str_radix(fields.get(3)?, 16).ok()?;
    let has_path = fields.get(7).is_some_and(|path| !path.starts_with('@'));
    (flags & ACCEPTS != 0 && has_path).then(|| (*fields[6]).to_owned())
}
