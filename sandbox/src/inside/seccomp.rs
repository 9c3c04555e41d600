//! System calls that a command in a sandbox can't make.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use std::os::fd::OwnedFd;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use crate::failure::{Failure, Step};
use crate::sys;

/// `open_tree` that also changes attributes. It is newer than the list in `libc`, and has the same number on every architecture, as those
/// below do.
const OPEN_TREE_ATTR: i64 = 467;
const STATMOUNT: i64 = 457;
const LISTMOUNT: i64 = 458;
const LISTNS: i64 = 470;
pub(super) const FCHMODAT2: i64 = 452;

/// Calls refused whatever their arguments: those that change mounts, namespaces or the kernel, those that access other processes, and those
/// that would bypass the other filters.
const REFUSED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_fanotify_init,
    OPEN_TREE_ATTR,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];

/// Calls that are reported as not implemented, so that programs fall back to calls that can be filtered: the arguments of `clone3` and the
/// mode of `openat2` are in memory, `io_uring` makes system calls that no filter sees, and calls that list mounts and namespaces disclose
/// those of others.
const ABSENT: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    STATMOUNT,
    LISTMOUNT,
    LISTNS,
];

/// Calls that set a mode, with the index of that argument.
const MODES: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, 1),
    (libc::SYS_mkdirat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
];

/// Calls that set a mode if they create a file, which the argument before the mode determines.
const OPENS: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2),
    (libc::SYS_openat, 3),
];

/// Mode bits with which a file runs with the rights of its owner or its group, whoever executes it.
const SET_ID: [u32; 2] = [libc::S_ISUID, libc::S_ISGID];

/// Without the bit for directories, which the kernel refuses alone.
const O_TMPFILE: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Puts characters into a terminal's input, as if they had been typed.
const TIOCSTI: u64 = 0x5412;
/// The same on the console, among other things.
const TIOCLINUX: u64 = 0x541c;

pub(super) type Made<T> = Result<T, seccompiler::BackendError>;

/// The kernel reads only the lower half of these arguments.
pub(super) fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Made<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

pub(super) fn rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Made<SeccompRule> {
    SeccompRule::new(vec![condition(argument, operator, value)?])
}

/// All of these bits are set.
fn bits(argument: u8, bits: u32) -> Made<SeccompCondition> {
    let bits = u64::from(bits);
    condition(argument, SeccompCmpOp::MaskedEq(bits), bits)
}

/// Returns the rules that refuse to create setuid and setgid files.
fn set_id() -> Made<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut refused = BTreeMap::new();
    for &(call, mode) in MODES {
        let rules: Made<_> = SET_ID.iter().map(|&bit| SeccompRule::new(vec![bits(mode, bit)?])).collect();
        refused.insert(call, rules?);
    }
    for &(call, mode) in OPENS {
        let mut rules = Vec::new();
        // The mode argument of a call that creates no file is arbitrary.
        for flag in [libc::O_CREAT, O_TMPFILE] {
            for bit in SET_ID {
                let makes = bits(mode - 1, flag.cast_unsigned())?;
                rules.push(SeccompRule::new(vec![makes, bits(mode, bit)?])?);
            }
        }
        // Truncates a file that is open for reading, which Landlock refuses only from its third version on.
        let truncates = SeccompCmpOp::MaskedEq(u64::from((libc::O_ACCMODE | libc::O_TRUNC).cast_unsigned()));
        rules.push(rule(mode - 1, truncates, u64::from(libc::O_TRUNC.cast_unsigned()))?);
        refused.insert(call, rules);
    }
    Ok(refused)
}

/// Protocols over IP: the default of a socket type, ICMP (echo requests), TCP, UDP, `ICMPv6`, and Multipath TCP.
const OVER_IP: [i32; 6] = [
    libc::IPPROTO_IP,
    libc::IPPROTO_ICMP,
    libc::IPPROTO_TCP,
    libc::IPPROTO_UDP,
    libc::IPPROTO_ICMPV6,
    libc::IPPROTO_MPTCP,
];
/// A socket type that implies another protocol.
const SOCK_DCCP: u64 = 6;
/// Mask of a socket's type, without its flags.
const KIND: u64 = 0xf;

