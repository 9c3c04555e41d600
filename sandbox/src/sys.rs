//! System calls that no safe wrapper offers: creating processes without replacing their program, waiting for them with their resource
//! usage, and a few calls that `rustix` lacks. Nothing else in this crate is unsafe.
//!
//! `fork` and `clone` are called only in the spawner, in supervisors, and in their forks. These processes take up their role in
//! [`crate::init`], at the beginning of `main`: they have one thread, so the child has everything that the parent had, including locks
//! and the allocator, and may go on running ordinary code. The host itself never forks: it may have many threads, and each job would
//! cost in proportion to its size.
#![allow(unsafe_code)]

use std::convert::Infallible;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

use rustix::process::Pid;

/// The side of a fork that the caller is on.
pub(crate) enum Forked {
    /// The new process.
    Child,
    /// The calling process, with the id of the new one.
    Parent(Pid),
}

/// Lets this process run before ordinary ones, if the system allows it.
pub(crate) fn run_before_others() {
    schedule(libc::SCHED_RR, 1);
}

/// Takes back [`run_before_others`].
pub(crate) fn run_among_others() {
    schedule(libc::SCHED_OTHER, 0);
}

fn schedule(policy: c_int, priority: c_int) {
    // SAFETY: the structure is plain data, and zero is a value of each field.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the call reads the structure, and affects the scheduling of this process alone.
    let _ = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
}

/// The number of threads of this process, as the system counts them.
pub(crate) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// Sets the maximum number of arenas of the allocator. Only the GNU C library has such.
pub(crate) fn set_max_arenas(most: u32) {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call sets a number that the allocator reads when a thread needs an arena.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, c_int::try_from(most).unwrap_or(c_int::MAX));
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = most;
}

/// Creates a process that continues here, as a copy of this one.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: this process has one thread (see the module), so the copy is whole.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(Pid::from_raw(pid).expect("a child's id is positive"))),
    }
}

/// Like [`fork`], in new namespaces (`CLONE_NEW…`).
pub(crate) fn clone(namespaces: i32) -> io::Result<Forked> {
    debug_assert_eq!(threads(), 1, "only a process of one thread is copied whole");
    let flags = i64::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and without a stack this is a fork. The C library is not informed: its data about the single thread
    // stays unchanged, which affects nothing that is called afterwards.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(
            i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a child's id is positive and fits"),
        )),
    }
}

/// Stack size of a process that [`borrow`] creates.
const STACK: usize = 1 << 20;

/// Creates a process that shares this one's memory; this one is suspended until the new one has executed another program or has ended.
/// Changes that `act` makes in memory persist; everything else belongs to the new process, as after [`fork`]. It costs a fraction of a
/// fork, which copies memory that is soon discarded.
pub(crate) fn borrow<A: FnOnce() -> Infallible>(act: A) -> io::Result<Pid> {
    extern "C" fn begin<A: FnOnce() -> Infallible>(argument: *mut c_void) -> c_int {
        // SAFETY: it is the `Option` below, which nothing else accesses meanwhile.
        let act = unsafe { (*argument.cast::<Option<A>>()).take() };
        let _ = act.map(|act| act());
        leave(127)
    }
    debug_assert_eq!(threads(), 1, "nobody else may look at the memory");
    let mut act = Some(act);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, whose lowest page is made inaccessible so that a stack overflow ends the process.
    let stack = unsafe { libc::mmap(ptr::null_mut(), STACK, protection, kind, -1, 0) };
    if stack == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above. With CLONE_VFORK this process is suspended until the new one no longer uses the stack and the memory, so both
    // outlive that, and nothing is accessed by two at once; this process has one thread (see the module).
    let (pid, error) = unsafe {
        libc::mprotect(stack, 4096, libc::PROT_NONE);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(begin::<A>, stack.cast::<u8>().add(STACK).cast(), flags, (&raw mut act).cast());
        let error = io::Error::last_os_error();
        libc::munmap(stack, STACK);
        (pid, error)
    };
    Pid::from_raw(pid.max(0)).ok_or(error)
}

