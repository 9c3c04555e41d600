//! Descendants of a process, read from `/proc`.

use std::collections::{HashMap, HashSet, VecDeque};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;

use rustix::process::{Pid, PidfdFlags, Signal, getsid, kill_process_group, pidfd_open, pidfd_send_signal};

use crate::Process;

/// Maximum length of a returned command line.
const COMMAND: usize = 4096;

/// The fields read from `/proc/<pid>/stat`.
struct Stat {
    name: String,
    state: char,
    parent: i32,
    group: i32,
    session: i32,
}

fn stat(pid: i32) -> Option<Stat> {
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses, and may itself contain parentheses.
    let (open, close) = (memchr::memchr(b'(', &text)?, memchr::memrchr(b')', &text)?);
    let name = String::from_utf8_lossy(text.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Stat { name, state, parent, group, session: fields.next()?.parse().ok()? })
}

/// Returns true if this system lists the children of each thread.
fn lists_children() -> bool {
    static LISTS: OnceLock<bool> = OnceLock::new();
    *LISTS.get_or_init(|| std::fs::exists("/proc/thread-self/children").unwrap_or(false))
}

fn numbers(path: impl AsRef<Path>) -> impl Iterator<Item = i32> {
    std::fs::read_dir(path)
        .into_iter()
        .flatten()
        .filter_map(|entry| std::str::from_utf8(entry.ok()?.file_name().as_bytes()).ok()?.parse().ok())
}

/// Returns the children of a process, including zombies.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    if lists_children() {
        numbers(format!("/proc/{pid}/task"))
            .filter_map(|thread| std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).ok())
            .flat_map(|text| {
                text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
            })
            .collect()
    } else {
        numbers("/proc").filter(|&other| stat(other).is_some_and(|stat| stat.parent == pid)).collect()
    }
}

/// All that descend from a process, parents before children.
pub(crate) fn descendants(pid: i32) -> Vec<i32> {
    let mut found = Vec::new();
    each_descendant(pid, |pid| {
        found.push(pid);
        true
    });
    found
}

/// Calls a function with each process that descends from `pid`, parents before children, until it returns false. Processes may be created
/// faster than they are found, so a search that is to end must stop by itself.
pub(crate) fn each_descendant(pid: i32, mut see: impl FnMut(i32) -> bool) {
    let mut by_parent: HashMap<i32, Vec<i32>> = HashMap::new();
    if !lists_children() {
        for other in numbers("/proc") {
            if let Some(stat) = stat(other) {
                by_parent.entry(stat.parent).or_default().push(other);
            }
        }
    }
    let mut below =
        |pid: i32| if lists_children() { children(pid) } else { by_parent.remove(&pid).unwrap_or_default() };
    let mut known = HashSet::new();
    let mut waiting = VecDeque::from([pid]);
    while let Some(next) = waiting.pop_front() {
        // Before `see`, which may kill it: its children have another parent then.
        let children = below(next);
        if next != pid && !see(next) {
            return;
        }
        waiting.extend(children.into_iter().filter(|&child| known.insert(child)));
    }
}

/// Returns true if one process descends from the other.
fn descends(pid: i32, from: i32) -> bool {
    let mut at = pid;
    // A longer chain must have changed during the walk.
    for _ in 0..100_000 {
        match stat(at) {
            Some(stat) if stat.parent == from => return true,
            Some(stat) if stat.parent > 1 => at = stat.parent,
            _ => return false,
        }
    }
    false
}

/// Signals a process below `root`. If its id belongs to another process by now, that one is left alone.
pub(crate) fn signal(pid: i32, root: i32, signals: &[Signal]) -> bool {
    let Some(id) = Pid::from_raw(pid) else { return false };
    let Ok(handle) = pidfd_open(id, PidfdFlags::empty()) else { return false };
    if !descends(pid, root) {
        return false;
    }
    signals.iter().all(|&signal| pidfd_send_signal(&handle, signal).is_ok())
}

/// Kills a process below `root`, with its process group, unless the group is in the session of this process. A process that forks faster
/// than its children are found does not escape: a fork fails while the signal to the group is pending. `killed` contains the groups that
/// were killed already.
pub(crate) fn kill(pid: i32, root: i32, killed: &mut HashSet<i32>) {
    if stat(pid).is_some_and(|stat| killed.contains(&stat.group)) {
        return;
    }
    let Some(id) = Pid::from_raw(pid) else { return };
    let Ok(handle) = pidfd_open(id, PidfdFlags::empty()) else { return };
    if !descends(pid, root) {
        return;
    }
    // While a member is stopped, the group exists and its id cannot be reused. Members of a group are in one session, and a session other
    // than this one was created below `root`.
    let is_stopped = pidfd_send_signal(&handle, Signal::STOP).is_ok();
    let own_session = getsid(None).map_or(0, |session| session.as_raw_nonzero().get());
    if is_stopped
        && let Some(stat) = stat(pid).filter(|stat| stat.session > 0 && stat.session != own_session)
        && let Some(group) = Pid::from_raw(stat.group)
        && kill_process_group(group, Signal::KILL).is_ok()
    {
        killed.insert(stat.group);
    }
    let _ = pidfd_send_signal(&handle, Signal::KILL);
}

/// Describes a process. `None` if it is gone.
pub(crate) fn describe(pid: i32) -> Option<Process> {
    let stat = stat(pid)?;
    let mut line = Vec::new();
    if let Ok(file) = std::fs::File::open(format!("/proc/{pid}/cmdline")) {
        let _ = std::io::Read::read_to_end(&mut std::io::Read::take(file, COMMAND as u64), &mut line);
    }
    while line.last() == Some(&0) {
        line.pop();
    }
    let command = if line.is_empty() {
        format!("[{}]", stat.name)
    } else {
        String::from_utf8_lossy(&line).replace('\0', " ")
    };
    Some(Process {
        pid: u32::try_from(pid).ok()?,
        parent: u32::try_from(stat.parent).unwrap_or(0),
        command,
        state: stat.state,
    })
}

