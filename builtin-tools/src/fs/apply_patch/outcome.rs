//! The outcome of a patch for all the files that it names, worked out before anything is written.

use super::hunks::{NotApplied, apply};
use super::lines::Level;
use super::patch::{Action, Change, Hunk, Patch};
use super::place::Misplaced;
use crate::fs::content::Content;
use crate::fs::edit::MAX_BYTES;
use crate::fs::nearest::nearest;
use crate::fs::splice::splice;
use std::borrow::Cow;
use std::collections::BTreeMap;
use toolkit::prelude::*;
use toolkit::text::escape_line;

/// A file that a patch names, under any of its names.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Name of the file in messages.
    pub(super) shown: String,
    /// Content; `None` if there is no file.
    pub(super) content: Option<Vec<u8>>,
    /// True if it is executable; `None` if there is no file, or the system has no executable bit.
    pub(super) executable: Option<bool>,
    /// True if errors may quote it.
    pub(super) is_readable: bool,
    /// True if the session has read the whole file.
    pub(super) is_read: bool,
}

/// The outcome for the files, each by its index in the list of known files.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The files with their outcome, in the order of the patch.
    pub(super) files: Vec<(usize, Fate)>,
    /// Modes of the files that do not keep the mode of the existing file.
    pub(super) modes: BTreeMap<usize, Mode>,
    /// Notes for the model on texts that were found in a looser form only.
    pub(super) notes: Vec<String>,
}

/// The outcome for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// The file is created.
    Added(Vec<u8>),
    /// The file is changed.
    Changed(Vec<u8>),
    /// The file is deleted.
    Deleted,
    /// The file is moved here from another path, with this content.
    Moved { from: usize, content: Vec<u8> },
}

/// The mode that a file gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mode {
    /// Index of the source file.
    pub(super) like: Option<usize>,
    /// The executable bit, unless it comes from another file.
    pub(super) executable: Option<bool>,
}

impl Outcome {
    /// Returns true if the patch makes a file executable, false if it takes that away; `None` where it stays as it was.
    pub(super) fn becomes_executable(&self, known: &[Known], at: usize, fate: &Fate) -> Option<bool> {
        let Mode { like, executable } = self.modes.get(&at).copied()?;
        let before = match fate {
            Fate::Added(_) => Some(false),
            Fate::Changed(_) => known[at].executable,
            Fate::Moved { from, .. } => known[*from].executable,
            Fate::Deleted => return None,
        };
        executable.or_else(|| like.and_then(|like| known[like].executable)).filter(|now| Some(*now) != before)
    }

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
            // Another may come where it was.
            let from = from.filter(|(from, ..)| self.files.iter().all(|(at, _)| at != from));
            std::iter::once((*at, before(*at), after)).chain(from)
        })
    }
}

/// State of a file at a point of the patch.
struct State<'a> {
    content: Option<Content<'a>>,
    /// Index of the file that the content was moved from.
    from: Option<usize>,
    /// Index of the file that determines the mode: the one that the content was in first.
    mode_of: Option<usize>,
    /// The executable bit, if the patch sets it.
    executable: Option<bool>,
    is_touched: bool,
}

impl State<'_> {
    const ABSENT: Self =
        Self { content: None, from: None, mode_of: None, executable: None, is_touched: true };
}

