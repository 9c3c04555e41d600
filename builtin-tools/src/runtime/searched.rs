//! The files that a search of a command opens, found as the search finds them.

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder};
use shell_verdict::{Search, SearchedFiles, tracked_files};
use std::path::{Path, PathBuf};

/// Maximum number of directory entries that are examined, including ignored ones.
const MAX_ENTRIES: usize = 200_000;

/// Returns the files that a search below a directory may open, without symlinks, which it does not follow. `None` among them is an
/// unknown file.
pub(super) fn files(directory: &Path, search: &Search) -> Box<dyn Iterator<Item = Option<PathBuf>>> {
    match &search.files {
        SearchedFiles::NotIgnored { hidden } => match globs(directory, &search.globs) {
            Some(globs) => not_ignored(directory, *hidden, globs),
            None => Box::new(std::iter::once(None)),
        },
        SearchedFiles::Tracked => match tracked_files(directory) {
            Some(files) => Box::new(real(files).map(Some)),
            None => Box::new(std::iter::once(None)),
        },
        SearchedFiles::Named { include, exclude, exclude_dir } => {
            named(directory, include, exclude.clone(), exclude_dir.clone())
        }
        _ => Box::new(std::iter::once(None)),
    }
}

/// The files by their real paths. A directory of them may have been replaced by a link since they were tracked, and leads elsewhere then.
fn real(files: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> {
    let mut known: Option<(PathBuf, PathBuf)> = None;
    files.into_iter().filter_map(move |file| {
        let parent = file.parent()?;
        if known.as_ref().is_none_or(|(of, _)| of != parent) {
            // A file that does not exist cannot be opened.
            known = Some((parent.to_owned(), parent.canonicalize().ok()?));
        }
        let (_, real) = known.as_ref()?;
        Some(real.join(file.file_name()?))
    })
}

/// Returns the files that `rg` opens, by the rules of the directories above and of git.
fn not_ignored(directory: &Path, hidden: bool, globs: Override) -> Box<dyn Iterator<Item = Option<PathBuf>>> {
    let mut walk = WalkBuilder::new(directory);
    walk.hidden(!hidden).overrides(globs).add_custom_ignore_filename(".rgignore");
    Box::new(walk.build().take(MAX_ENTRIES + 1).enumerate().filter_map(|(count, entry)| match entry {
        _ if count == MAX_ENTRIES => Some(None),
        Ok(entry) => file_of(entry).map(Some),
        // The search cannot open entries of a directory that cannot be listed.
        Err(_) => None,
    }))
}

/// Returns all files whose names match.
fn named(
    directory: &Path,
    include: &[String],
    exclude: Vec<String>,
    exclude_dir: Vec<String>,
) -> Box<dyn Iterator<Item = Option<PathBuf>>> {
    let mut walk = WalkBuilder::new(directory);
    walk.standard_filters(false).filter_entry(move |entry| {
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_left_out = || name_fits(entry.path(), &exclude_dir);
        entry.depth() == 0 || !is_directory || !is_left_out()
    });
    // The number of bytes per character depends on the locale, and the pattern may match more here than it does there.
    let include: Vec<String> = include.iter().map(|pattern| pattern.replace('?', "*")).collect();
    let fits =
        move |path: &Path| (include.is_empty() || name_fits(path, &include)) && !name_fits(path, &exclude);
    Box::new(walk.build().take(MAX_ENTRIES + 1).enumerate().filter_map(move |(count, entry)| match entry {
        _ if count == MAX_ENTRIES => Some(None),
        Ok(entry) => file_of(entry).filter(|file| fits(file)).map(Some),
        Err(_) => None,
    }))
}

fn file_of(entry: DirEntry) -> Option<PathBuf> {
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    is_file.then(|| entry.into_path())
}

/// Parses the globs of `rg -g`. `None` if one is invalid.
fn globs(directory: &Path, globs: &[String]) -> Option<Override> {
    let mut builder = OverrideBuilder::new(directory);
    for glob in globs {
        builder.add(glob).ok()?;
    }
    builder.build().ok()
}

fn name_fits(path: &Path, patterns: &[String]) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    patterns.iter().any(|pattern| fits(pattern.as_bytes(), name))
}

/// Returns true if a pattern, in which `*` stands for any text, matches a whole name.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Position of the last `*`, and the length of the text that it matches.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(&sign) if sign == name[from] => (at, from) = (at + 1, from + 1),
            _ => {
                let Some((begin, taken)) = star else { return false };
                star = Some((begin, taken + 1));
                (at, from) = (begin + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|sign| *sign == b'*')
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;

    #[test]
    fn a_pattern_describes_a_whole_name() {
        for (pattern, name, expected) in [
            ("*.rs", "main.rs", true),
            ("*.rs", "main.rs.bak", false),
            ("*", "", true),
            (".env*", ".env.local", true),
            ("a*b*c", "axbxbc", true),
            ("a*b", "a", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_tracked_file_behind_a_link_is_where_the_link_leads() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("there")).unwrap();
        std::os::unix::fs::symlink("there", root.join("link")).unwrap();
        let files = ["link/a", "there/b", "none/c"].map(|name| root.join(name));
        let found: Vec<PathBuf> = real(files.to_vec()).collect();
        assert_eq!(found, ["there/a", "there/b"].map(|name| root.join(name)));
    }

    #[test]
    fn globs_bring_ignored_and_hidden_files_back() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(root.join("target")).unwrap();
        fs::write(root.join(".gitignore"), "/target\n.env\nkey.rs\n").unwrap();
        for name in ["a.rs", "b.md", ".env", ".hidden", "key.rs", "target/c.rs"] {
            fs::write(root.join(name), "").unwrap();
        }
        let found = |hidden, globs: &[&str]| -> BTreeSet<String> {
            let globs = globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
            let globs = super::globs(root, &globs).unwrap();
            let names = not_ignored(root, hidden, globs)
                .map(|file| file.unwrap().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            names.filter(|name| !name.starts_with(".git")).collect()
        };
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(found(false, &[]), set(&["a.rs", "b.md"]));
        assert_eq!(found(true, &[]), set(&["a.rs", "b.md", ".hidden"]));
        assert_eq!(found(false, &["*.rs"]), set(&["a.rs", "key.rs"]));
        assert_eq!(found(false, &["!*.md"]), set(&["a.rs"]));
        assert_eq!(found(false, &[".e*"]), set(&[".env"]));
        // An ignored directory is not searched, unless a glob includes it.
        assert_eq!(found(false, &["target/**"]), set(&[]));
        assert_eq!(found(false, &["target", "*.rs"]), set(&["a.rs", "key.rs", "target/c.rs"]));
    }
}
