//! Directories of the system, without which no command runs.

use std::path::Path;

/// Directories of the system, without which no command runs. A rule about them, or about a directory above them, does not hide them; a rule
/// about something in them does.
pub(super) const OF_SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap",
    "/proc", "/sys", "/dev", "/run",
];

/// Returns true if a path is in a directory of the system.
pub(super) fn is_of_system(path: &Path) -> bool {
    OF_SYSTEM.iter().any(|directory| path.starts_with(directory))
}