/// Ends this process at once, without destructors and exit handlers.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: it only ends the process.
    unsafe { libc::_exit(code) }
}

/// Replaces the program. Returns only where that failed.
pub(crate) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let list = |strings: &[CString]| -> Vec<*const c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
    };
    let (arguments, environment) = (list(arguments), list(environment));
    // SAFETY: both lists end in null, and the memory that they point to lives in the caller.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// Exit status and resource usage of a process, including the children that it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reaped {
    pub(crate) pid: i32,
    /// Status as returned by `waitpid`.
    pub(crate) status: i32,
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    /// Peak resident memory of the largest process, in bytes.
    pub(crate) peak: u64,
}

/// Waits for any child. `None` if none has ended and `block` is false.
///
/// # Errors
///
/// `ECHILD` where there are no children.
pub(crate) fn reap(block: bool) -> io::Result<Option<Reaped>> {
    loop {
        let mut status = 0;
        // SAFETY: an all-zero `rusage` is a valid one, and the call writes to both places.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        let options = if block { 0 } else { libc::WNOHANG } | libc::__WALL;
        // SAFETY: as above.
        let pid = unsafe { libc::wait4(-1, &raw mut status, options, &raw mut usage) };
        match pid {
            0 => return Ok(None),
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            pid => {
                let time = |time: libc::timeval| {
                    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
                        + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
                };
                return Ok(Some(Reaped {
                    pid,
                    status,
                    user: time(usage.ru_utime),
                    system: time(usage.ru_stime),
                    peak: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
                }));
            }
        }
    }
}

/// Returns a child that was stopped, and was not returned before. It is not waited for.
pub(crate) fn stopped() -> Option<i32> {
    // SAFETY: an all-zero `siginfo_t` is valid, and the call writes only to it; if it reports nothing, the id stays zero.
    unsafe {
        let mut told: libc::siginfo_t = std::mem::zeroed();
        let result = libc::waitid(libc::P_ALL, 0, &raw mut told, libc::WSTOPPED | libc::WNOHANG);
        (result == 0).then(|| told.si_pid()).filter(|&pid| pid > 0)
    }
}

/// Sets every signal to its default disposition, and unblocks all.
pub(crate) fn reset_signals() {
    // The kernel's `sigaction`, of which zeros are the default with an empty mask. The C library's own function refuses the two signals
    // that it reserves, which the host may have inherited as ignored.
    let default = [0_usize; 8];
    for signal in 1..=64 {
        // SAFETY: the kernel reads less than that, and gets no address to write to. The two signals that cannot be changed are refused.
        unsafe {
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), ptr::null_mut::<usize>(), 8_usize)
        };
    }
    // SAFETY: the set is emptied before it is used.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Keeps writing to a closed pipe, and a file over its limit, from ending this process.
pub(crate) fn ignore_write_signals() {
    for signal in [libc::SIGPIPE, libc::SIGXFSZ, libc::SIGHUP, libc::SIGTTOU, libc::SIGTTIN] {
        // SAFETY: it installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// A descriptor that becomes readable when a child ends; the signal is blocked from now on.
pub(crate) fn children_ended() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before it is used, and the descriptor is new and unowned.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        owned(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))
    }
}

/// A descriptor that a call has just returned.
fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the callers pass descriptors that the system has just created for them.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Closes all inherited descriptors except the standard streams. Called before this process opens anything.
pub(crate) fn close_inherited() {
    // SAFETY: nothing in this process has been opened by it yet, so no owner of a descriptor exists.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
}

/// Closes everything but the standard streams and these.
///
/// Closes all descriptors except these. Only for a process that never returns to the owners of the others.
pub(crate) fn close_but(kept: &[&OwnedFd]) {
    let mut kept: Vec<u32> = kept.iter().map(|fd| fd.as_raw_fd().cast_unsigned()).collect();
    kept.sort_unstable();
    let mut first = 3;
    for last in kept.into_iter().map(Some).chain([None]) {
        let next = last.map_or(u32::MAX, |kept| kept.saturating_sub(1));
        if first <= next {
            // SAFETY: the caller never returns to the owners of these.
            unsafe { libc::syscall(libc::SYS_close_range, first, next, 0_u32) };
        }
        first = first.max(last.unwrap_or(u32::MAX).saturating_add(1));
    }
}

