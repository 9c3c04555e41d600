//! The capabilities that a command does not have.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits,
};

use crate::failure::{Failure, Step};

/// Being root gives no capabilities, and none are raised.
const SECURE: CapabilitiesSecureBits = CapabilitiesSecureBits::NO_ROOT
    .union(CapabilitiesSecureBits::NO_ROOT_LOCKED)
    .union(CapabilitiesSecureBits::NO_SETUID_FIXUP)
    .union(CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED)
    .union(CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE)
    .union(CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED)
    .union(CapabilitiesSecureBits::KEEP_CAPS_LOCKED);

/// True once [`drop_bounds`] has run in this process, or in the process that forked it.
static BOUNDED: AtomicBool = AtomicBool::new(false);

/// Drops the bounding set, so that programs executed from here on have no capabilities, whatever their file or user would give them.
/// This process keeps its own.
pub(crate) fn drop_bounds() -> Result<(), Failure> {
    if BOUNDED.load(Ordering::Relaxed) {
        return Ok(());
    }
    for number in 0..64 {
        // No capability follows the first unknown one.
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(Failure::new(Step::Capabilities, error)),
        }
    }
    BOUNDED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Drops all capabilities except those that the broker needs: to examine the processes of the sandbox, and to query what their sockets
/// are bound to. The remaining ones also keep those processes, which have none, from examining this one.
pub(crate) fn keep_for_broker() -> Result<(), Failure> {
    let kept = CapabilitySet::SYS_PTRACE | CapabilitySet::NET_ADMIN;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: none })
        .map_err(|error| Failure::new(Step::Capabilities, error))
}

/// Gives up all capabilities for good, except that root keeps reading the files of all users, as a command does that only reads.
pub(super) fn keep_reading() -> Result<(), Failure> {
    let failed = |error| Failure::new(Step::Capabilities, error);
    let have = capabilities(None).map_err(failed)?;
    let reads = CapabilitySet::DAC_READ_SEARCH;
    if !have.effective.contains(reads | CapabilitySet::SETPCAP) {
        return drop_all();
    }
    let inherited = CapabilitySets { inheritable: reads, ..have };
    set_capabilities(None, inherited).map_err(failed)?;
    clear_ambient_capability_set().map_err(failed)?;
    configure_capability_in_ambient_set(reads, true).map_err(failed)?;
    drop_bounds()?;
    set_capabilities_secure_bits(SECURE).map_err(failed)?;
    set_capabilities(None, CapabilitySets { effective: reads, permitted: reads, inheritable: reads })
        .map_err(failed)
}

/// Gives up all of them for good: also for root, which would get them back from the next program.
pub(super) fn drop_all() -> Result<(), Failure> {
    let failed = |error| Failure::new(Step::Capabilities, error);
    let have = capabilities(None).map_err(failed)?;
    if have.permitted.is_empty() && have.inheritable.is_empty() {
        return Ok(());
    }
    drop_bounds()?;
    set_capabilities_secure_bits(SECURE).map_err(failed)?;
    clear_ambient_capability_set().map_err(failed)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(failed)
}
