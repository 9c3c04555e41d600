//! `edit`: parts of a text file replaced.

mod details;
mod first_line;
mod frame;
mod indent;
mod locate;
mod plan;
mod replacement;
mod rewrite;
mod words;

pub use details::{EditedFile, MadeReplacement};
pub(crate) use frame::{Block, Step, align, is_blank, opens_block, step_above};
pub(crate) use indent::Reindent;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use locate::Miss;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use plan::Problem;
pub(crate) use plan::{MAX_BYTES, plan};
pub(crate) use replacement::Replacement;

use super::content::Content;
use super::diff::{Diff, diff, diff_spliced};
use super::fold::Looseness;
use super::hard_links;
use super::interrupted;
use super::leave::may_tell;
use super::splice::{Splice, parts, splice};
use super::written;
use crate::titles;
use plan::Part;
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::path::PathBuf;
use toolkit::prelude::*;
use toolkit::{
    Ask, ToolErrorKind,
    approval::Access,
    files::{
        Expected, FileContent, FileVersion, PathRepair, PriorContent, Proposal, ReadState, Target, Workspace,
        WriteOptions,
    },
    output::Detailed,
    permission::PathDecision,
};

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 1_000;

/// A replacement.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The exact text to replace.
    #[arg(length(1..))]
    pub old_string: String,
    /// The replacement text.
    pub new_string: String,
    /// Replace all occurrences.
    #[arg(default)]
    pub replace_all: bool,
}

/// Edits a file: replaces `old_string` with `new_string`, or makes several such `edits` at once.
///
/// `old_string` must occur in the file exactly once, with its indentation; if it occurs several times, include surrounding
/// lines or set `replace_all`. All `edits` are located in the current file, and either all or none are made. Line
/// endings and all other text are preserved. An empty `old_string` creates a new file.
///
/// # How text is found
///
/// An exact match comes first. Without one, looser matches are tried in this order: other line endings, other trailing white
/// space, typographic quotes, dashes or spaces for plain ones, and last all lines indented differently by one rule. New lines are
/// then indented in the same way, unless they already have the indentation of the file; if that is ambiguous, the call fails. A
/// looser match must be unique and have at most twice the bytes, plus 128 for each line; the result names the kind of match. Only
/// the differences between `old_string` and `new_string` are then replaced.
///
/// New lines take the line endings of the lines that they replace, in order; further lines take the last one. If no ending is
/// replaced, they take the ending of the line they are inserted into. The file's encoding is kept, and so are bytes that are invalid
/// in it.
///
/// # Errors
///
/// If the text does not occur exactly once (the message names its places or similar text), if the file was changed since the session
/// last read it or since the approval prompt, if nothing would change, or if editing is not allowed.
#[tool(name = "edit", group = ["fs", "coding"], title = "Edit a file", permission = "edit", asks)]
pub async fn edit(
    ctx: &ToolContext,
    /// Path of the file, absolute or relative to the workspace.
    #[arg(alias = "path", length(1..), example = "src/main.rs")]
    file_path: &Path,
    /// The exact text to replace. Empty to create a file.
    old_string: Option<String>,
    /// The replacement text.
    new_string: Option<String>,
    /// Replace all occurrences.
    #[arg(default)]
    replace_all: bool,
    /// Several replacements, instead of one.
    #[arg(length(1..=1000))]
    edits: Option<Vec<Edit>>,
) -> Result<Detailed<EditedFile>, ToolError> {
    titles::begin(ctx, "Edit", &file_path.to_string_lossy());
    let edits = wanted(old_string, new_string, replace_all, edits)?;
    interrupted::tell(ctx, edit_file(ctx, file_path, edits)).await
}

async fn edit_file(
    ctx: &ToolContext,
    file_path: &Path,
    edits: Vec<Edit>,
) -> Result<Detailed<EditedFile>, ToolError> {
    let workspace = ctx.workspace();
    if let [Edit { old_string, new_string, .. }] = &edits[..]
        && old_string.is_empty()
    {
        return create(ctx, &workspace, file_path, new_string.clone()).await;
    }
    let proposal = workspace.propose_existing(file_path).await?;
    check_readable(ctx, &proposal)?;
    let (change, asked) = if proposal.is_asked() {
        draft_for_question(ctx, &workspace, &proposal, &edits).await?
    } else {
        (as_asked(&edits), None)
    };
    let shown = proposal.shown();
    let other_names = asked.as_ref().map_or(0, |asked| asked.other_names);
    let ask = |ask: Ask| {
        hard_links::with_warning(ask.with_diff(&shown, &change).before_acting(), &shown, other_names)
    };
    let target = proposal.ask(ask).await?;
    let lock = target.lock().await;
    let made = ctx.blocking(move |cancel| {
        let _lock = lock;
        let made = make(&workspace, &target, &edits, asked.as_ref())?;
        if cancel.is_cancelled() {
            return Err(ToolError::aborted("the call was cancelled"));
        }
        made.write(&target)
    });
    Ok(made.await?.into_output())
}

