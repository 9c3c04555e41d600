//! The cargo workspace around a new crate.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Maximum number of bytes of a manifest that is read.
const LONGEST_MANIFEST: u64 = 1 << 20;

/// Location of a new crate relative to existing workspaces.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// There is no workspace above the crate, or one that lists it as a member: it builds as it is.
    Free,
    /// A workspace above the crate does not list it as a member. Without its own workspace the crate would not build.
    Within {
        /// The manifest.
        manifest: PathBuf,
    },
}

impl Place {
    /// Finds the workspace above a directory, which need not exist yet.
    pub(super) fn of(directory: &Path) -> Self {
        for above in directory.ancestors().skip(1) {
            let manifest = above.join("Cargo.toml");
            let mut text = String::new();
            let read =
                File::open(&manifest).and_then(|file| file.take(LONGEST_MANIFEST).read_to_string(&mut text));
            if read.is_err() || !is_workspace(&text) {
                continue;
            }
            let inner = directory.strip_prefix(above).unwrap_or(directory);
            let is_member = members(&text).any(|member| is_matched(inner, Path::new(member)));
            return if is_member { Self::Free } else { Self::Within { manifest } };
        }
        Self::Free
    }

    /// Returns the `[workspace]` table for the crate's manifest, or an empty text.
    pub(super) fn table(&self) -> &'static str {
        match self {
            Self::Free => "",
            Self::Within { .. } => {
                "\n# A workspace of its own, since the workspace around it does not list it in `members`.\n[workspace]\n"
            }
        }
    }
}

fn is_workspace(manifest: &str) -> bool {
    let tables = manifest.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    tables.into_iter().any(|line| {
        let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).map(str::trim);
        name == Some("workspace") || name.is_some_and(|name| name.starts_with("workspace."))
    })
}

/// The members that a workspace's manifest names.
fn members(manifest: &str) -> impl Iterator<Item = &str> {
    let workspace = manifest.split_once("[workspace]").map_or("", |(_, rest)| rest);
    let members = workspace.lines().skip_while(|line| {
        let rest = line.trim_start().strip_prefix("members").map(str::trim_start);
        !rest.is_some_and(|rest| rest.starts_with('='))
    });
    let mut is_over = false;
    let list = members.map(|line| line.split('#').next().unwrap_or_default()).take_while(move |line| {
        let is_within = !is_over;
        is_over |= line.contains(']');
        is_within
    });
    list.flat_map(|line| line.split('"').skip(1).step_by(2))
}

/// Returns true if a path matches a workspace member, which may have wildcards.
fn is_matched(path: &Path, member: &Path) -> bool {
    let member = member.strip_prefix(".").unwrap_or(member);
    let (parts, wanted): (Vec<_>, Vec<_>) = (path.components().collect(), member.components().collect());
    parts.len() == wanted.len()
        && parts.iter().zip(&wanted).all(|(part, wanted)| {
            let (part, wanted) = (part.as_os_str().to_string_lossy(), wanted.as_os_str().to_string_lossy());
            match wanted.split_once('*') {
                None => part == wanted,
                Some((before, after)) => {
                    part.len() >= before.len() + after.len()
                        && part.starts_with(before)
                        && part.ends_with(after)
                }
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_of_workspaces() {
        for (manifest, expected) in [
            ("[workspace]\nresolver = \"3\"\n", true),
            ("[package]\nname = \"x\"\n\n[ workspace ] # mine\n", true),
            ("[workspace.package]\nversion = \"1\"\n", true),
            ("[package]\nname = \"workspace\"\n", false),
            ("# [workspace]\n", false),
            ("", false),
        ] {
            assert_eq!(is_workspace(manifest), expected, "{manifest:?}");
        }
    }

    #[test]
    fn members_of_workspaces() {
        let manifest = "[package]\nname = \"a\"\n[workspace]\nexclude = [\"e\"]\nmembers = [\n  \"one\", # \"two\"\n  \"crates/*\",\n]\ndefault-members = [\"d\"]\n";
        assert_eq!(members(manifest).collect::<Vec<_>>(), ["one", "crates/*"]);
        assert_eq!(members("[workspace]\nmembers = [\"x\"]\n").collect::<Vec<_>>(), ["x"]);
        assert_eq!(members("[workspace]\n").count(), 0);
        for (path, member, expected) in [
            ("one", "one", true),
            ("one", "./one", true),
            ("one", "on*", true),
            ("crates/one", "crates/*", true),
            ("crates/one", "crates/o*e", true),
            ("crates/one", "crates/oo*e", false),
            ("crates/o", "crates/o*o", false),
            ("crates/a/one", "crates/*", false),
            ("one", "crates/*", false),
        ] {
            assert_eq!(is_matched(Path::new(path), Path::new(member)), expected, "{path} {member}");
        }
    }
}
