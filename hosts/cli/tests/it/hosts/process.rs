//! The resources that a process holds.

use std::fs;
use std::path::Path;

/// The resources of a process and of those that it started, at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) resident_kib: u64,
    pub(crate) descriptors: u64,
    pub(crate) threads: u64,
    /// Processes that it started, and theirs.
    pub(crate) processes: u64,
    /// Files below the data directory.
    pub(crate) files: u64,
}

impl Held {
    /// Names of the resources in reports, with their numbers here.
    pub(crate) fn named(&self) -> [(&'static str, u64); 5] {
        let Self { resident_kib, descriptors, threads, processes, files } = *self;
        [
            ("memory, KiB", resident_kib),
            ("descriptors", descriptors),
            ("threads", threads),
            ("processes", processes),
            ("files", files),
        ]
    }

    pub(crate) fn of(id: u32, data: &Path) -> Self {
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("the process is there");
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a known line");
            line.trim().trim_end_matches(" kB").parse().expect("a number")
        };
        let descriptors = fs::read_dir(format!("/proc/{id}/fd")).expect("the process is ours").count();
        Self {
            resident_kib: number("VmRSS:"),
            descriptors: descriptors as u64,
            threads: number("Threads:"),
            processes: descendants(id).len() as u64,
            files: files_below(data),
        }
    }
}

/// The processes that this one started, and those that they started.
fn descendants(id: u32) -> Vec<u32> {
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|child| Some((child, parent(child)?)))
        .collect();
    let mut found = vec![id];
    let mut next = 0;
    while let Some(&above) = found.get(next) {
        found.extend(all.iter().filter(|(_, parent)| *parent == above).map(|(child, _)| *child));
        next = next.saturating_add(1);
    }
    found.split_off(1)
}

/// The processes among those that are commands, and not the helpers that start them, which a host keeps.
pub(crate) fn commands(id: u32) -> Vec<u32> {
    let is_command = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        !line.is_empty() && !line.starts_with(b"toolkit-spawner")
    };
    descendants(id).into_iter().filter(is_command).collect()
}

fn parent(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may hold spaces and parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    (fields.next()? != "Z").then(|| fields.next()?.parse().ok())?
}

fn files_below(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path()),
            _ => 1,
        })
        .sum()
}

/// How much a resource grows for each thousand of operations, in thousandths: the slope of the line that fits the samples best.
pub(crate) fn slope(samples: &[(u64, u64)]) -> i128 {
    let sum = |of: &dyn Fn(i128, i128) -> i128| -> i128 {
        samples.iter().map(|(operations, held)| of((*operations).into(), (*held).into())).sum()
    };
    let count = sum(&|_, _| 1);
    let (along, held) = (sum(&|operations, _| operations), sum(&|_, held| held));
    let above = count * sum(&|operations, held| operations * held) - along * held;
    let below = count * sum(&|operations, _| operations * operations) - along * along;
    (above * 1_000_000).checked_div(below).unwrap_or_default()
}

#[test]
fn a_slope_is_growth_for_each_thousand() {
    assert_eq!(slope(&[(0, 10), (1000, 12), (2000, 14)]), 2_000);
    assert_eq!(slope(&[(0, 7), (500, 7)]), 0);
    assert_eq!(slope(&[(5, 7)]), 0);
}