/// Returns the requested replacements.
fn wanted(
    old: Option<String>,
    new: Option<String>,
    replace_all: bool,
    edits: Option<Vec<Edit>>,
) -> Result<Vec<Edit>, ToolError> {
    let wrong = |text: &str| Err(ToolError::new(ToolErrorKind::InvalidArguments, text));
    match (old, new, edits) {
        (Some(old_string), Some(new_string), None) => Ok(vec![Edit { old_string, new_string, replace_all }]),
        (None, None, Some(_)) if replace_all => {
            wrong("`replace_all` belongs in each entry of `edits` that needs it, not beside `edits`")
        }
        (None, None, Some(edits)) if edits.is_empty() || edits.len() > MAX_EDITS => {
            wrong("`edits` has from 1 to 1,000 replacements")
        }
        (None, None, Some(edits)) => Ok(edits),
        (_, _, Some(_)) => wrong("give either `old_string` and `new_string`, or `edits`, not both"),
        (Some(_), None, None) => wrong("`new_string` is missing: the text that replaces `old_string`"),
        (None, _, None) => wrong("`old_string` and `new_string` are missing; give both, or `edits`"),
    }
}

/// The change for which approval was requested.
struct AskedAbout {
    version: FileVersion,
    change: u64,
    hasher: RandomState,
    other_names: u64,
}

/// Returns the change in the form for the prompt, and the data by which it is recognised. The content is not kept during the
/// prompt.
async fn draft_for_question(
    ctx: &ToolContext,
    workspace: &Workspace,
    proposal: &Proposal,
    edits: &[Edit],
) -> Result<(String, Option<AskedAbout>), ToolError> {
    let shown = proposal.shown();
    match proposal.before(MAX_BYTES as u64).await? {
        PriorContent::File(content) => {
            let (workspace, path, edits) = (workspace.clone(), proposal.path().to_owned(), edits.to_vec());
            let draft = ctx.blocking(move |_| {
                check_seen(&workspace, &path, &shown, &content.version)?;
                let draft = Draft::of(&content.bytes, &shown, &edits, false)?;
                let hasher = RandomState::new();
                let change = draft.change(&hasher);
                let FileContent { version, other_names, .. } = content;
                Ok((draft.diff.text, Some(AskedAbout { version, change, hasher, other_names })))
            });
            draft.await
        }
        // No test: the file would have to be removed between two looks at it.
        PriorContent::Absent => Err(is_absent(&shown)),
        // The file is not read before approval: the prompt shows the request.
        _ => Ok((as_asked(edits), None)),
    }
}

fn is_absent(shown: &str) -> ToolError {
    ToolError::not_found(format!("{shown} does not exist; an empty `old_string` creates it, or `write` does"))
}

/// Formats the requested edits as a diff.
fn as_asked(edits: &[Edit]) -> String {
    let mut diff = String::new();
    for edit in edits {
        diff.push_str(if edit.replace_all { "@@ in all places @@\n" } else { "@@ @@\n" });
        for (sign, text) in [('-', &edit.old_string), ('+', &edit.new_string)] {
            for line in text.lines() {
                diff.push(sign);
                diff.push_str(line);
                diff.push('\n');
            }
        }
    }
    diff
}

/// Refuses a file that must not be read: an edit discloses its content.
pub(super) fn check_readable(ctx: &ToolContext, proposal: &Proposal) -> Result<(), ToolError> {
    match ctx.decide_path(proposal.path(), Access::Read)?.decision {
        PathDecision::Deny { reason, .. } => Err(ToolError::denied(format!(
            "{} must not be read, so it cannot be edited: {reason}",
            proposal.shown()
        ))),
        _ => Ok(()),
    }
}

/// Refuses a file that another hand changed since the session has seen it.
pub(super) fn check_seen(
    workspace: &Workspace,
    path: &Path,
    shown: &str,
    now: &FileVersion,
) -> Result<ReadState, ToolError> {
    match workspace.seen(path, now) {
        ReadState::Changed => Err(ToolError::failed(format!(
            "{shown} was changed by something else since it was last read here; nothing was done. Read it again, then \
             edit its current content"
        ))),
        seen => Ok(seen),
    }
}