/// Returns the state letter of a process; `None` if it is gone.
pub(crate) fn state(pid: i32) -> Option<char> {
    stat(pid).map(|stat| stat.state)
}

/// Returns true if a process still runs, rather than being a zombie.
pub(crate) fn alive(pid: i32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// The property by which an output is recognised among the descriptors of other processes.
#[derive(Debug, Clone)]
pub(crate) enum Identity {
    /// Targets of the links in `/proc/<pid>/fd`.
    Links(Vec<String>),
    /// The end of the link's target: a terminal is reached by another path from within a sandbox.
    Suffix(String),
}

/// The names that links to these descriptors have under `/proc`.
pub(crate) fn links<'a>(descriptors: impl IntoIterator<Item = &'a OwnedFd>) -> Identity {
    Identity::Links(
        descriptors
            .into_iter()
            .filter_map(|fd| std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok())
            .map(|link| link.to_string_lossy().into_owned())
            .collect(),
    )
}

/// Returns true if a process has this output open.
pub(crate) fn holds(pid: i32, output: &Identity) -> bool {
    numbers(format!("/proc/{pid}/fd")).any(|fd| {
        std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|target| {
            let target = target.to_string_lossy();
            match output {
                Identity::Links(links) => links.iter().any(|link| *link == target),
                Identity::Suffix(suffix) => target.ends_with(suffix),
            }
        })
    })
}

/// Returns every process of the system, for the search for one outside the tree.
pub(crate) fn everyone() -> impl Iterator<Item = i32> {
    numbers("/proc")
}

/// The processes of a process group.
pub(crate) fn group(group: i32) -> Vec<i32> {
    numbers("/proc").filter(|&pid| stat(pid).is_some_and(|stat| stat.group == group)).collect()
}

/// Returns the number of threads of a process; 0 if it is gone.
pub(crate) fn threads(pid: i32) -> u64 {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, |threads| threads.count() as u64)
}

/// Returns the memory of a process that is not backed by files, in bytes, including memory shared with other processes.
pub(crate) fn private_memory(pid: i32) -> u64 {
    let read = || {
        let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let mut pages = text.split_ascii_whitespace().skip(1).map(|pages| pages.parse::<u64>().ok());
        let (resident, of_files) = (pages.next()??, pages.next()??);
        Some(resident.saturating_sub(of_files) * rustix::param::page_size() as u64)
    };
    read().unwrap_or(0)
}

/// Returns the memory of a process that it may share and that is backed by no file on a disk, in bytes, or with `exact` its proportion of it.
pub(crate) fn shared_memory(pid: i32, exact: bool) -> u64 {
    let (file, label) = if exact { ("smaps_rollup", "Pss_Shmem:") } else { ("status", "RssShmem:") };
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/{file}")) else { return 0 };
    let line = text.lines().find_map(|line| line.strip_prefix(label));
    let kibibytes = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// The magic numbers of file systems whose files are memory: tmpfs, also of anonymous files, and hugetlbfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x9584_58f6];
/// Maximum number of descriptors that are looked at in one process.
const MAX_DESCRIPTORS: usize = 4_096;

/// Returns the memory of the files that these processes hold open and that are on no disk, in bytes: anonymous files, and those of
/// `/dev/shm`. Each file counts once. A file system that a process has mounted for itself alone there counts with all its files.
pub(crate) fn files_in_memory(processes: &[i32]) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let device = |path: &Path| std::fs::metadata(path).ok().map(|found| found.dev());
    let of_host = ["/dev/shm", "/tmp", "/var/tmp"].map(|path| device(Path::new(path)));
    let (mut mounts, mut files, mut sum) = (HashSet::new(), HashSet::new(), 0);
    for pid in processes {
        for place in ["dev/shm", "tmp", "var/tmp"] {
            let path = Path::new("/proc").join(pid.to_string()).join("root").join(place);
            let Some(found) = device(&path).filter(|found| !of_host.contains(&Some(*found))) else {
                continue;
            };
            if is_in_memory(&path) && mounts.insert(found) {
                let used = rustix::fs::statfs(&path);
                sum += used.map_or(0, |used| {
                    used.f_blocks.saturating_sub(used.f_bfree) * u64::try_from(used.f_bsize).unwrap_or(0)
                });
            }
        }
    }
    for pid in processes {
        let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { continue };
        for entry in entries.filter_map(Result::ok).take(MAX_DESCRIPTORS) {
            let path = entry.path();
            let Ok(found) = std::fs::metadata(&path) else { continue };
            let is_new = found.is_file()
                && !mounts.contains(&found.dev())
                && is_in_memory(&path)
                && files.insert((found.dev(), found.ino()));
            if is_new {
                sum += found.blocks() * 512;
            }
        }
    }
    sum
}

fn is_in_memory(path: impl rustix::path::Arg) -> bool {
    let found = rustix::fs::statfs(path);
    found.is_ok_and(|found| u64::try_from(found.f_type).is_ok_and(|kind| IN_MEMORY.contains(&kind)))
}

/// Returns the same with only its proportion of shared memory. This takes longer.
pub(crate) fn exact_memory(pid: i32) -> u64 {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) else {
        return private_memory(pid);
    };
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    field("Pss_Anon:").or_else(|| field("Pss:")).map_or(0, |kibibytes| kibibytes * 1024)
}
