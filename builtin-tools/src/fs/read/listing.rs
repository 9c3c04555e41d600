//! A page of a directory listing: sorted names, with a `/` after directories.

use super::details::DirectoryDetails;
use super::page::{MAX_BYTES, MAX_LINES};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use toolkit::prelude::*;
use toolkit::{
    CancellationToken,
    files::{FileKind, OpenedDirectory, shown_name},
    output::Detailed,
};

/// Maximum number of names held for a directory; larger directories cannot be sorted.
const MAX_NAMES: usize = 200_000;

/// Lists `limit` names from the one at `offset` on, counted from 1.
pub(super) fn list(
    directory: &OpenedDirectory,
    offset: u64,
    limit: Option<u64>,
    cancel: &CancellationToken,
) -> Result<Detailed<DirectoryDetails>, ToolError> {
    let shown = directory.shown();
    let entries = directory.entries(MAX_NAMES, || !cancel.is_cancelled());
    let (mut entries, has_more) = entries.map_err(|error| cannot_list(shown, &error))?;
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let all = entries.len();
    entries.retain(|entry| !directory.is_denied(&entry.name));
    let denied = all - entries.len();
    let total = entries.len() as u64;
    let limit = limit.unwrap_or(MAX_LINES).min(MAX_LINES);
    if total > 0 && offset > total {
        return Err(ToolError::failed(format!(
            "entry {offset} is past the end of {shown}, which has {total} entries"
        )));
    }
    let mut text = String::new();
    let mut count = 0;
    let page = entries.iter().skip(usize::try_from(offset - 1).unwrap_or(usize::MAX));
    for entry in page.take(usize::try_from(limit).unwrap_or(usize::MAX)) {
        let name = name(&entry.name, entry.kind);
        if text.len() + name.len() > MAX_BYTES && count > 0 {
            break;
        }
        text.push_str(&name);
        text.push('\n');
        count += 1;
    }
    let last = offset + count - u64::from(count > 0);
    let is_whole = last >= total;
    if total == 0 && denied == 0 {
        text.push_str("(the directory is empty)");
    } else if !is_whole {
        let next = last + 1;
        let _ = write!(text, "(entries {offset} to {last} of {total}: continue with offset {next})");
    } else if offset > 1 {
        let _ = write!(text, "(entries {offset} to {last} of {total}: the end of the directory)");
    }
    if has_more {
        let _ = write!(text, "\n(the directory has more than {MAX_NAMES} entries; these are some of them)");
    }
    if denied > 0 {
        let entries = if denied == 1 { "entry" } else { "entries" };
        let line = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(text, "{line}({denied} {entries} left out, which must not be read)");
    }
    let truncated = !is_whole || has_more;
    let output = ToolOutput::text(text)
        .with_title(shown)
        .with_metadata("truncated", truncated)
        .with_metadata("kind", "directory");
    let details = DirectoryDetails {
        file_path: shown.to_owned(),
        first_entry: offset,
        entry_count: count,
        total_entries: (!has_more).then_some(total),
        truncated,
        next_offset: (!is_whole).then_some(last + 1),
    };
    Ok(Detailed::new(output, details))
}

fn name(name: &OsString, kind: FileKind) -> String {
    let text = shown_name(name);
    if kind == FileKind::Directory { format!("{text}/") } else { text }
}

fn cannot_list(shown: &str, error: &io::Error) -> ToolError {
    ToolError::failed(format!("cannot list {shown}: {error}"))
}
