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
pub(super) use run::Skipped;

use super::place::Place;
use super::walk::{Filter, Tree};
use crate::titles;
use file::Wanted;
use page::Page;
use query::{Depth, Query, Reading};
use run::Run;
use toolkit::Structured;
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
    /// The lines that match.
    Content,
    /// The names of the files.
    Files,
    /// The names, and how many lines match in each.
    Count,
}

/// Searches the text of files with a regular expression, as `rg` does: what ignore files such as `.gitignore` name is
/// left out, and so is what is hidden. Results are sorted by path.
///
/// Lines that match come as `path:line:text`, the lines around them as `path-line-text`, with `--` where some are missing
/// between. A long line is cut around the match. Of a binary file only the name is told.
///
/// # Errors
///
/// When the pattern is no regular expression, nothing is at the path, or reading it is not allowed.
#[tool(name = "grep", group = ["fs", "coding"], title = "Search in files", read_only, asks)]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the tool")]
pub async fn grep(
    ctx: &ToolContext,
    /// Regular expression, in the syntax of Rust's regex crate: `fn \w+\(`. There is no look-around.
    #[arg(length(1..=10_000), example = "fn main")]
    pattern: &str,
    /// File or directory to search, absolute or relative to the workspace; the workspace where it is left out.
    #[arg(length(1..), example = "src")]
    path: Option<&Path>,
    /// Only files that this pattern describes, such as `*.rs`, `src/**/*.{ts,tsx}` or `!*.lock`. Without a `/` it is about the
    /// name alone.
    #[arg(alias = "include", length(1..=1_000), example = "*.rs")]
    glob: Option<&str>,
    /// Only files of this type, such as `rust`, `py` or `js`.
    #[arg(rename = "type", length(1..=100), example = "rust")]
    file_type: Option<&str>,
    /// Whether upper and lower case are the same.
    #[arg(default)]
    ignore_case: bool,
    /// Whether the pattern is plain text.
    #[arg(default)]
    literal: bool,
    /// Whether a match may go over several lines; `.` then matches line feeds too.
    #[arg(default)]
    multiline: bool,
    /// How many lines to show before and after each match, at most 20.
    #[arg(range(..=20))]
    context: Option<usize>,
    /// How many lines to show before each match, if not as many as after.
    #[arg(range(..=20))]
    before: Option<usize>,
    /// How many lines to show after each match, if not as many as before.
    #[arg(range(..=20))]
    after: Option<usize>,
    /// What to return: the lines, the names of the files, or how many lines match in each.
    #[arg(default = GrepOutput::Content)]
    output_mode: GrepOutput,
    /// How many results to return, at most 1000: lines with `content`, files otherwise.
    #[arg(default = 100, range(1..=1_000), alias = "head_limit")]
    limit: u64,
    /// How many results to pass over, to go on where an earlier call ended.
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
        let mut run = Run { query: &query, doors: place.doors.clone(), cancel, progress: &mut progress };
        let (files, skipped) = if place.is_dir {
            let mut tree = Tree::new(filter, place.doors.clone(), cancel);
            let root = tree.root(&place.real);
            run.tree(tree, root, &mut page)
        } else {
            (1, run.file(&place.real, &mut page))
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