/// The local sockets that a command may create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Local {
    /// All but datagram sockets; the broker decides on connections.
    Brokered,
    /// Pairs alone.
    Pairs,
}

/// Local datagram sockets send to an address without connecting to it. Raw ones are the same to the kernel.
fn datagrams() -> Made<Vec<SeccompRule>> {
    let each = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| {
        SeccompRule::new(vec![
            condition(0, SeccompCmpOp::Eq, u64::from(libc::AF_UNIX.cast_unsigned()))?,
            condition(1, SeccompCmpOp::MaskedEq(KIND), u64::from(kind.cast_unsigned()))?,
        ])
    });
    each.into_iter().collect()
}

/// Returns the rules that refuse sockets: with a network, whether the machine's or a private one, all families but IP, local sockets and
/// netlink queries for routes and addresses. Other families give access to hardware or to tables of the kernel, or load a kernel module on
/// demand.
fn sockets(network: bool) -> Made<Vec<SeccompRule>> {
    let families: &[i32] = if network {
        &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]
    } else {
        &[libc::AF_UNIX]
    };
    let others: Made<_> = families
        .iter()
        .map(|family| condition(0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned())))
        .collect();
    let mut rules = vec![SeccompRule::new(others?)?];
    if network {
        for family in [libc::AF_INET, libc::AF_INET6] {
            let of_family = || condition(0, SeccompCmpOp::Eq, u64::from(family.cast_unsigned()));
            let mut others = vec![of_family()?];
            for protocol in OVER_IP {
                others.push(condition(2, SeccompCmpOp::Ne, u64::from(protocol.cast_unsigned()))?);
            }
            rules.push(SeccompRule::new(others)?);
            let is_dccp = condition(1, SeccompCmpOp::MaskedEq(KIND), SOCK_DCCP)?;
            rules.push(SeccompRule::new(vec![of_family()?, is_dccp])?);
        }
        rules.push(SeccompRule::new(vec![
            condition(0, SeccompCmpOp::Eq, u64::from(libc::AF_NETLINK.cast_unsigned()))?,
            condition(2, SeccompCmpOp::Ne, u64::from(libc::NETLINK_ROUTE.cast_unsigned()))?,
        ])?);
    }
    Ok(rules)
}

/// Returns a rule that refuses every value of an argument but these.
pub(super) fn at_least_one_differs(argument: u8, allowed: &[u64]) -> Made<SeccompRule> {
    let each: Made<_> = allowed.iter().map(|&value| condition(argument, SeccompCmpOp::Ne, value)).collect();
    SeccompRule::new(each?)
}

/// Returns the rules that hold in every sandbox.
pub(super) fn common() -> Made<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut refused = set_id()?;
    refused.extend(REFUSED.iter().map(|&call| (call, Vec::new())));
    let namespaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let cloning: Made<_> =
        namespaces.iter().map(|flag| SeccompRule::new(vec![bits(0, flag.cast_unsigned())?])).collect();
    refused.insert(libc::SYS_clone, cloning?);
    // The limits of other processes: without its own process ids, a command could end them that way.
    let others = condition(0, SeccompCmpOp::Ne, 0)?;
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    refused.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![others, sets])?]);
    Ok(refused)
}

/// Returns the rules that refuse pairs of sockets other than local streams.
pub(super) fn pairs() -> Made<Vec<SeccompRule>> {
    let mut pairs = sockets(false)?;
    pairs.extend(datagrams()?);
    Ok(pairs)
}

fn program(network: bool, local: Local) -> Made<BpfProgram> {
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    let mut refused = common()?;
    refused.insert(
        libc::SYS_ioctl,
        vec![rule(1, SeccompCmpOp::Eq, TIOCSTI)?, rule(1, SeccompCmpOp::Eq, TIOCLINUX)?],
    );
    let mut single = sockets(network)?;
    match local {
        Local::Brokered => single.extend(datagrams()?),
        Local::Pairs => single.push(rule(0, SeccompCmpOp::Eq, u64::from(libc::AF_UNIX.cast_unsigned()))?),
    }
    refused.insert(libc::SYS_socket, single);
    refused.insert(libc::SYS_socketpair, pairs()?);
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let mut program = absent(local == Local::Brokered);
    let refused: BpfProgram =
        SeccompFilter::new(refused, SeccompAction::Allow, refuse, architecture)?.try_into()?;
    program.extend(refused);
    Ok(program)
}

