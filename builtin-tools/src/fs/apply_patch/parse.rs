//! Parses a patch in any format.

use super::patch::{Action, Change, Patch, PatchError};
use super::{begin, command, unified};

/// Maximum number of bytes of a patch.
const MAX_BYTES: usize = 32 << 20;
/// Maximum number of files of a patch.
const MAX_CHANGES: usize = 500;
/// Maximum number of hunks of a patch.
const MAX_HUNKS: usize = 100_000;

/// Reads a patch.
///
/// # Errors
///
/// If its format is unknown, or it is too large.
pub(crate) fn parse(input: &str) -> Result<Patch<'_>, PatchError> {
    if input.len() > MAX_BYTES {
        return Err(PatchError::new(1, "the patch has more than 32 MiB; split it"));
    }
    // The byte order mark of the patch file; one that belongs to a line comes after its sign.
    let input = input.strip_prefix('\u{feff}').unwrap_or(input);
    let lines: Vec<&str> = input.strip_suffix('\n').unwrap_or(input).split('\n').collect();
    let begin = lines.iter().position(|line| line.trim() == begin::BEGIN);
    let (changes, directory) = match begin {
        Some(begin) => begin::parse(&lines, begin)?,
        None if unified::is_unified(&lines) => {
            let first = unified::first(&lines).unwrap_or(0);
            let directory = command::among(&lines, first)
                .map_err(|(index, problem)| PatchError::new(index + 1, problem))?;
            let mut changes = unified::parse(&lines, 0)?;
            if let Some(directory) = directory {
                for change in &mut changes {
                    change.move_into(directory);
                }
            }
            (changes, directory)
        }
        None => {
            return Err(PatchError::new(
                1,
                "not a patch: it has neither a line `*** Begin Patch` nor the lines `--- a/path` and `+++ b/path` \
                 of a unified diff",
            ));
        }
    };
    if changes.is_empty() {
        return Err(PatchError::new(begin.unwrap_or(0) + 1, "the patch changes no file"));
    }
    let hunks = |change: &Change<'_>| match &change.action {
        Action::Add(_) => 0,
        Action::Delete(hunks) | Action::Update { hunks, .. } => hunks.len(),
    };
    if changes.len() > MAX_CHANGES || changes.iter().map(hunks).sum::<usize>() > MAX_HUNKS {
        return Err(PatchError::new(1, "the patch has more than 500 files or 100,000 hunks; split it"));
    }
    Ok(Patch { changes, directory })
}

#[cfg(test)]
mod tests;