/// Computes the effect of a patch on files; `find` returns the index of a path in the patch.
///
/// # Errors
///
/// Returns the first impossible change: its position in the patch, and the reason.
pub(super) fn work_out(
    patch: &Patch<'_>,
    known: &[Known],
    find: impl Fn(&str) -> Option<usize>,
) -> Result<Outcome, ToolError> {
    let mut states = Vec::with_capacity(known.len());
    for file in known {
        // Only a file whose text changes must be text.
        let content = file.content.as_deref().map(Content::verbatim);
        let mode_of = content.is_some().then_some(states.len());
        // No test covers `is_touched`: without it, the comparison below finds an untouched file unchanged.
        states.push(State { content, mode_of, is_touched: false, ..State::ABSENT });
    }
    let mut outcome = Outcome::default();
    for change in &patch.changes {
        let lost = || ToolError::failed(format!("{} was not read", change.path));
        let at = find(&change.path).ok_or_else(lost)?;
        let other = change.or_path.as_deref().and_then(&find);
        // `diff -u a.orig a` may be about either.
        let at = if states[at].content.is_none() { other.unwrap_or(at) } else { at };
        let to = match &change.action {
            Action::Update { to: Some(to), .. } => Some(find(to).ok_or_else(lost)?),
            _ => None,
        };
        step(&mut states, known, change, at, to, &mut outcome.notes)?;
        if change.executable.is_some() {
            states[to.unwrap_or(at)].executable = change.executable;
        }
    }
    let sources: Vec<Source> = states.iter().map(Source::of).collect();
    for (index, state) in states.into_iter().enumerate().filter(|(_, state)| state.is_touched) {
        let before = known[index].content.as_deref();
        let after = state.content.map(|content| content.into_file(&known[index].shown));
        let is_moved_away = || {
            let mut others = sources.iter().enumerate().filter(|(other, _)| *other != index);
            others.any(|(other, source)| source.from == Some(index) && known[other].content.is_none())
        };
        let is_new = before.is_none() || state.mode_of.is_none() && is_moved_away();
        let mode = if is_new || state.mode_of == Some(index) {
            Mode { like: state.mode_of.filter(|_| is_new), executable: state.executable }
        } else {
            // A file moved over another brings its mode; a file created where one was moved away is new.
            let brought = state.mode_of.map_or(Some(false), |of| known[of].executable);
            // A file that is written itself may have another mode by then.
            let like = state.mode_of.filter(|&of| !sources[of].is_there);
            Mode { like, executable: state.executable.or(brought) }
        };
        let had = known[mode.like.unwrap_or(index)].executable;
        let mode = Mode { executable: mode.executable.filter(|now| Some(*now) != had), ..mode };
        let fate = match (before, after.transpose()?) {
            (None, None) => continue,
            (Some(_), None) if is_moved_away() => continue,
            (Some(_), None) => Fate::Deleted,
            (Some(_), Some(after)) if is_new => Fate::Added(after),
            (Some(before), Some(after)) if before == after && mode == Mode::default() => continue,
            (Some(_), Some(after)) => Fate::Changed(after),
            (None, Some(content)) => match state.from.filter(|&from| sources[from].leaves(from, known)) {
                Some(from) => Fate::Moved { from, content },
                None => Fate::Added(content),
            },
        };
        // Same result without it, so no test covers it: a default mode changes nothing, and the mode of a
        // deleted file is not used.
        if fate != Fate::Deleted && mode != Mode::default() {
            outcome.modes.insert(index, mode);
        }
        outcome.files.push((index, fate));
    }
    if outcome.files.is_empty() {
        return Err(ToolError::failed(
            "the files already have the changes of the patch; nothing would change",
        ));
    }
    Ok(outcome)
}

/// The facts about a file's place when all changes are made.
struct Source {
    is_there: bool,
    /// Index of the file that the content was moved from.
    from: Option<usize>,
    /// True if it has nothing of a file that was there before.
    is_new: bool,
}

impl Source {
    fn of(state: &State<'_>) -> Self {
        Self { is_there: state.content.is_some(), from: state.from, is_new: state.mode_of.is_none() }
    }

    /// Returns true if the original file at this index is gone, so that another can take its place.
    fn leaves(&self, at: usize, known: &[Known]) -> bool {
        known[at].content.is_some() && (!self.is_there || self.is_new)
    }
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
                    "{shown} already exists; use `*** Update File` to change it, or delete it first"
                ));
            }
            let content = Content::verbatim(Cow::Owned(content.clone().into_bytes()));
            // A file that is deleted and created again is the same file.
            let mode_of = states[at].mode_of;
            states[at] = State { content: Some(content), mode_of, ..State::ABSENT };
        }
        Action::Delete(hunks) => {
            let Some(content) = states[at].content.take() else {
                return wrong(format!("{shown} does not exist, so it cannot be deleted"));
            };
            // A complete diff shows all lines; and the content that the patch itself creates is known.
            let origin = states[at].mode_of.filter(|_| hunks.is_empty()).map(|of| &known[of]);
            if origin.is_some_and(|origin| !origin.is_read) {
                return wrong(format!(
                    "{shown} was not read in this session, or only a part of it, so it must not be deleted; read all of it first"
                ));
            }
            if !hunks.is_empty() {
                let (after, _) = patched(content, hunks, shown, *is_readable)?;
                if !after.bytes.is_empty() {
                    return wrong(format!("{shown} has more than the lines that the patch deletes"));
                }
            }
            states[at] = State { mode_of: states[at].mode_of, ..State::ABSENT };
        }
        Action::Update { is_copy, hunks, .. } => {
            let Some(content) = states[at].content.take() else {
                return wrong(format!(
                    "{shown} does not exist, so it cannot be updated; use `*** Add File` to create it"
                ));
            };
            let kept = is_copy.then(|| content.clone());
            let (content, found) = patched(content, hunks, shown, *is_readable)?;
            notes.extend(found.loose.into_iter().map(|(hunk, line, level)| {
                format!("hunk {hunk} of {shown} was found on line {line} ignoring {}", level.words())
            }));
            notes.extend(found.moved.into_iter().map(|(hunk, line, stated)| {
                format!("hunk {hunk} of {shown} was found on line {line}, not {stated}")
            }));
            notes.extend(found.left.into_iter().map(|(hunk, line, block)| {
                format!(
                    "hunk {hunk} of {shown} was found on line {line}, after the block that `@@` names, which begins on line \
                     {block}"
                )
            }));
            let State { from, mode_of, executable, .. } = std::mem::replace(&mut states[at], State::ABSENT);
            let changed = State { content: Some(content), mode_of, executable, ..State::ABSENT };
            match to.filter(|to| *to != at) {
                None => states[at] = State { from, ..changed },
                Some(to) if states[to].content.is_some() => {
                    return wrong(format!(
                        "{} already exists, so {shown} cannot be moved there",
                        known[to].shown
                    ));
                }
                Some(to) if *is_copy => {
                    states[at] = State { content: kept, from, mode_of, executable, is_touched: true };
                    states[to] = changed;
                }
                Some(to) => states[to] = State { from: from.or(mode_of.filter(|of| *of == at)), ..changed },
            }
        }
    }
    Ok(())
}

