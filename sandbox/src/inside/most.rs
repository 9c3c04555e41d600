//! Limits that the kernel enforces on a job: the maximum number of processes, the size of files and of shared memory, and the order in
//! which the OOM killer selects processes.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Numbers below this are given out once, after the start of a namespace (`RESERVED_PIDS`).
const RESERVED: u32 = 300;
/// Number of the sandbox's own processes that are added to a limit: the first process, and those that connect sockets.
const OWN: u32 = 16;
/// Between 0 and 1000; a host has 0.
const PREFERENCE: i32 = 500;

/// Lets the kernel kill this process, and all that come of it, before others where memory runs out.
pub(crate) fn prefer_to_kill() {
    const PATH: &str = "/proc/self/oom_score_adj";
    let is_lower = std::fs::read_to_string(PATH)
        .is_ok_and(|text| text.trim().parse().is_ok_and(|now: i32| now < PREFERENCE));
    if is_lower {
        let _ = std::fs::write(PATH, PREFERENCE.to_string());
    }
}

/// Limits processes and threads, in the first process of a namespace of users and of process ids.
pub(crate) fn limit_processes(count: u32) {
    let count = count.saturating_add(OWN);
    let version = version();
    // Before, it would be the limit of the whole system.
    if version >= (6, 14) {
        let _ = std::fs::write("/proc/sys/kernel/pid_max", count.saturating_add(RESERVED).to_string());
    }
    // Before, all processes of the user were counted.
    if version >= (5, 14) {
        let now = getrlimit(Resource::Nproc);
        let least =
            |limit: Option<u64>| Some(limit.map_or(u64::from(count), |limit| limit.min(u64::from(count))));
        let _ =
            setrlimit(Resource::Nproc, Rlimit { current: least(now.current), maximum: least(now.maximum) });
    }
}

/// Limits the size of each file that this process, and all that come of it, write to.
pub(crate) fn limit_file_size(bytes: u64) {
    let now = getrlimit(Resource::Fsize);
    let least = |limit: Option<u64>| Some(limit.map_or(bytes, |limit| limit.min(bytes)));
    let _ = setrlimit(Resource::Fsize, Rlimit { current: least(now.current), maximum: least(now.maximum) });
}

/// Limits the shared memory of System V, which counts as nobody's, in a namespace of its own.
pub(crate) fn limit_shared_memory(bytes: u64) {
    let pages = bytes / rustix::param::page_size() as u64;
    let _ = std::fs::write("/proc/sys/kernel/shmall", pages.to_string());
}

/// Number of processes and threads of others that may begin while a job without a namespace runs.
const OTHERS: u64 = 64;

/// Limits processes and threads of this user, in a command without a namespace of process ids: to those of the whole system now and as many
/// as the job may have. The supervisor enforces the exact limit; this one ends the growth until it does. It does not hold for root.
pub(crate) fn limit_processes_of_user(count: u32) {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let Some(present) = threads_of_system(&load) else { return };
    let most = present.saturating_add(u64::from(count)).saturating_add(OTHERS);
    let now = getrlimit(Resource::Nproc);
    let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    let _ = setrlimit(Resource::Nproc, Rlimit { current: least(now.current), maximum: now.maximum });
}

/// Returns the number of threads in `/proc/loadavg`: `0.20 0.18 0.12 1/80 11206`.
fn threads_of_system(load: &str) -> Option<u64> {
    load.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// Returns the version of the kernel; 0.0 if it is unknown.
fn version() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_read_from_the_load() {
        assert_eq!(threads_of_system("0.20 0.18 0.12 1/80 11206\n"), Some(80));
        assert_eq!(threads_of_system(""), None);
        assert_eq!(threads_of_system("0.20 0.18 0.12 80"), None);
    }
}
