//! The async runtime of the command.

use crate::exit::Stop;
use tokio::runtime::{Builder, Runtime};
use toolkit::memory::{self, MemoryLimit};

/// Maximum number of threads for blocking work, as that of tokio.
const MAX_THREADS: u64 = 512;
/// The least maximum.
const MIN_THREADS: u64 = 16;
/// Bytes of a limit for each thread. Its stack takes an eighth of them at once, used or not.
const MEMORY_OF_THREAD: u64 = 16 << 20;

/// Creates the runtime, with as many threads for blocking work as the memory allows: a thread that cannot be started ends the process.
pub(crate) fn new() -> Result<Runtime, Stop> {
    Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(threads(memory::limit()))
        .build()
        .map_err(|error| Stop::cannot_start(format!("the runtime cannot start: {error}")))
}

fn threads(limit: Option<MemoryLimit>) -> usize {
    let most = limit.map_or(MAX_THREADS, |limit| limit.bytes() / MEMORY_OF_THREAD);
    usize::try_from(most.clamp(MIN_THREADS, MAX_THREADS)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_fewer_threads_where_memory_is_limited() {
        assert_eq!(threads(None), 512);
        assert_eq!(threads(Some(MemoryLimit::AddressSpace(64 << 20))), 16);
        assert_eq!(threads(Some(MemoryLimit::ControlGroup(1 << 30))), 64);
        assert_eq!(threads(Some(MemoryLimit::Data(1 << 40))), 512);
    }
}