/// Hunks that were found elsewhere than the patch says, or only by a looser comparison.
#[derive(Default)]
struct Found {
    loose: Vec<(usize, usize, Level)>,
    moved: Vec<(usize, usize, usize)>,
    left: Vec<(usize, usize, usize)>,
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
    if bytes.len() > MAX_BYTES {
        return Err(ToolError::failed(format!(
            "{shown} would become larger than {MAX_BYTES} bytes, the limit of a file"
        )));
    }
    Ok((content.with_bytes(bytes), Found { loose: patched.loose, moved: patched.moved, left: patched.left }))
}

/// Explains to the model why a hunk is not applied.
fn explain(error: &NotApplied, hunks: &[Hunk<'_>], shown: &str, content: Option<&[u8]>) -> String {
    let hunk = &hunks[error.hunk];
    let which = format!("hunk {} of {shown} (patch line {})", error.hunk + 1, hunk.line);
    let none = "nothing was changed";
    match &error.why {
        Misplaced::Absent => {
            let old: Vec<&str> = hunk.old().collect();
            let near = match content {
                None => "the file's content is not shown, because reading it needs approval".to_owned(),
                Some(content) => nearest(content, &old.join("\n")).unwrap_or_else(|| {
                    "there is no similar text in the file; read the file again".to_owned()
                }),
            };
            format!("{which}: its old lines are not in the file; {none}\n{near}")
        }
        Misplaced::Ambiguous { level, lines } => {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            let how = match level {
                Level::Exact => String::new(),
                level => format!(", ignoring {}", level.words()),
            };
            format!(
                "{which}: its old lines are in several places{how}, on lines {}; {none}. Add lines around it, or a line \
                 `@@` with the function or class that it is in",
                lines.join(", ")
            )
        }
        Misplaced::NoAnchor => format!(
            "{which}: it has no old lines, and the line after `@@` is not in the file; {none}. Add lines from around \
             the new ones"
        ),
        Misplaced::Indented { line } => format!(
            "{which}: its old lines are on line {line} with another indentation, and it is not clear how to indent \
             the new ones; {none}. Send old and new lines as they are indented in the file"
        ),
        Misplaced::AnchorAbsent { anchor } => {
            let (text, before) =
                (hunk.anchors[*anchor], anchor.checked_sub(1).map(|before| hunk.anchors[before]));
            let after = before.map_or(String::new(), |before| format!(" after `{}`", escape_line(before)));
            format!(
                "{which}: the line after `@@` is not in the file{after}: `{}`; {none}. Name a line of the file that \
                 is before the hunk, or none",
                escape_line(text)
            )
        }
        Misplaced::BeforeAnchor { line, anchor } => format!(
            "{which}: its old lines are only on line {line}, before the line after `@@`, which is line {anchor}; {none}. \
             Correct the old lines, or the line after `@@`"
        ),
        Misplaced::TooAlike => format!(
            "{which}: too many similar lines in the file to find it; {none}. Use `edit`, or a shorter hunk"
        ),
        Misplaced::Overlaps => format!("{which}: it changes lines that another hunk changes too; {none}"),
    }
}