/// A change that is ready to be made.
struct Draft {
    diff: Diff,
    parts: Vec<Part>,
    splices: Vec<Splice>,
    /// The removed texts, one after the other, with the lines whose indentation was ignored.
    gone: Vec<Vec<u8>>,
    /// The whole file as it will be, where it is not the text that is put into it but an encoding of it.
    encoded: Option<Vec<u8>>,
    /// True if carriage returns of the new texts are left out, since the lines that they replace have none.
    drops_returns: bool,
}

impl Draft {
    /// Computes the edits of a content, shown as `path`. If it is hidden, no error quotes it.
    fn of(bytes: &[u8], path: &str, edits: &[Edit], is_hidden: bool) -> Result<Self, ToolError> {
        let content = Content::of(bytes, path)?;
        let replacements: Vec<Replacement<'_>> = edits
            .iter()
            .map(|edit| Replacement { old: &edit.old_string, new: &edit.new_string, all: edit.replace_all })
            .collect();
        let plan = plan(&content.bytes, &replacements).map_err(|error| {
            let readable = (!is_hidden).then_some(&*content.bytes);
            ToolError::failed(words::explain(path, readable, &replacements, &error))
        })?;
        let diff = diff_spliced(path, &content.bytes, &plan.splices);
        let drops_returns = edits.iter().zip(&plan.parts).any(|(edit, part)| {
            let brought = returns(edit.new_string.as_bytes());
            brought != 0 && brought > returns(&made(&content.bytes, &part.first, &plan.splices))
        });
        // If the indentation was ignored, the indentation of the lines is part of the approval.
        let indented = plan.parts.iter().filter(|part| part.looseness == Looseness::Indentation);
        let gone = plan.splices.iter().map(|splice| &splice.range).chain(indented.map(|part| &part.first));
        let gone = gone.map(|range| content.bytes[range.clone()].to_vec()).collect();
        let encode = || content.encode(splice(&content.bytes, &plan.splices), path);
        let encoded = content.is_encoded().then(encode).transpose()?;
        Ok(Self { diff, parts: plan.parts, splices: plan.splices, gone, encoded, drops_returns })
    }

    /// Returns a hash of the removed and added text, wherever it is.
    fn change(&self, hasher: &RandomState) -> u64 {
        let come: Vec<&[u8]> = self.splices.iter().map(|splice| &splice.text[..]).collect();
        hasher.hash_one((&self.gone, come))
    }
}

/// Returns the number of lines that end with `\r\n`.
fn returns(text: &[u8]) -> usize {
    memchr::memmem::find_iter(text, b"\r\n").count()
}

/// Returns the new content of a part of a file, by splices that are in order.
fn made(file: &[u8], part: &Range<usize>, splices: &[Splice]) -> Vec<u8> {
    let first = splices.partition_point(|splice| splice.range.start < part.start);
    let within = splices[first..].iter().take_while(|splice| splice.range.end <= part.end);
    let shifted = |splice: &Splice| Splice {
        range: splice.range.start - part.start..splice.range.end - part.start,
        text: splice.text.clone(),
    };
    let within: Vec<Splice> = within.map(shifted).collect();
    splice(&file[part.clone()], &within)
}

/// A change that is about to be written, and the notes on it.
struct Made {
    draft: Draft,
    before: Vec<u8>,
    version: FileVersion,
    is_hidden: bool,
    shown: String,
    path: PathBuf,
    repaired: Option<PathRepair>,
    /// Known once it is written.
    other_names: u64,
    notes: Vec<String>,
}

/// Computes the change again, on the file while no other code in this process can change it.
fn make(
    workspace: &Workspace,
    target: &Target,
    edits: &[Edit],
    asked: Option<&AskedAbout>,
) -> Result<Made, ToolError> {
    let shown = target.shown().to_owned();
    let content = target.read(MAX_BYTES as u64)?.ok_or_else(|| is_absent(&shown))?;
    // Permission to write does not include reading.
    let is_hidden = !may_tell(workspace, target.path());
    let seen = check_seen(workspace, target.path(), &shown, &content.version)?;
    let is_other = asked.is_some_and(|asked| !asked.version.is_same(&content.version));
    // Changes that this session made meanwhile do not count.
    if is_other && seen != ReadState::Same {
        return Err(ToolError::failed(format!(
            "{shown} was changed by something else during the approval prompt; nothing was done. Read it again, then \
             edit its current content"
        )));
    }
    let overlaps = |why: &str| {
        ToolError::failed(format!(
            "another edit of this session changed {shown} in the same place meanwhile; nothing was done. Read it again\
             {why}"
        ))
    };
    let draft = Draft::of(&content.bytes, &shown, edits, is_hidden)
        .map_err(|error| if is_other { overlaps(&format!(": {error}")) } else { error })?;
    if let Some(asked) = asked
        && is_other
        && draft.change(&asked.hasher) != asked.change
    {
        return Err(overlaps(""));
    }
    let (path, repaired) = (target.path().to_owned(), target.repaired().cloned());
    let FileContent { bytes: before, version, .. } = content;
    Ok(Made { draft, before, version, is_hidden, shown, path, repaired, other_names: 0, notes: Vec::new() })
}