/// Returns the instructions before the rules. They are in the same program, since installing a program costs time in proportion to its
/// length, plus a fixed part. They handle `connect`, which the broker receives; calls that are reported as not implemented; and on x86-64
/// all calls with one more bit set, which gives every call a second number that the rules do not cover. Programs for another architecture
/// proceed to the rules, which kill them.
pub(super) fn absent(is_brokered: bool) -> BpfProgram {
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const JUMP: u16 = 0x05;
    /// Offset in the data that a filter receives.
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let mut wanted: Vec<(u16, u32)> =
        ABSENT.iter().filter_map(|&call| Some((IF_EQUAL, u32::try_from(call).ok()?))).collect();
    if cfg!(target_arch = "x86_64") {
        wanted.push((IF_AT_LEAST, 0x4000_0000));
    }
    let tests = u8::try_from(wanted.len()).expect("there are a few");
    let mut brokered = Vec::new();
    if is_brokered {
        let connect = u32::try_from(libc::SYS_connect).expect("numbers of calls are small");
        brokered.push(instruction(IF_EQUAL, 0, 1, connect));
        brokered.push(instruction(RETURN, 0, 0, libc::SECCOMP_RET_USER_NOTIF));
    }
    let before = u8::try_from(brokered.len()).expect("there are two");
    let mut program = vec![
        instruction(LOAD, 0, 0, ARCHITECTURE),
        // Jumps behind the last of these instructions.
        instruction(IF_EQUAL, 0, before + tests + 3, AUDIT_ARCHITECTURE),
        instruction(LOAD, 0, 0, NUMBER),
    ];
    program.extend(brokered);
    // From each test to the last instruction.
    let jumps = (1..=tests).rev();
    program.extend(wanted.into_iter().zip(jumps).map(|((code, k), jump)| instruction(code, jump, 0, k)));
    program.push(instruction(JUMP, 0, 0, 1));
    program.push(instruction(RETURN, 0, 0, 0x0005_0000 | libc::ENOSYS.cast_unsigned()));
    program
}

/// The kernel's identifier of this architecture.
#[cfg(target_arch = "x86_64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_00f3;
/// No rules exist for other architectures.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const AUDIT_ARCHITECTURE: u32 = 0;

/// Compiles the filters of [`restrict`] before a job waits for them.
pub(super) fn prepare() {
    for network in [false, true] {
        let _ = prepared(network, Local::Brokered);
    }
}

fn prepared(network: bool, local: Local) -> &'static Result<BpfProgram, String> {
    static PROGRAMS: [OnceLock<Result<BpfProgram, String>>; 4] = [const { OnceLock::new() }; 4];
    let at = usize::from(network) * 2 + usize::from(local == Local::Pairs);
    PROGRAMS[at].get_or_init(|| program(network, local).map_err(|error| error.to_string()))
}

/// Refuses them from now on, and gives up the way to new privileges.
///
/// With [`Local::Brokered`], returns the descriptor on which the broker answers. A sandbox around this one may have one already, and a
/// process can have only one; then only socket pairs are allowed, and there is nothing to answer.
pub(crate) fn restrict(network: bool, local: Local) -> Result<Option<OwnedFd>, Failure> {
    rustix::thread::set_no_new_privs(true).map_err(|error| Failure::new(Step::Seccomp, error))?;
    let install = |local: Local| {
        let program = prepared(network, local)
            .as_ref()
            .map_err(|error| Failure::said(Step::Seccomp, error.as_str()))?;
        sys::install_filter(program, local == Local::Brokered)
            .map_err(|error| Failure::io(Step::Seccomp, &error))
    };
    match (install(local), local) {
        (Err(_), Local::Brokered) => install(Local::Pairs),
        (result, _) => result,
    }
}
