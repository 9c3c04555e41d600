//! `grep`: the lines of files that match a pattern.

mod details;
mod file;
mod page;
mod pieces;
mod query;
mod run;
mod shown;
#[cfg(test)]
mod tests;
mod words;

pub use details::{FoundText, MatchingFile, MatchingLine};

use super::place::Place;
use super::threads::Threads;
use super::walk::{Filter, Tree, unreadable};
use crate::titles;
use file::Wanted;
use page::Page;
use query::{Depth, Query, Reading};
use run::Run;
use toolkit::output::Structured;
use toolkit::prelude::*;
use words::Answer;

/// Default number of results that one call returns.
const RESULTS: u64 = 100;
/// Maximum number of results of one call.
const MAX_RESULTS: u64 = 1_000;
/// Maximum number of results that are passed over.
const MAX_PASSED: u64 = 1_000_000;
/// Maximum number of lines that are shown before and after each match.
const MAX_CONTEXT: usize = 20;

/// The output for the files with matches.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum GrepOutput {
    /// Matching lines.
    Content,
    /// File names.
    Files,
    /// File names with the number of matching lines in each.
    Count,
}

/// Searches the text of files with a regular expression, like `rg`: skips hidden files and those in ignore files such as
/// `.gitignore`. Results are sorted by path.
///
/// Returns matches as `path:line:text`, context lines as `path-line-text`, with `--` between groups of lines that are not
/// adjacent. Long lines are cut around the match. For binary files, only the name is returned.
///
/// # Errors
///
/// If the pattern is not a regular expression, the path does not exist, or reading it is not allowed.
#[tool(name = "grep", group = ["fs", "coding"], title = "Search in files", read_only, asks)]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the tool")]
pub async fn grep(
    ctx: &ToolContext,
    /// Regular expression in the syntax of Rust's regex crate, without look-around: `fn \w+\(`.
    #[arg(length(1..=10_000), example = "fn main")]
    pattern: &str,
    /// File or directory to search, absolute or relative to the workspace. Default: the workspace.
    #[arg(length(1..), example = "src")]
    path: Option<&Path>,
    /// Search only files that match this glob, such as `*.rs`, `src/**/*.{ts,tsx}` or `!*.lock`. Without a `/` it matches
    /// the file name alone.
    #[arg(alias = "include", length(1..=1_000), example = "*.rs")]
    glob: Option<&str>,
    /// Search only files of this type, such as `rust`, `py` or `js`.
    #[arg(rename = "type", length(1..=100), example = "rust")]
    file_type: Option<&str>,
    /// Match upper and lower case alike.
    #[arg(default)]
    ignore_case: bool,
    /// Treat the pattern as plain text.
    #[arg(default)]
    literal: bool,
    /// Match across lines; `.` then also matches line feeds.
    #[arg(default)]
    multiline: bool,
    /// Number of context lines before and after each match, up to 20.
    #[arg(range(..=20))]
    context: Option<usize>,
    /// Number of context lines before each match; overrides `context`.
    #[arg(range(..=20))]
    before: Option<usize>,
    /// Number of context lines after each match; overrides `context`.
    #[arg(range(..=20))]
    after: Option<usize>,
    /// Output: matching lines, file names, or the number of matching lines in each file.
    #[arg(default = GrepOutput::Content)]
    output_mode: GrepOutput,
    /// Maximum number of results, up to 1000: lines with `content`, files otherwise.
    #[arg(default = 100, range(1..=1_000), alias = "head_limit")]
    limit: u64,
    /// Number of results to skip, to continue an earlier call.
    #[arg(default, range(..=1_000_000))]
    offset: u64,
) -> Result<Structured<FoundText>, ToolError> {
    titles::begin(ctx, "Search for", pattern);
    // In direct calls, these values are unchecked.
    let lines = |own: Option<usize>| own.or(context).unwrap_or(0).min(MAX_CONTEXT);
    let limit = if limit == 0 { RESULTS } else { limit.min(MAX_RESULTS) };
    let wanted = Wanted { skip: offset.min(MAX_PASSED), take: limit };
    let depth = match output_mode {
        GrepOutput::Content => Depth::Lines,
        GrepOutput::Files => Depth::Any,
        GrepOutput::Count => Depth::Count,
    };
    let is_shown = |count: usize| if depth == Depth::Lines { count } else { 0 };
    let query = Query {
        matcher: query::matcher(pattern, Reading { ignore_case, literal, multiline })?,
        multiline,
        before: is_shown(lines(before)),
        after: is_shown(lines(after)),
        depth,
    };
    let place = Place::of(ctx, path).await?;
    let mut filter = Filter::new(false);
    if let Some(glob) = glob {
        filter = filter.with_glob(&place.real, &place.pattern(glob)?)?;
    }
    if let Some(name) = file_type {
        filter = filter.with_type(name)?;
    }
    let is_filtered = glob.is_some() || file_type.is_some();
    let pattern = pattern.to_owned();
    let mut progress = Place::progress(ctx, "files searched");
    ctx.blocking(move |cancel| {
        let mut page = Page::new(query.depth, wanted);
        let longest = match std::fs::metadata(&place.real) {
            Ok(metadata) if !place.is_dir => metadata.len(),
            _ => u64::MAX,
        };
        let threads = Threads::reserve(query.memory(longest))?;
        let doors = place.doors.clone();
        let mut run = Run { query: &query, doors, cancel, threads, progress: &mut progress };
        let (files, skipped) = if place.is_dir {
            let mut tree = Tree::new(filter, place.doors.clone(), cancel);
            let root = tree.root(&place.real)?;
            run.tree(tree, root, &mut page)
        } else {
            let skipped = run.file(&place.real, &mut page);
            if skipped.unreadable > 0 {
                return Err(unreadable(&place.shown(&place.real), &"it cannot be opened or read"));
            }
            (1, skipped)
        };
        if cancel.is_cancelled() {
            return Err(ToolError::aborted("the call was cancelled"));
        }
        Ok(Answer {
            pattern,
            place: &place,
            query: &query,
            offset: wanted.skip,
            page,
            files,
            is_filtered,
            skipped,
        }
        .output())
    })
    .await
}
