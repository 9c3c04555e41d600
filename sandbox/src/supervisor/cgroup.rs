//! A control group (cgroup v2) for one job.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, getpid};

use crate::{Limit, Limits};

/// Prefix of the groups' names, before the id of the supervisor.
const PREFIX: &str = "toolkit-job-";

/// A group that holds the processes of a job.
#[derive(Debug)]
pub(super) struct Cgroup(PathBuf);

impl Cgroup {
    /// Creates a group. Groups of supervisors that were killed are removed.
    pub(super) fn make(within: &Path, limits: Limits) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        remove_left(within);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = within.join(format!("{PREFIX}{}-{count}", getpid().as_raw_nonzero()));
        fs::create_dir(&path)?;
        let group = Self(path);
        let result = group.limit(limits);
        if result.is_err() {
            group.remove();
        }
        result.map(|()| group)
    }

    fn limit(&self, limits: Limits) -> io::Result<()> {
        if let Some(bytes) = limits.memory {
            self.write("memory.max", &bytes.to_string())?;
            // Not all systems swap.
            let _ = self.write("memory.swap.max", "0");
            self.write("memory.oom.group", "1")?;
        }
        if let Some(count) = limits.processes {
            self.write("pids.max", &count.to_string())?;
        }
        Ok(())
    }

    fn write(&self, name: &str, value: &str) -> io::Result<()> {
        fs::write(self.0.join(name), value)
    }

    /// Takes a process in, with all that it starts from now on.
    pub(super) fn add(&self, pid: Pid) -> io::Result<()> {
        self.write("cgroup.procs", &pid.as_raw_nonzero().to_string())
    }

    /// The limit that the kernel has enforced.
    pub(super) fn exceeded(&self) -> Option<Limit> {
        let happened = |file: &str, event: &str| {
            let text = fs::read_to_string(self.0.join(file)).unwrap_or_default();
            let count = text.lines().find_map(|line| line.strip_prefix(event)?.trim().parse::<u64>().ok());
            count.is_some_and(|count| count > 0)
        };
        if happened("memory.events", "oom_kill ") {
            return Some(Limit::Memory);
        }
        happened("pids.events", "max ").then_some(Limit::Processes)
    }

    /// Removes it, once nothing is in it.
    pub(super) fn remove(&self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Removes groups whose supervisor, and so their processes, are gone.
fn remove_left(within: &Path) {
    for entry in fs::read_dir(within).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner.to_string()).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Returns the directory in which groups can be created, found by trying it. Run in a separate process, which is moved to a
/// group and back.
pub(crate) fn usable() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    candidates(&own, &mounts).into_iter().find(|candidate| is_usable(candidate))
}

fn is_usable(within: &Path) -> bool {
    let given = fs::read_to_string(within.join("cgroup.subtree_control")).unwrap_or_default();
    if !["memory", "pids"].iter().all(|wanted| given.split_ascii_whitespace().any(|name| name == *wanted)) {
        return false;
    }
    let limits = Limits::new().with_memory(1 << 40).with_processes(1 << 20);
    let Ok(group) = Cgroup::make(within, limits) else { return false };
    let here = own_directory();
    let is_entered = group.add(getpid()).is_ok();
    let is_left = here.is_some_and(|here| fs::write(here.join("cgroup.procs"), "0").is_ok());
    group.remove();
    is_entered && is_left
}

fn own_directory() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    of_process(&own, &mounts)
}

/// The directory of the group that a process is in, by its `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn of_process(own: &str, mounts: &str) -> Option<PathBuf> {
    let own = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    let mut fields = mount.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    let below = Path::new(own).strip_prefix(root).ok()?;
    Some(Path::new(point).join(below))
}

/// Returns the directories in which groups may be created: the parent of the process's own group, since a group with processes
/// cannot divide its resources, and the group itself.
fn candidates(own: &str, mounts: &str) -> Vec<PathBuf> {
    let Some(own) = of_process(own, mounts) else { return Vec::new() };
    own.parent().map(Path::to_owned).into_iter().chain([own]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "30 24 0:26 / /sys rw shared:7 - sysfs sysfs rw\n\
                          35 30 0:31 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn groups_are_made_beside_that_of_the_process() {
        let own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope\n";
        let app = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
        assert_eq!(candidates(own, MOUNTS), [PathBuf::from(app), Path::new(app).join("a.scope")]);
        assert_eq!(candidates("4:memory:/x\n0::/\n", MOUNTS)[1], Path::new("/sys/fs/cgroup"));
        assert!(candidates("4:memory:/x\n", MOUNTS).is_empty());
        assert!(candidates(own, "30 24 0:26 / /sys rw - sysfs sysfs rw\n").is_empty());
    }

    #[test]
    fn a_group_holds_its_limits_and_tells_what_was_enforced() {
        // Ordinary files stand in for those of the kernel.
        let within = tempfile::tempdir().unwrap();
        let left = within.path().join(format!("{PREFIX}4194304-0"));
        fs::create_dir(&left).unwrap();
        let group =
            Cgroup::make(within.path(), Limits::new().with_memory(1 << 20).with_processes(7)).unwrap();
        assert!(!left.exists());
        let read = |name: &str| fs::read_to_string(group.0.join(name)).unwrap();
        assert_eq!((read("memory.max"), read("pids.max")), ("1048576".to_owned(), "7".to_owned()));
        assert_eq!(read("memory.oom.group"), "1");
        group.add(getpid()).unwrap();
        assert_eq!(read("cgroup.procs"), std::process::id().to_string());
        assert_eq!(group.exceeded(), None);
        fs::write(group.0.join("pids.events"), "max 3\n").unwrap();
        assert_eq!(group.exceeded(), Some(Limit::Processes));
        fs::write(group.0.join("memory.events"), "low 0\nmax 9\noom 1\noom_kill 1\n").unwrap();
        assert_eq!(group.exceeded(), Some(Limit::Memory));
    }
}
