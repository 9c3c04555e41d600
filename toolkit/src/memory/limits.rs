//! The limits of this process, and how much of them is in use.

use std::path::{Path, PathBuf};

/// The end of numbers that mean no limit: control groups of version 1 have a number near the greatest one.
const NO_LIMIT: u64 = 1 << 60;

/// A limit of the memory of this process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryLimit {
    /// Of its addresses: `ulimit -v`.
    AddressSpace(u64),
    /// Of its data: `ulimit -d`.
    Data(u64),
    /// Of its control group, such as a container's or a service's.
    ControlGroup(u64),
}

impl MemoryLimit {
    /// The number of bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::AddressSpace(bytes) | Self::Data(bytes) | Self::ControlGroup(bytes) => bytes,
        }
    }

    /// The name of the limit, for a person who may raise it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AddressSpace(_) => "`ulimit -v`",
            Self::Data(_) => "`ulimit -d`",
            Self::ControlGroup(_) => "the control group (the container or the service)",
        }
    }
}

/// A limit and the number of bytes in use of it.
type Use = (MemoryLimit, u64);

/// Returns the limit of which the fewest bytes are free, with that number.
pub(super) fn least_free() -> Option<(MemoryLimit, u64)> {
    let free = |(limit, used): Use| (limit, limit.bytes().saturating_sub(used));
    all().into_iter().map(free).min_by_key(|(_, free)| *free)
}

/// Returns the lowest limit.
pub(super) fn lowest() -> Option<MemoryLimit> {
    all().into_iter().map(|(limit, _)| limit).min_by_key(|limit| limit.bytes())
}

/// Returns the limits of this process.
fn all() -> Vec<Use> {
    if cfg!(not(target_os = "linux")) {
        return Vec::new();
    }
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let mut all = of_process(&read("/proc/self/limits"), &read("/proc/self/status"));
    all.extend(of_groups(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup")));
    all
}

/// Returns the limits of the process itself, by its files `limits` and `status`.
fn of_process(limits: &str, status: &str) -> Vec<Use> {
    let limit = |name: &str| -> Option<u64> {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let used = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib << 10)
    };
    let address = limit("Max address space").map(MemoryLimit::AddressSpace).zip(used("VmSize:"));
    let data = limit("Max data size").map(MemoryLimit::Data).zip(used("VmData:"));
    address.into_iter().chain(data).collect()
}

/// The names of the files of one version of control groups.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// Names in `memory.stat` of memory that is taken away before the limit counts: copies of files, and what the system remembers of them.
    reclaimed: &'static [&'static str],
}

const VERSION_1: Files = Files {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimed: &["total_inactive_file ", "total_active_file "],
};
const VERSION_2: Files = Files {
    limit: "memory.max",
    used: "memory.current",
    reclaimed: &["inactive_file ", "active_file ", "slab_reclaimable "],
};

/// Returns the limits of the control groups of a process, by its file `cgroup`: of its own and of those above.
fn of_groups(groups: &str, root: &Path) -> Vec<Use> {
    let mut all = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (files, root) = if controllers.is_empty() {
            (VERSION_2, root.to_owned())
        } else if controllers.split(',').any(|name| name == "memory") {
            (VERSION_1, root.join("memory"))
        } else {
            continue;
        };
        // In a container, the path may be the one outside, and its own group is the root here.
        let path = PathBuf::from(path.trim_start_matches('/'));
        let groups =
            path.ancestors().filter(|group| !group.components().any(|part| part.as_os_str() == ".."));
        all.extend(groups.filter_map(|group| of_group(&root.join(group), &files)));
    }
    all
}

fn of_group(group: &Path, files: &Files) -> Option<Use> {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| -> Option<u64> { read(name)?.trim().parse().ok() };
    let limit = number(files.limit).filter(|limit| *limit < NO_LIMIT)?;
    let stat = read("memory.stat").unwrap_or_default();
    let bytes =
        |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    let reclaimed: u64 = files.reclaimed.iter().filter_map(|name| bytes(name)).sum();
    let used = number(files.used)?.saturating_sub(reclaimed);
    Some((MemoryLimit::ControlGroup(limit), used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const UNLIMITED: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
                             Max data size             unlimited            unlimited            bytes     \n\
                             Max address space         unlimited            unlimited            bytes     \n";

    #[test]
    fn limits_of_the_process_are_read_with_their_use() {
        let status = "Name:\ttoolkit\nVmPeak:\t  500 kB\nVmSize:\t  300 kB\nVmData:\t  200 kB\n";
        assert_eq!(of_process(UNLIMITED, status), []);
        let limits = UNLIMITED.replacen("unlimited ", "1000000   ", 1);
        assert_eq!(of_process(&limits, status), [(MemoryLimit::Data(1_000_000), 200 << 10)]);
        let limits = UNLIMITED.replace("address space         unlimited", "address space         409600   ");
        assert_eq!(of_process(&limits, status), [(MemoryLimit::AddressSpace(409_600), 300 << 10)]);
        assert_eq!(of_process("", ""), []);
    }

    #[test]
    fn limits_of_control_groups_are_read_with_their_use() {
        let directory = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = directory.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let of = |groups: &str| of_groups(groups, directory.path());
        let group = |limit, used| (MemoryLimit::ControlGroup(limit), used);
        assert_eq!(of("0::/a/b\n"), []);
        // Of version 2: its own, and one above.
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "100\n");
        write("a/memory.max", "1000\n");
        write("a/memory.current", "700\n");
        write("a/memory.stat", "anon 5\ninactive_file 300\nactive_file 50\n");
        assert_eq!(of("1:name=systemd:/x\n0::/a/b\n"), [group(1_000, 350)]);
        write("a/b/memory.max", "500\n");
        assert_eq!(of("0::/a/b\n"), [group(500, 100), group(1_000, 350)]);
        // Of version 1, in a container that has a path outside.
        write("memory/memory.limit_in_bytes", "2000\n");
        write("memory/memory.usage_in_bytes", "1500\n");
        write("memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n");
        assert_eq!(of("5:cpu:/\n4:memory:/docker/abc\n"), [group(2_000, 1_400)]);
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(of("4:hugetlb,memory:/docker/abc\n"), []);
        assert_eq!(of("0::/../../etc\nnonsense\n::\n"), []);
    }
}
