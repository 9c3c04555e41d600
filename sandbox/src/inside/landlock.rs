//! Landlock: a second enforcement of the restrictions by mounts, and the only one without mounts.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope,
};

use super::Plan;
use crate::Mode;
use crate::failure::{Failure, Step};

/// Devices that can be written to.
pub(super) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

pub(super) fn abi(version: u32) -> ABI {
    match version {
        0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        _ => ABI::V7,
    }
}

/// Restricts this process to abstract sockets of the processes that it starts. Returns true if the restriction is in
/// effect.
pub(super) fn scope_abstract_sockets(version: u32) -> bool {
    let restrict = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .scope(Scope::AbstractUnixSocket)?
            .create()?
            .restrict_self()
    };
    version >= 6 && restrict().is_ok()
}

/// Restricts the process's access to files, the network and other processes.
pub(super) fn restrict(plan: &Plan) -> Result<(), Failure> {
    let abi = abi(plan.landlock);
    let failed = |error: landlock::RulesetError| Failure::said(Step::Landlock, error.to_string());
    let files = plan.mode != Mode::Full;
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let mut any = false;
    if files {
        rules = rules.handle_access(AccessFs::from_all(abi)).map_err(failed)?;
        any = true;
    }
    let connections = AccessNet::from_all(abi);
    // In a network of its own, a command can reach only servers that it has started itself, on any port.
    if !plan.network && !plan.has_loopback() && !connections.is_empty() {
        rules = rules.handle_access(connections).map_err(failed)?;
        any = true;
    }
    let scopes = Scope::from_all(abi);
    if !scopes.is_empty() {
        rules = rules.scope(scopes).map_err(failed)?;
        any = true;
    }
    if !any {
        return Ok(());
    }
    let mut rules = rules.create().map_err(failed)?;
    if files {
        // Commands cannot create device nodes.
        let write =
            AccessFs::from_all(abi) & !(AccessFs::MakeBlock | AccessFs::MakeChar) & !AccessFs::from_read(abi);
        let read = AccessFs::from_read(abi);
        let device =
            (AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev) & AccessFs::from_all(abi);
        let mut grants: Vec<(PathBuf, BitFlags<AccessFs>)> = vec![(PathBuf::from("/"), read)];
        grants.extend(plan.writable.iter().map(|path| (path.clone(), write)));
        grants.extend(DEVICES.map(|path| (PathBuf::from(path), device)));
        grants.push((PathBuf::from("/dev/pts"), device));
        grants.push((PathBuf::from("/dev/ptmx"), device));
        if plan.namespaces() != 0 {
            grants.push((PathBuf::from("/dev/shm"), write));
            let own = plan.private.iter().filter(|path| *path != Path::new("/run"));
            grants.extend(own.map(|path| (path.clone(), write)));
        } else {
            // The directories that would be mounted on them.
            grants.extend(plan.tmp.iter().map(|path| (path.clone(), write)));
        }
        for (path, access) in grants {
            let Ok(handle) = PathFd::new(&path) else { continue };
            let access = if path.is_dir() { access } else { access & AccessFs::from_file(abi) };
            rules = rules.add_rule(PathBeneath::new(handle, access)).map_err(failed)?;
        }
    }
    rules.restrict_self().map_err(failed)?;
    Ok(())
}
