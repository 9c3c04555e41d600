//! Resource limits of a command.

use crate::config::ExecSettings;
use std::fs;
use std::thread::available_parallelism;
use toolkit_sandbox::Limits;

/// Number of processes and threads per processor, and the minimum.
const FOR_EACH_PROCESSOR: usize = 256;
const LEAST: usize = 4_096;
/// Mebibytes of a file.
const FILE: u64 = 16 << 10;

/// Returns the configured limits, or else defaults for this machine. The output store sets the limit of the output.
pub(super) fn of(settings: &ExecSettings) -> Limits {
    let processors = available_parallelism().map_or(1, usize::from);
    let processes = u32::try_from((FOR_EACH_PROCESSOR * processors).max(LEAST)).unwrap_or(u32::MAX);
    let limits = Limits::new()
        .with_processes(settings.max_processes.unwrap_or(processes))
        .with_file_size(settings.max_file_mb.unwrap_or(FILE) << 20);
    match settings.max_memory_mb.map(|mebibytes| mebibytes << 20).or_else(most_memory) {
        Some(bytes) => limits.with_memory(bytes),
        None => limits,
    }
}

/// Three quarters of the machine's memory.
fn most_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024 / 4 * 3)
}
