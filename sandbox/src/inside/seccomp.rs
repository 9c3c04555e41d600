//! System calls that a command in a sandbox can't make.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use crate::supervisor::child::{Failure, Step};

/// Refused whatever their arguments: what changes mounts, namespaces or the kernel, what reaches into other processes, and what makes
/// the other filters worthless.
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
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];

/// These say that the kernel doesn't have them, so that programs fall back to what can be looked at: the arguments of `clone3` stand in
/// memory, and rings make system calls that no filter sees.
const ABSENT: &[i64] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Puts characters into a terminal's input, as if they had been typed.
const TIOCSTI: u64 = 0x5412;
/// Does so on the console, among other things.
const TIOCLINUX: u64 = 0x541c;

fn rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    // The kernel looks at the lower half of these arguments only.
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?])
}

fn program(network: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    refused.insert(
        libc::SYS_ioctl,
        vec![rule(1, SeccompCmpOp::Eq, TIOCSTI)?, rule(1, SeccompCmpOp::Eq, TIOCLINUX)?],
    );
    let namespaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let mut cloning = Vec::new();
    for flag in namespaces {
        let flag = u64::from(flag.cast_unsigned());
        cloning.push(rule(0, SeccompCmpOp::MaskedEq(flag), flag)?);
    }
    refused.insert(libc::SYS_clone, cloning);
    let unix = u64::from(libc::AF_UNIX.cast_unsigned());
    if network {
        // Raw access to hardware and to the kernel's own tables; what is left is IP, its control and local sockets.
        let families =
            [libc::AF_PACKET, libc::AF_VSOCK, libc::AF_ALG, libc::AF_BLUETOOTH, libc::AF_CAN, libc::AF_XDP];
        let mut sockets = Vec::new();
        for family in families {
            sockets.push(rule(0, SeccompCmpOp::Eq, u64::from(family.cast_unsigned()))?);
        }
        refused.insert(libc::SYS_socket, sockets);
    } else {
        refused.insert(libc::SYS_socket, vec![rule(0, SeccompCmpOp::Ne, unix)?]);
        refused.insert(libc::SYS_socketpair, vec![rule(0, SeccompCmpOp::Ne, unix)?]);
    }
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let mut program = absent();
    let refused: BpfProgram =
        SeccompFilter::new(refused, SeccompAction::Allow, refuse, architecture)?.try_into()?;
    program.extend(refused);
    Ok(program)
}

/// What stands before the rules, in the same program since each costs as much to put in place as it is long, and more: calls that say
/// that the kernel doesn't have them, and on x86-64 all with one more bit set, which gives every call a second number that the rules
/// don't have. Programs for another processor go on to the rules, which kill them.
fn absent() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const JUMP: u16 = 0x05;
    /// Where they stand in what a filter is given.
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let mut wanted: Vec<(u16, u32)> =
        ABSENT.iter().filter_map(|&call| Some((IF_EQUAL, u32::try_from(call).ok()?))).collect();
    if cfg!(target_arch = "x86_64") {
        wanted.push((IF_AT_LEAST, 0x4000_0000));
    }
    let tests = u8::try_from(wanted.len()).expect("there are a few");
    let mut program = vec![
        instruction(LOAD, 0, 0, ARCHITECTURE),
        // To what is behind the last of these instructions.
        instruction(IF_EQUAL, 0, tests + 3, AUDIT_ARCHITECTURE),
        instruction(LOAD, 0, 0, NUMBER),
    ];
    // From each test to the last instruction.
    let jumps = (1..=tests).rev();
    program.extend(wanted.into_iter().zip(jumps).map(|((code, k), jump)| instruction(code, jump, 0, k)));
    program.push(instruction(JUMP, 0, 0, 1));
    program.push(instruction(RETURN, 0, 0, 0x0005_0000 | libc::ENOSYS.cast_unsigned()));
    program
}

/// What the kernel calls this processor there.
#[cfg(target_arch = "x86_64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_00f3;
/// There are no rules for others.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const AUDIT_ARCHITECTURE: u32 = 0;

/// Makes what [`restrict`] puts in place, ahead of the time when somebody waits for it.
pub(crate) fn prepare() {
    for network in [false, true] {
        let _ = prepared(network);
    }
}

fn prepared(network: bool) -> &'static Result<BpfProgram, String> {
    static PROGRAMS: [OnceLock<Result<BpfProgram, String>>; 2] = [OnceLock::new(), OnceLock::new()];
    PROGRAMS[usize::from(network)].get_or_init(|| program(network).map_err(|error| error.to_string()))
}

/// Refuses them from now on. There must be no way to new privileges any more, or there must be those of an administrator.
pub(crate) fn restrict(network: bool) -> Result<(), Failure> {
    let program = prepared(network).as_ref().map_err(|error| Failure::said(Step::Seccomp, error.as_str()))?;
    apply_filter(program).map_err(|error| Failure::said(Step::Seccomp, error.to_string()))
}
