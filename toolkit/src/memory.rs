//! The memory that this process may use, where a limit of it is known: on Linux, those of `ulimit` and of its control group.
//!
//! An allocation that fails ends the process. A tool whose input decides how much it needs reserves much memory before it uses it, and
//! returns an error if there is not enough.

mod json;
mod limits;

pub use json::of_json;
pub use limits::MemoryLimit;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use toolkit_core::error::ToolError;

/// The limits are looked at whenever the reservations of the process pass a multiple of this number of bytes.
const STEP: u64 = 1 << 20;
/// Memory that stays free for everything else: stacks of threads, results, messages.
const MARGIN: u64 = 24 << 20;

/// Memory that is reserved in this process, in bytes. Parts of it may be in use already.
static RESERVED: AtomicU64 = AtomicU64::new(0);

/// Memory that is reserved until this, and all its clones, are dropped.
#[derive(Debug, Clone)]
#[must_use = "the reservation ends when it is dropped"]
pub struct ReservedMemory(
    #[expect(dead_code, reason = "it is held, and dropped with the last clone")] Arc<Share>,
);

#[derive(Debug)]
struct Share(u64);

impl Drop for Share {
    fn drop(&mut self) {
        RESERVED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// The error of a reservation: as much memory is not free below a limit of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfMemory {
    /// The number of bytes that were to be reserved.
    pub needed: u64,
    /// The number of bytes that may still be reserved.
    pub free: u64,
    /// The limit.
    pub limit: MemoryLimit,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, free, limit } = *self;
        write!(
            f,
            "it needs about {} of memory, and {} are free of the {} that {} allows this process; raise the limit, try again when other calls \
             have ended, or work on less at once",
            Size(needed),
            Size(free),
            Size(limit.bytes()),
            limit.name()
        )
    }
}

impl std::error::Error for OutOfMemory {}

impl OutOfMemory {
    /// Returns the error of a call that needs the memory for `what`.
    pub fn of(self, what: impl fmt::Display) -> ToolError {
        ToolError::failed(format!("there is not enough memory for {what}: {self}"))
    }
}

/// A number of bytes, as people read it.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes < 1 << 20 => write!(f, "{} KiB", bytes.div_ceil(1 << 10)),
            bytes => write!(f, "{} MiB", bytes.div_ceil(1 << 20)),
        }
    }
}

/// Reserves memory, before it is used. Without a known limit, this always succeeds. Cheap for small sizes; else, it reads a few files of
/// `/proc` and `/sys`.
///
/// # Errors
///
/// If the memory is not free below the limits of this process. Memory that is reserved and in use counts twice, so the last part of a limit
/// is given to one call at a time.
pub fn reserve(bytes: u64) -> Result<ReservedMemory, OutOfMemory> {
    let before = RESERVED.fetch_add(bytes, Ordering::Relaxed);
    let reserved = ReservedMemory(Arc::new(Share(bytes)));
    if before / STEP == (before + bytes) / STEP {
        return Ok(reserved);
    }
    match limits::least_free() {
        Some((limit, free)) => fits(bytes, before, free, limit).map(|()| reserved),
        None => Ok(reserved),
    }
}

/// Checks a reservation beside others.
fn fits(needed: u64, others: u64, free: u64, limit: MemoryLimit) -> Result<(), OutOfMemory> {
    let free = free.saturating_sub(MARGIN).saturating_sub(others);
    if needed <= free { Ok(()) } else { Err(OutOfMemory { needed, free, limit }) }
}

/// Returns the number of bytes that may be reserved now; `None` if no limit is known.
pub fn free() -> Option<u64> {
    let (_, free) = limits::least_free()?;
    Some(free.saturating_sub(MARGIN).saturating_sub(RESERVED.load(Ordering::Relaxed)))
}

/// Returns the lowest limit of the memory of this process, if one is known.
pub fn limit() -> Option<MemoryLimit> {
    limits::lowest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_that_does_not_fit_beside_others_names_the_limit() {
        let limit = MemoryLimit::AddressSpace(300 << 20);
        let free = 100 << 20;
        assert_eq!(fits(free - MARGIN, 0, free, limit), Ok(()));
        assert_eq!(fits(free - MARGIN - 5, 5, free, limit), Ok(()));
        let error = fits(free - MARGIN - 5, 6, free, limit).unwrap_err();
        assert_eq!((error.needed, error.free), (free - MARGIN - 5, free - MARGIN - 6));
        let text = error.of("a.txt").message().to_owned();
        let expected = "there is not enough memory for a.txt: it needs about 76 MiB of memory, and 76 MiB are free of the 300 MiB that \
                        `ulimit -v` allows this process; raise the limit,";
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(fits(1, 0, MARGIN, limit).unwrap_err().free, 0);
    }

    #[test]
    fn a_reservation_ends_with_its_last_clone() {
        // Other tests of the process reserve less than this all together.
        const BYTES: u64 = 1 << 40;
        RESERVED.fetch_add(BYTES, Ordering::Relaxed);
        let one = ReservedMemory(Arc::new(Share(BYTES)));
        let other = one.clone();
        drop(one);
        assert!(RESERVED.load(Ordering::Relaxed) >= BYTES);
        drop(other);
        assert!(RESERVED.load(Ordering::Relaxed) < BYTES);
    }
}
