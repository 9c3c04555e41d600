//! System calls that a command in a sandbox can't make.

use std::collections::BTreeMap;

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

fn programs(network: bool) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
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
    let absent = ABSENT.iter().map(|&call| (call, Vec::new())).collect();
    let errno = |number: i32| SeccompAction::Errno(number.cast_unsigned());
    let mut programs = Vec::new();
    for (calls, error) in [(absent, libc::ENOSYS), (refused, libc::EPERM)] {
        programs
            .push(SeccompFilter::new(calls, SeccompAction::Allow, errno(error), architecture)?.try_into()?);
    }
    if cfg!(target_arch = "x86_64") {
        programs.push(no_second_numbering());
    }
    Ok(programs)
}

/// On this architecture every call has a second number, with one more bit set, that the rules don't have.
fn no_second_numbering() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    let refuse = 0x0005_0000 | libc::ENOSYS.cast_unsigned();
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        instruction(LOAD_NUMBER, 0, 0, 0),
        instruction(IF_AT_LEAST, 0, 1, 0x4000_0000),
        instruction(RETURN, 0, 0, refuse),
        instruction(RETURN, 0, 0, 0x7fff_0000),
    ]
}

/// Refuses them from now on. There must be no way to new privileges any more, or there must be those of an administrator.
pub(crate) fn restrict(network: bool) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::said(Step::Seccomp, error.to_string());
    for program in programs(network).map_err(|error| failed(&error))? {
        apply_filter(&program).map_err(|error| failed(&error))?;
    }
    Ok(())
}
