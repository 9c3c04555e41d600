//! What a patch makes of all the files that it names, worked out before anything is written.

use super::hunks::{NotApplied, apply};
use super::lines::Level;
use super::patch::{Action, Change, Hunk, Patch};
use super::place::Misplaced;
use crate::fs::content::Content;
use crate::fs::edit::MOST_BYTES;
use crate::fs::nearest::nearest;
use crate::fs::splice::splice;
use std::borrow::Cow;
use toolkit::escape_line;
use toolkit::prelude::*;

/// A file that a patch names, by whatever names.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// What it is called in texts.
    pub(super) shown: String,
    /// Its content; `None` where nothing is.
    pub(super) content: Option<Vec<u8>>,
    /// Whether errors may quote it.
    pub(super) is_readable: bool,
}

/// What becomes of the files, each as its place in the list of those that are known.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// In the order of the patch.
    pub(super) files: Vec<(usize, Fate)>,
    /// What was found in a looser form only, for the model.
    pub(super) notes: Vec<String>,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is made.
    Added(Vec<u8>),
    /// It changes.
    Changed(Vec<u8>),
    /// It goes.
    Deleted,
    /// It comes from another place, with this content.
    Moved { from: usize, content: Vec<u8> },
}

impl Outcome {
    /// Each file that something becomes of, with its content before and after.
    pub(super) fn contents<'a>(
        &'a self,
        known: &'a [Known],
    ) -> impl Iterator<Item = (usize, Option<&'a [u8]>, Option<&'a [u8]>)> {
        self.files.iter().flat_map(|(at, fate)| {
            let before = |at: usize| known[at].content.as_deref();
            let (after, from) = match fate {
                Fate::Added(after) | Fate::Changed(after) => (Some(&after[..]), None),
                Fate::Deleted => (None, None),
                Fate::Moved { from, content } => (Some(&content[..]), Some((*from, before(*from), None))),
            };
            std::iter::once((*at, before(*at), after)).chain(from)
        })
    }
}

/// A file as it is at a point of the patch.
struct State<'a> {
    content: Option<Content<'a>>,
    /// Where its content was before, if it was moved here.
    from: Option<usize>,
    is_touched: bool,
}

/// Works out what a patch makes of files; `find` gives the place in the list of a name in the patch.
///
/// # Errors
///
/// The first change that is not possible: where in the patch, and what is there instead.
pub(super) fn work_out(
    patch: &Patch<'_>,
    known: &[Known],
    find: impl Fn(&str) -> Option<usize>,
) -> Result<Outcome, ToolError> {
    let mut states = Vec::with_capacity(known.len());
    for file in known {
        // Only a file of which the text changes has to be text.
        let as_it_is = |bytes| Content::verbatim(bytes);
        states.push(State { content: file.content.as_deref().map(as_it_is), from: None, is_touched: false });
    }
    let mut outcome = Outcome::default();
    for change in &patch.changes {
        let lost = || ToolError::failed(format!("{} was not looked at", change.path));
        let at = find(&change.path).ok_or_else(lost)?;
        let other = change.or_path.as_deref().and_then(&find);
        // `diff -u a.orig a` may be about either.
        let at = if states[at].content.is_none() { other.unwrap_or(at) } else { at };
        let to = match &change.action {
            Action::Update { to: Some(to), .. } => Some(find(to).ok_or_else(lost)?),
            _ => None,
        };
        step(&mut states, known, change, at, to, &mut outcome.notes)?;
        if change.states_mode {
            let shown = &known[to.unwrap_or(at)].shown;
            outcome
                .notes
                .push(format!("the mode that the patch states for {shown} is not set, only its content"));
        }
    }
    for (index, state) in states.iter().enumerate().filter(|(_, state)| state.is_touched) {
        let before = known[index].content.as_deref();
        let after =
            state.content.as_ref().map(|content| content.encode(content.bytes.to_vec(), &known[index].shown));
        let is_moved_away = || {
            let mut others = states.iter().enumerate().filter(|(other, _)| *other != index);
            others.any(|(other, state)| state.from == Some(index) && known[other].content.is_none())
        };
        let fate = match (before, after.transpose()?) {
            (None, None) => continue,
            (Some(_), None) if is_moved_away() => continue,
            (Some(_), None) => Fate::Deleted,
            (Some(before), Some(after)) if before == after => continue,
            (Some(_), Some(after)) => Fate::Changed(after),
            (None, Some(content)) => match state
                .from
                .filter(|&from| states[from].content.is_none() && known[from].content.is_some())
            {
                Some(from) => Fate::Moved { from, content },
                None => Fate::Added(content),
            },
        };
        outcome.files.push((index, fate));
    }
    if outcome.files.is_empty() {
        return Err(ToolError::failed("the files have what the patch says already; nothing would change"));
    }
    Ok(outcome)
}

