//! `glob`: the files whose names match a pattern, newest first.

mod details;
mod newest;
mod run;
#[cfg(test)]
mod tests;

use super::place::{Place, elsewhere, notes};
use super::skipped::Skipped;
use super::threads::Threads;
use super::walk::{Filter, Tree};
use crate::titles;
pub use details::{FoundFile, FoundFiles};
use newest::{Newest, Stamped};
use run::Run;
use std::time::UNIX_EPOCH;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, output::Structured};

/// Default number of files that one call returns.
const FILES: usize = 100;
/// Maximum number of files of one call.
const MAX_FILES: usize = 1_000;
/// Maximum number of files that are passed over.
const MAX_PASSED: usize = 100_000;
/// Number of files that need approval and may be left out before a call returns fewer files than there are.
const SPARE: usize = 1_000;
/// Maximum text of names, in bytes.
const MAX_BYTES: usize = 48 * 1024;
/// Memory of each thread in bytes: its stack, and the names in a directory.
const MEMORY: u64 = 4 << 20;

/// Finds files whose names match a glob pattern, newest first. Skips files in ignore files such as `.gitignore`, and
/// hidden files unless `hidden` is set.
///
/// # Errors
///
/// If the pattern is invalid, the path does not exist, or reading it is not allowed.
#[tool(name = "glob", group = ["fs", "coding"], title = "Find files", read_only, asks)]
pub async fn glob(
    ctx: &ToolContext,
    /// Glob pattern, such as `**/*.rs`, `src/**/*.{ts,tsx}` or `Cargo.toml`. Without a `/` it matches the file name in
    /// any directory; with one it is relative to `path`.
    #[arg(length(1..=1_000), example = "src/**/*.rs")]
    pattern: &str,
    /// Directory to search, absolute or relative to the workspace. Default: the workspace.
    #[arg(length(1..), example = "src")]
    path: Option<&Path>,
    /// Include hidden files: with a name that begins with a dot, or in such a directory.
    #[arg(default)]
    hidden: bool,
    /// Maximum number of files to return, up to 1000.
    #[arg(default = 100, range(1..=1_000))]
    limit: usize,
    /// Number of files to skip, to continue an earlier call.
    #[arg(default, range(..=100_000))]
    offset: usize,
) -> Result<Structured<FoundFiles>, ToolError> {
    titles::begin(ctx, "Find", pattern);
    // In direct calls, these values are unchecked.
    let limit = if limit == 0 { FILES } else { limit.min(MAX_FILES) };
    let offset = offset.min(MAX_PASSED);
    let place = Place::of(ctx, path).await?;
    if !place.is_dir {
        let shown = place.shown(&place.real);
        return Err(ToolError::new(
            ToolErrorKind::InvalidArguments,
            format!("{shown} is a file; name the directory to search, or leave `path` out for the workspace"),
        ));
    }
    let filter = Filter::new(hidden).with_glob(&place.real, &place.pattern(pattern)?)?;
    let pattern = pattern.to_owned();
    let mut progress = Place::progress(ctx, "files looked at");
    ctx.blocking(move |cancel| {
        let mut tree = Tree::new(filter, place.doors.clone(), cancel);
        let root = tree.root(&place.real)?;
        let threads = Threads::reserve(MEMORY)?;
        let mut run = Run { tree: &tree, cancel, threads, progress: &mut progress };
        let (newest, skipped) = run.all(root, offset + limit + SPARE);
        if cancel.is_cancelled() {
            return Err(ToolError::aborted("the call was cancelled"));
        }
        Ok(Answer::new(pattern, &place, newest, skipped, offset, limit, hidden).output())
    })
    .await
}

/// The files that were found.
struct Answer<'a> {
    pattern: String,
    place: &'a Place,
    files: Vec<Stamped>,
    /// Total number of files, without those that were left out.
    total: u64,
    skipped: Skipped,
    offset: usize,
    has_more: bool,
    hidden: bool,
}

impl<'a> Answer<'a> {
    fn new(
        pattern: String,
        place: &'a Place,
        newest: Newest,
        mut skipped: Skipped,
        offset: usize,
        limit: usize,
        hidden: bool,
    ) -> Self {
        let mut total = newest.count();
        let mut doors = place.doors.clone();
        let (mut files, mut bytes, mut passed, mut has_more) = (Vec::new(), 0, 0, false);
        for file in newest.into_sorted() {
            let is_full = files.len() == limit || bytes > MAX_BYTES;
            if is_full {
                has_more = true;
                break;
            }
            if !doors.may_name(&file.path) {
                skipped.refused += 1;
                total -= 1;
            } else if passed < offset {
                passed += 1;
            } else {
                bytes += place.shown(&file.path).len() + 1;
                files.push(file);
            }
        }
        has_more |= total > (passed + files.len()) as u64;
        Self { pattern, place, files, total, skipped, offset, has_more, hidden }
    }

    fn output(self) -> Structured<FoundFiles> {
        let Self { pattern, place, files, total, skipped, offset, has_more, hidden } = self;
        let mut text = String::new();
        let mut results = Vec::with_capacity(files.len());
        for file in &files {
            let path = place.shown(&file.path);
            text.push_str(&path);
            text.push('\n');
            let modified = file.modified.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            results.push(FoundFile { path, modified });
        }
        let mut said = Vec::new();
        let end = offset + files.len();
        if files.is_empty() && offset > 0 {
            said.push(format!("(no files from offset {offset} on; there are {total})"));
        } else if files.is_empty() {
            let left = if hidden { "ignored files" } else { "hidden and ignored files" };
            said.push(format!("(no files found, {left} skipped)"));
            said.extend(elsewhere(&pattern).map(str::to_owned));
        } else if has_more {
            let first = offset + 1;
            said.push(format!(
                "(files {first} to {end} of {total}: continue with offset {end}, or narrow the pattern)"
            ));
        }
        said.extend(notes(place, &skipped));
        for note in said {
            text.push_str(&note);
            text.push('\n');
        }
        let search_path = place.shown(&place.real);
        let files_word = if total == 1 { "file" } else { "files" };
        let output = ToolOutput::text(text)
            .with_title(format!("Found {total} {files_word}"))
            .with_metadata("pattern", pattern.as_str())
            .with_metadata("searchPath", search_path.as_str())
            .with_metadata("count", total)
            .with_metadata("truncated", has_more);
        let data = FoundFiles {
            pattern,
            search_path,
            files: results,
            count: total,
            truncated: has_more,
            next_offset: has_more.then_some(end),
            left_out: skipped.refused,
            unreadable: skipped.unreadable,
        };
        Structured::new(output, data)
    }
}
