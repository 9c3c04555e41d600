//! The user and group in a user namespace: the same as outside.

use std::fmt::Write as _;

use rustix::process::{getegid, geteuid};

use crate::failure::{Failure, Step};

/// Writes the user and group mappings of a process in its own user namespace. Called from outside by the process that created it.
///
/// Root keeps all users, so that files keep their owners; any other user keeps only itself, and all other owners appear as nobody.
pub(crate) fn write(pid: i32) -> Result<(), Failure> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let map = |kind: &str, text: &str| std::fs::write(format!("/proc/{pid}/{kind}"), text);
    let failed = |error: &std::io::Error| Failure::io(Step::Namespaces, error);
    let all = user == 0 && map("uid_map", &same("/proc/self/uid_map")).is_ok();
    if !all {
        map("uid_map", &format!("{user} {user} 1")).map_err(|error| failed(&error))?;
    }
    if !(all && map("gid_map", &same("/proc/self/gid_map")).is_ok()) {
        // Without this a process could leave groups that restrict its access.
        map("setgroups", "deny").map_err(|error| failed(&error))?;
        map("gid_map", &format!("{group} {group} 1")).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// A map that leaves all numbers of this namespace as they are.
fn same(path: &str) -> String {
    let mut map = String::new();
    for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
        let mut fields = line.split_ascii_whitespace();
        if let (Some(first), _, Some(count)) = (fields.next(), fields.next(), fields.next()) {
            let _ = writeln!(map, "{first} {first} {count}");
        }
    }
    map
}