/// Gives this process its own mount namespace, a copy of the one it is in.
pub(crate) fn own_mounts() -> io::Result<()> {
    // SAFETY: nothing in memory is shared or changed by it.
    match unsafe { libc::unshare(libc::CLONE_NEWNS) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Marks everything but the standard streams to be closed when the program is replaced.
pub(crate) fn close_on_execute() -> io::Result<()> {
    // SAFETY: it closes nothing yet.
    match unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// From this number on descriptors are copied that must not be in the way of those that a command is given.
pub(crate) const ABOVE_GIVEN: RawFd = 16;

/// The most descriptors that a program is given beside its standard streams.
pub(crate) const MAX_GIVEN: usize = 4;

/// Gives the program that is executed next these descriptors, with the numbers from 3 on. What had such a number before is closed.
/// Allocates nothing.
pub(crate) fn give(descriptors: &[OwnedFd]) -> io::Result<()> {
    let mut copies = [-1; MAX_GIVEN];
    for (copy, descriptor) in copies.iter_mut().zip(descriptors) {
        // SAFETY: it makes another descriptor of one that is open.
        *copy = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, ABOVE_GIVEN) };
        if *copy == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    for (number, copy) in (3..).zip(copies).take(descriptors.len()) {
        // SAFETY: nothing uses the number any more: this process becomes another program next, or ends.
        if unsafe { libc::dup2(copy, number) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Has a command of the standard library started with these descriptors: see [`give`].
pub(crate) fn give_to(command: &mut std::process::Command, descriptors: Vec<OwnedFd>) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: between fork and execution it makes system calls alone, on descriptors that the closure owns.
    unsafe { command.pre_exec(move || give(&descriptors)) };
}

/// Takes over the descriptor that this process was started with as its standard input.
pub(crate) fn take_standard_input() -> OwnedFd {
    // SAFETY: the host started this process with a socket there, and nothing here uses the standard input.
    unsafe { OwnedFd::from_raw_fd(0) }
}

/// Sets attributes (`MOUNT_ATTR_…`) of a mount and of the mounts below it.
///
/// `path` may be empty for the mount that `fd` refers to.
pub(crate) fn set_mount_attributes(fd: BorrowedFd<'_>, path: &CStr, set: u64) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    // SAFETY: the structure is complete, and its size is passed.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            fd.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Switches on an interface of the network that this process is in, by means of any socket.
pub(crate) fn switch_on(socket: BorrowedFd<'_>, interface: &CStr) -> io::Result<()> {
    const UP: libc::c_short = 1; // `IFF_UP`, in the type that the structure has.
    // SAFETY: an all-zero `ifreq` is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(interface.to_bytes()) {
        *to = c_char::from_ne_bytes([*from]);
    }
    // SAFETY: the name ends in zero, both calls access only this structure, and the second call gets the flags that the first has
    // written, with one more set.
    let result = unsafe {
        match libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) {
            0 => {
                request.ifr_ifru.ifru_flags |= UP;
                libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
            }
            failed => failed,
        }
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the kernel's version of Landlock.
pub(crate) fn landlock_version() -> io::Result<i32> {
    // SAFETY: with this flag the call reads no memory and makes nothing.
    match unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<u8>(), 0_usize, 1_u32) } {
        version @ 1.. => Ok(i32::try_from(version).unwrap_or(i32::MAX)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Installs a seccomp filter for this process. With `listens`, returns the descriptor for answering the calls that the filter forwards
/// (`SECCOMP_RET_USER_NOTIF`); it is closed on `execve`.
pub(crate) fn install_filter(
    program: &[seccompiler::sock_filter],
    listens: bool,
) -> io::Result<Option<OwnedFd>> {
    /// `struct sock_fprog`.
    #[repr(C)]
    struct Program {
        length: libc::c_ushort,
        first: *const seccompiler::sock_filter,
    }
    let length = libc::c_ushort::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let given = Program { length, first: program.as_ptr() };
    let flags = if listens { libc::SECCOMP_FILTER_FLAG_NEW_LISTENER } else { 0 };
    // SAFETY: the kernel copies the program, whose length is passed, and changes nothing.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const given) };
    match (result, listens) {
        (-1, _) => Err(io::Error::last_os_error()),
        (fd, true) => owned(RawFd::try_from(fd).unwrap_or(-1)).map(Some),
        (_, false) => Ok(None),
    }
}

/// A system call that waits for an answer of the process that listens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notification {
    id: u64,
    /// The thread that made the call.
    pub(crate) thread: i32,
    pub(crate) arguments: [u64; 6],
}

const NOTIFICATION_RECEIVE: usize = 0xc050_2100;
const NOTIFICATION_SEND: usize = 0xc018_2101;
const NOTIFICATION_ID_VALID: usize = 0x4008_2102;

/// Performs an `ioctl` whose argument is a structure of the size that the request encodes.
fn control<T>(fd: BorrowedFd<'_>, request: usize, argument: *mut T) -> io::Result<i64> {
    // SAFETY: the callers pass a request together with the structure that it takes.
    match unsafe { libc::syscall(libc::SYS_ioctl, fd.as_raw_fd(), request, argument) } {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// Receives the next call that waits for an answer.
pub(crate) fn next_notification(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    // SAFETY: an all-zero structure is valid, and the kernel requires it.
    let mut received: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    control(listener, NOTIFICATION_RECEIVE, &raw mut received)?;
    Ok(Notification { id: received.id, thread: received.pid.cast_signed(), arguments: received.data.args })
}

/// Returns true if the call still waits, so that its thread is still the one that made it.
pub(crate) fn still_waits(listener: BorrowedFd<'_>, notification: &Notification) -> bool {
    let mut id = notification.id;
    control(listener, NOTIFICATION_ID_VALID, &raw mut id).is_ok()
}

/// Answers a call: it returns 0, or fails with this error. Fails if the call no longer waits.
pub(crate) fn answer(
    listener: BorrowedFd<'_>,
    notification: &Notification,
    result: Result<(), rustix::io::Errno>,
) -> io::Result<()> {
    let mut response = libc::seccomp_notif_resp {
        id: notification.id,
        val: 0,
        error: result.err().map_or(0, |error| -error.raw_os_error()),
        flags: 0,
    };
    control(listener, NOTIFICATION_SEND, &raw mut response).map(drop)
}

/// Connects a socket to the address that these bytes are.
pub(crate) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> Result<(), rustix::io::Errno> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| rustix::io::Errno::INVAL)?;
    // SAFETY: the kernel copies the address, whose length is passed.
    match unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) } {
        0 => Ok(()),
        _ => {
            Err(rustix::io::Errno::from_io_error(&io::Error::last_os_error())
                .unwrap_or(rustix::io::Errno::IO))
        }
    }
}

/// Opens the file that a local socket is bound to (`O_PATH`). Needs the rights of an administrator of the socket's network.
pub(crate) fn bound_file(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    const SIOCUNIXFILE: usize = 0x89e0;
    // SAFETY: this request takes no structure.
    let fd = unsafe { libc::syscall(libc::SYS_ioctl, socket.as_raw_fd(), SIOCUNIXFILE, 0_usize) };
    if fd < 0 { Err(io::Error::last_os_error()) } else { owned(RawFd::try_from(fd).unwrap_or(-1)) }
}

/// Reads memory of a thread's process: all of these bytes or none.
pub(crate) fn read_memory(thread: i32, address: u64, bytes: &mut [u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let address = usize::try_from(address).map_err(|_| io::ErrorKind::InvalidInput)?;
    let remote = libc::iovec { iov_base: ptr::without_provenance_mut(address), iov_len: bytes.len() };
    // SAFETY: the kernel writes only to `bytes`, whose length is passed. It checks the addresses in the other process.
    let read = unsafe { libc::process_vm_readv(thread, &raw const local, 1, &raw const remote, 1, 0) };
    match usize::try_from(read) {
        Ok(read) if read == bytes.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}