/// Makes one change.
fn step(
    states: &mut [State<'_>],
    known: &[Known],
    change: &Change<'_>,
    at: usize,
    to: Option<usize>,
    notes: &mut Vec<String>,
) -> Result<(), ToolError> {
    let Known { shown, is_readable, .. } = &known[at];
    let line = change.line;
    let wrong = |problem: String| {
        Err(ToolError::failed(format!("patch line {line}: {problem}; nothing was changed")))
    };
    match &change.action {
        Action::Add(content) => {
            if states[at].content.is_some() {
                return wrong(format!(
                    "{shown} is there already; use `*** Update File` to change it, or delete it first"
                ));
            }
            let content = Content::verbatim(Cow::Owned(content.clone().into_bytes()));
            states[at] = State { content: Some(content), from: None, is_touched: true };
        }
        Action::Delete(hunks) => {
            let Some(content) = states[at].content.take() else {
                return wrong(format!("{shown} does not exist, so it cannot be deleted"));
            };
            if !hunks.is_empty() {
                let (after, _) = patched(content, hunks, shown, *is_readable)?;
                if !after.bytes.is_empty() {
                    return wrong(format!("{shown} has more than the lines that the patch deletes"));
                }
            }
            states[at] = State { content: None, from: None, is_touched: true };
        }
        Action::Update { is_copy, hunks, .. } => {
            let Some(content) = states[at].content.take() else {
                return wrong(format!(
                    "{shown} does not exist, so it cannot be updated; use `*** Add File` to make it"
                ));
            };
            let kept = is_copy.then(|| content.clone());
            let (content, found) = patched(content, hunks, shown, *is_readable)?;
            notes.extend(found.loose.into_iter().map(|(hunk, line, level)| {
                format!(
                    "hunk {hunk} of {shown} was found on line {line} where {} do not count",
                    level.words()
                )
            }));
            notes.extend(found.moved.into_iter().map(|(hunk, line, stated)| {
                format!("hunk {hunk} of {shown} was found on line {line}, not {stated}")
            }));
            let from = states[at].from.take();
            match to.filter(|to| *to != at) {
                None => states[at] = State { content: Some(content), from, is_touched: true },
                Some(to) if states[to].content.is_some() => {
                    return wrong(format!(
                        "{} is there already, so {shown} cannot be moved there",
                        known[to].shown
                    ));
                }
                Some(to) => {
                    states[at] = State { content: kept, from: None, is_touched: true };
                    let from = (!is_copy).then_some(from.unwrap_or(at));
                    states[to] = State { content: Some(content), from, is_touched: true };
                }
            }
        }
    }
    Ok(())
}

/// Where hunks were found, if not just as and where the patch says.
#[derive(Default)]
struct Found {
    loose: Vec<(usize, usize, Level)>,
    moved: Vec<(usize, usize, usize)>,
}

/// A content with hunks applied.
fn patched<'a>(
    content: Content<'a>,
    hunks: &[Hunk<'_>],
    shown: &str,
    is_readable: bool,
) -> Result<(Content<'a>, Found), ToolError> {
    if hunks.is_empty() {
        return Ok((content, Found::default()));
    }
    let content = content.into_text(shown)?;
    let patched = apply(&content.bytes, hunks).map_err(|error| {
        ToolError::failed(explain(&error, hunks, shown, is_readable.then_some(&*content.bytes)))
    })?;
    let bytes = splice(&content.bytes, &patched.splices);
    if bytes.len() > MOST_BYTES {
        return Err(ToolError::failed(format!(
            "{shown} would get larger than a file can be here, {MOST_BYTES} bytes"
        )));
    }
    Ok((content.with_bytes(bytes), Found { loose: patched.loose, moved: patched.moved }))
}

/// Why a hunk is not applied, in words for the model.
fn explain(error: &NotApplied, hunks: &[Hunk<'_>], shown: &str, content: Option<&[u8]>) -> String {
    let hunk = &hunks[error.hunk];
    let which = format!("hunk {} of {shown} (patch line {})", error.hunk + 1, hunk.line);
    let none = "nothing was changed";
    match &error.why {
        Misplaced::Absent => {
            let old: Vec<&str> = hunk.old().collect();
            let near = match content {
                None => "what the file has instead is not shown, since reading it needs to be asked for"
                    .to_owned(),
                Some(content) => nearest(content, &old.join("\n"))
                    .unwrap_or_else(|| "no text in the file is like it; read the file again".to_owned()),
            };
            format!("{which}: its old lines are not in the file; {none}\n{near}")
        }
        Misplaced::Ambiguous { level, lines } => {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            let how = match level {
                Level::Exact => String::new(),
                level => format!(", where {} do not count", level.words()),
            };
            format!(
                "{which}: its old lines are in several places{how}, on lines {}; {none}. Add lines around it, or a line \
                 `@@` with the function or class that it is in",
                lines.join(", ")
            )
        }
        Misplaced::NoAnchor => format!(
            "{which}: it has no old lines, and the line after `@@` is not in the file; {none}. Add lines that stand around \
             the new ones"
        ),
        Misplaced::Indented { line } => format!(
            "{which}: its old lines are on line {line} with another indentation, and it cannot be told how the new ones are to \
             be indented; {none}. Send old and new lines as they are indented in the file"
        ),
        Misplaced::AnchorAbsent => format!(
            "{which}: the line after `@@` is not in the file: `{}`; {none}. Name a line of the file that stands before the hunk, \
             or none",
            escape_line(&hunk.anchors.join("` and in it `"))
        ),
        Misplaced::BeforeAnchor { line, anchor } => format!(
            "{which}: its old lines are only on line {line}, before the line after `@@`, which is line {anchor}; {none}. \
             Correct the old lines, or the line after `@@`"
        ),
        Misplaced::TooAlike => format!(
            "{which}: too many lines of the file are alike to find it; {none}. Use `edit`, or a shorter hunk"
        ),
        Misplaced::Overlaps => format!("{which}: it changes lines that another hunk changes too; {none}"),
    }
}