impl Made {
    fn write(self, target: &Target) -> Result<Self, ToolError> {
        let Draft { splices, encoded, .. } = &self.draft;
        let after =
            encoded.as_ref().map_or_else(|| parts(&self.before, splices), |encoded| vec![&encoded[..]]);
        let expected = Expected::Version(self.version.clone());
        let (written, _) = target.write_parts(&after, &expected, WriteOptions::default().with_edit())?;
        let notes = written::notes(&self.shown, &written);
        Ok(Self { other_names: written.other_names, notes, ..self })
    }

    fn into_output(self) -> Detailed<EditedFile> {
        let Self { draft: Draft { diff, parts, drops_returns, .. }, shown, .. } = &self;
        let count: usize = parts.iter().map(|part| part.count).sum();
        let places = match &parts[..] {
            [Part { count: 1, line, .. }] => format!("1 place, on line {line}"),
            _ => format!("{count} places"),
        };
        let (added, removed) = (diff.added, diff.removed);
        let repaired =
            self.repaired.as_ref().map_or(String::new(), |repaired| format!("\n{}", repaired.note()));
        let mut text = format!(
            "edited {shown}: replaced {places} (+{added} -{removed} lines){}{repaired}",
            words::report(parts)
        );
        if *drops_returns {
            text.push_str(
                "\n(new lines end with LF, like the lines that they replace, not with the CRLF of the new text; `write` changes the \
                 endings of a file)",
            );
        }
        for note in &self.notes {
            let _ = write!(text, "\n({note})");
        }
        let replacements = parts.iter().map(|part| MadeReplacement {
            count: part.count,
            line: part.line,
            overlooked: part.looseness.words().to_owned(),
        });
        // A diff quotes lines beyond the request.
        let told = (!self.is_hidden).then_some(diff);
        let details = EditedFile {
            file_path: shown.clone(),
            created: false,
            additions: added,
            deletions: removed,
            replacements: Some(replacements.collect()),
            diff: told.map(|diff| diff.text.clone()),
            diff_truncated: told.map(|diff| diff.is_cut),
            other_names: (self.other_names > 0).then_some(self.other_names),
        };
        let output = ToolOutput::text(text)
            .with_title(format!("Edited {shown} (+{added} -{removed})"))
            .with_metadata("additions", added)
            .with_metadata("deletions", removed)
            .with_file_modified(self.path);
        Detailed::new(output, details)
    }
}

/// Makes a file where none is.
async fn create(
    ctx: &ToolContext,
    workspace: &Workspace,
    file_path: &Path,
    content: String,
) -> Result<Detailed<EditedFile>, ToolError> {
    let exists = |shown: &str| {
        ToolError::failed(format!(
            "`old_string` is empty, and {shown} exists: name the text to replace, or use `write` to replace the whole \
             file"
        ))
    };
    let proposal = workspace.propose(file_path).await?;
    let shown = proposal.shown();
    if matches!(proposal.before(MAX_BYTES as u64).await?, PriorContent::File(_)) {
        return Err(exists(&shown));
    }
    let change = diff(&shown, None, Some(content.as_bytes()));
    let target = proposal.ask(|ask| ask.with_diff(&shown, &change.text).before_acting()).await?;
    let lock = target.lock().await;
    let made = ctx.blocking(move |_| {
        let _lock = lock;
        if target.read(MAX_BYTES as u64)?.is_some() {
            return Err(exists(target.shown()));
        }
        target.write(content.as_bytes(), &Expected::Absent)?;
        Ok((target.path().to_owned(), content.len()))
    });
    let (path, bytes) = made.await?;
    let Diff { text: diff, added, is_cut, .. } = change;
    let output = ToolOutput::text(format!("created {shown} ({added} lines, {bytes} bytes)"))
        .with_title(format!("Created {shown} (+{added})"))
        .with_metadata("additions", added)
        .with_metadata("deletions", 0)
        .with_file_modified(path);
    let details = EditedFile {
        file_path: shown,
        created: true,
        additions: added,
        deletions: 0,
        replacements: None,
        diff: Some(diff),
        diff_truncated: Some(is_cut),
        other_names: None,
    };
    Ok(Detailed::new(output, details))
}

#[cfg(test)]
mod tests;
