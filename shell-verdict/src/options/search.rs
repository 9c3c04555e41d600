//! Files that a search opens, by the options of `rg`, `grep -r` and `git grep`.

use super::Reading;
use crate::situation::{Search, SearchedFiles};
use crate::words::Value;

/// The options of a search about the files that it opens.
#[derive(Debug, Default)]
pub(super) struct Searching {
    /// Globs of `rg -g`, in order.
    globs: Vec<String>,
    /// `rg` searches hidden files, too.
    hidden: bool,
    include: Vec<String>,
    exclude: Vec<String>,
    exclude_dir: Vec<String>,
    /// True if an option opens more files than the others determine.
    opens_more: bool,
}

impl Searching {
    /// Takes note of an option of `rg`.
    pub(super) fn rg(&mut self, name: &str, value: &Value) {
        match (name, value.text()) {
            // A hidden file of a named type is searched as well.
            ("-." | "--hidden" | "-t" | "--type", _) => self.hidden = true,
            ("-g" | "--glob", Some(glob)) if !glob.contains('\n') => self.globs.push(glob.to_owned()),
            ("--iglob", Some(glob)) if glob.starts_with('!') => {}
            (
                "-g"
                | "--glob"
                | "--iglob"
                | "--glob-case-insensitive"
                | "--ignore-file"
                | "-u"
                | "--unrestricted"
                | "--ignore-file-case-insensitive",
                _,
            ) => self.opens_more = true,
            ("--no-ignore-messages", _) => {}
            (name, _) if name.starts_with("--no-ignore") => self.opens_more = true,
            _ => {}
        }
    }

    /// Takes note of an option of `grep`.
    pub(super) fn grep(&mut self, name: &str, value: &Value) {
        let (list, more) = match name {
            "--include" => (&mut self.include, "?"),
            "--exclude" => (&mut self.exclude, ""),
            "--exclude-dir" => (&mut self.exclude_dir, ""),
            _ => return,
        };
        let is_plain = |pattern: &&str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+*@".contains(c) || more.contains(c);
            !pattern.is_empty() && pattern.chars().all(is_plain)
        };
        match value.text().filter(is_plain) {
            Some(pattern) => list.push(pattern.to_owned()),
            // Without one more may be opened, without the other less.
            None if name == "--include" => self.opens_more = true,
            None => {}
        }
    }

    /// Takes note of an option of `git grep`.
    pub(super) fn git_grep(&mut self, name: &str) {
        self.opens_more |= matches!(name, "--untracked" | "--no-exclude-standard" | "--exclude-standard");
    }
}

impl Reading<'_, '_> {
    /// Returns the search that the options define, if it opens fewer than all files below a directory.
    pub(super) fn search(&self) -> Option<Search> {
        let searching = &self.searching;
        // Through links it may lead anywhere.
        if searching.opens_more || self.tree == Some(true) || self.is_listing {
            return None;
        }
        let files = match (self.name, self.tree) {
            ("rg", None) => SearchedFiles::NotIgnored { hidden: searching.hidden },
            ("git:grep", _) => SearchedFiles::Tracked,
            ("grep" | "egrep" | "fgrep" | "rgrep", _) => {
                // Of both the last that fits a name counts.
                let both = !searching.include.is_empty() && !searching.exclude.is_empty();
                let of_files = |patterns: &Vec<String>| if both { Vec::new() } else { patterns.clone() };
                let (include, exclude) = (of_files(&searching.include), of_files(&searching.exclude));
                if include.is_empty() && exclude.is_empty() && searching.exclude_dir.is_empty() {
                    return None;
                }
                SearchedFiles::Named { include, exclude, exclude_dir: searching.exclude_dir.clone() }
            }
            _ => return None,
        };
        Some(Search { files, globs: searching.globs.clone() })
    }
}
