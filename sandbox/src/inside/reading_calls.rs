//! System calls that a command which only reads can't make, in addition to those that no command in a sandbox can make.
//!
//! Landlock refuses to open files for writing and to make, rename and remove them. These are the other ways to have an effect: modes,
//! owners, times and attributes of files, sockets, memory and messages that are shared with other processes, and their priorities.

use seccompiler::{BpfProgram, SeccompAction, SeccompCmpOp, SeccompFilter, SeccompRule};
use std::sync::OnceLock;

use super::seccomp::{Made, absent, at_least_one_differs, common, condition, pairs, rule};
use crate::failure::{Failure, Step};
use crate::sys;

/// Calls that are newer than the list in `libc`, with the same number on every architecture.
const PROCESS_MRELEASE: i64 = 448;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

const REFUSED: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    super::seccomp::FCHMODAT2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    libc::SYS_truncate,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mknod,
    libc::SYS_mknodat,
    // Shared with other processes of the user, and some of it outlives the command.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    PROCESS_MRELEASE,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Without sockets there is nothing to connect; descriptors that were given stay usable.
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
];

/// Those of them that a netlink socket needs.
const OF_NETLINK: &[i64] = &[libc::SYS_bind];

/// Calls about a process, with the index of the argument that names it; 0 is the calling one.
const OF_A_PROCESS: &[(i64, u8)] = &[
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
];

/// Calls that signal other processes.
const SIGNALS: &[i64] = &[
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// Requests to devices and files that only read, or set what belongs to the command: its terminal and its descriptors. Other requests
/// change attributes of a file that is open for reading, make snapshots, or control devices.
const REQUESTS: &[u64] = &[
    0x5401,      // TCGETS
    0x5402,      // TCSETS
    0x5403,      // TCSETSW
    0x5404,      // TCSETSF
    0x802c_542a, // TCGETS2
    0x402c_542b, // TCSETS2
    0x402c_542c, // TCSETSW2
    0x402c_542d, // TCSETSF2
    0x540f,      // TIOCGPGRP
    0x5410,      // TIOCSPGRP
    0x5411,      // TIOCOUTQ
    0x5413,      // TIOCGWINSZ
    0x541b,      // FIONREAD
    0x5421,      // FIONBIO
    0x5422,      // TIOCNOTTY
    0x5429,      // TIOCGSID
    0x5450,      // FIONCLEX
    0x5451,      // FIOCLEX
    0x8004_5430, // TIOCGPTN
    0x8008_6601, // FS_IOC_GETFLAGS
    0x8008_7601, // FS_IOC_GETVERSION
    0x801c_581f, // FS_IOC_FSGETXATTR
    0xc020_660b, // FS_IOC_FIEMAP
    0x8100_9431, // FS_IOC_GETFSLABEL
    0x1260,      // BLKGETSIZE
    0x8008_1272, // BLKGETSIZE64
    0x1268,      // BLKSSZGET
    0xb701,      // NS_GET_USERNS
    0xb702,      // NS_GET_PARENT
    0xb703,      // NS_GET_NSTYPE
    0xb704,      // NS_GET_OWNER_UID
];

/// Returns the rules that refuse all sockets but those through which the kernel's tables of the network are read, if these are wanted.
fn sockets(network_tables: bool) -> Made<Vec<SeccompRule>> {
    if !network_tables {
        return Ok(Vec::new());
    }
    let netlink = u64::from(libc::AF_NETLINK.cast_unsigned());
    let tables = [libc::NETLINK_ROUTE, libc::NETLINK_SOCK_DIAG].map(|table| u64::from(table.cast_unsigned()));
    let mut others = vec![condition(0, SeccompCmpOp::Eq, netlink)?];
    for table in tables {
        others.push(condition(2, SeccompCmpOp::Ne, table)?);
    }
    Ok(vec![rule(0, SeccompCmpOp::Ne, netlink)?, SeccompRule::new(others)?])
}

fn program(network_tables: bool, refuses_signals: bool) -> Made<BpfProgram> {
    let mut refused = common()?;
    refused.extend(REFUSED.iter().map(|&call| (call, Vec::new())));
    if network_tables {
        for call in OF_NETLINK {
            refused.remove(call);
        }
    }
    refused.insert(libc::SYS_socket, sockets(network_tables)?);
    refused.insert(libc::SYS_socketpair, pairs()?);
    refused.insert(libc::SYS_ioctl, vec![at_least_one_differs(1, REQUESTS)?]);
    for &(call, process) in OF_A_PROCESS {
        refused.insert(call, vec![rule(process, SeccompCmpOp::Ne, 0)?]);
    }
    // 0 stands for all processes of the user here.
    let of_user = rule(0, SeccompCmpOp::Eq, u64::from(libc::PRIO_USER))?;
    refused.entry(libc::SYS_setpriority).or_default().push(of_user);
    if refuses_signals {
        refused.extend(SIGNALS.iter().map(|&call| (call, Vec::new())));
        // 0 is the calling process's own group.
        refused.insert(libc::SYS_kill, vec![rule(0, SeccompCmpOp::Ne, 0)?]);
    }
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let mut program = absent(false);
    let architecture = std::env::consts::ARCH.try_into()?;
    let refused: BpfProgram =
        SeccompFilter::new(refused, SeccompAction::Allow, refuse, architecture)?.try_into()?;
    program.extend(refused);
    Ok(program)
}

fn prepared(network_tables: bool, refuses_signals: bool) -> &'static Result<BpfProgram, String> {
    static PROGRAMS: [OnceLock<Result<BpfProgram, String>>; 4] = [const { OnceLock::new() }; 4];
    let at = usize::from(network_tables) * 2 + usize::from(refuses_signals);
    PROGRAMS[at].get_or_init(|| program(network_tables, refuses_signals).map_err(|error| error.to_string()))
}

/// Compiles the usual filter before a job waits for it.
pub(super) fn prepare() {
    let _ = prepared(false, false);
}

/// Refuses these calls from now on. The process must have given up the way to new privileges.
pub(super) fn restrict(network_tables: bool, refuses_signals: bool) -> Result<(), Failure> {
    let program = prepared(network_tables, refuses_signals)
        .as_ref()
        .map_err(|error| Failure::said(Step::Seccomp, error.as_str()))?;
    sys::install_filter(program, false).map(drop).map_err(|error| Failure::io(Step::Seccomp, &error))
}
