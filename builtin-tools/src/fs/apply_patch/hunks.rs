//! The hunks of one file, as parts of it that are replaced.
//!
//! Unchanged lines keep every byte. If a hunk matches the file byte for byte, new lines are as in the patch, including
//! carriage returns; otherwise they get the line endings of the lines that they replace or are next to. For a hunk without
//! old lines, `Said` decides between the two. The last line has an ending afterwards if it had one before, unless the patch
//! says otherwise.

use super::indent::indented;
use super::lines::{Level, Lines};
use super::patch::{Hunk, HunkLine, Sign, without_return};
use super::place::{Misplaced, Placed, Placer, changed_until};
use crate::fs::diff::count_lines;
use crate::fs::fold;
use crate::fs::returns::Returns;
use crate::fs::splice::Splice;
use std::borrow::Cow;

/// A file after its hunks were applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patched {
    /// The parts that are replaced, in order.
    pub(crate) splices: Vec<Splice>,
    /// The hunks that are in the file in a looser form only: their number counted from 1, the line in the file, and how.
    pub(crate) loose: Vec<(usize, usize, Level)>,
    /// The hunks that are on another line than the patch states: their number, the line in the file, and the one stated.
    pub(crate) moved: Vec<(usize, usize, usize)>,
    /// Hunks that come after the block that they name: their number, the line in the file, and the line at which the block
    /// begins.
    pub(crate) left: Vec<(usize, usize, usize)>,
}

/// A hunk, counted from 0, that cannot be applied, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotApplied {
    pub(crate) hunk: usize,
    pub(crate) why: Misplaced,
}

/// Maximum number of lines of a file: a list of them is made.
const MAX_LINES: usize = 16_000_000;

/// Applies hunks to a file of less than 4 GiB.
///
/// Lines that end with a carriage return alone are lines too, unless a line of the patch has such a return.
pub(crate) fn apply(file: &[u8], hunks: &[Hunk<'_>]) -> Result<Patched, NotApplied> {
    let knows_returns = hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.contains('\r'));
    let Some(returns) = Returns::of(file).filter(|_| !knows_returns) else { return apply_lines(file, hunks) };
    if !returns.is_all {
        match apply_lines(file, hunks) {
            Err(NotApplied { why: Misplaced::Absent, .. }) => {}
            done => return done,
        }
    }
    let mut patched = apply_lines(&returns.with_line_feeds, hunks)?;
    patched.splices = patched.splices.into_iter().map(|splice| returns.restore(splice)).collect();
    Ok(patched)
}

fn apply_lines(file: &[u8], hunks: &[Hunk<'_>]) -> Result<Patched, NotApplied> {
    // A patch without a byte order mark keeps the file's.
    let knows_mark = hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.starts_with('\u{FEFF}'));
    if count_lines(file) > MAX_LINES {
        return Err(NotApplied { hunk: 0, why: Misplaced::TooAlike });
    }
    let lines = Lines::of(file, if knows_mark { 0 } else { fold::mark(file) });
    let mut search = Placer::new(&lines, hunks);
    let mut found = Vec::with_capacity(hunks.len());
    let (mut loose, mut moved, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let mut from = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let placed = search.place(hunk, from).map_err(|why| NotApplied { hunk: index, why })?;
        if placed.level > Level::Endings {
            loose.push((index + 1, placed.at + 1, placed.level));
        }
        // Without old lines, the header states the line before.
        let line = placed.at + usize::from(hunk.old().next().is_some());
        moved.extend(hunk.at.filter(|stated| *stated != line).map(|stated| (index + 1, line, stated)));
        left.extend(search.left_block(hunk, &placed).map(|block| (index + 1, placed.at + 1, block)));
        // Unchanged empty lines make no difference any more, and may not be in the file.
        let hunk = match hunk.padding.max(placed.missing) {
            // Only saves a copy: `without_last(0)` has the same lines, so no test covers this arm.
            0 => Cow::Borrowed(hunk),
            last => Cow::Owned(hunk.without_last(last)),
        };
        from = from.max(changed_until(&hunk, placed.at));
        found.push((hunk, placed));
    }
    let said = Said::by(&lines, &found);
    let mut splices: Vec<Splice> = Vec::new();
    let indented = found.iter().enumerate().map(|(index, (hunk, placed))| {
        let why = Misplaced::Indented { line: placed.at + 1 };
        indented(&lines, hunk, placed).ok_or(NotApplied { hunk: index, why })
    });
    let indented: Vec<Vec<String>> = indented.collect::<Result<_, _>>()?;
    for ((hunk, placed), texts) in found.iter().zip(&indented) {
        let endings = said.endings_of(&lines, hunk, placed);
        let hunk = match &texts[..] {
            [] => Cow::Borrowed(&**hunk),
            texts => Cow::Owned(with_texts(hunk, texts)),
        };
        let runs = Run::all(&hunk, placed.at).into_iter();
        splices.extend(runs.map(|run| run.splice(&lines, &hunk, endings)));
    }
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    if splices.windows(2).any(|pair| pair[0].range.end > pair[1].range.start) {
        return Err(NotApplied { hunk: hunks.len() - 1, why: Misplaced::Overlaps });
    }
    splices.retain(|splice| file[splice.range.clone()] != splice.text);
    Ok(Patched { splices, loose, moved, left })
}

/// The hunk with other texts in its lines.
fn with_texts<'a>(hunk: &Hunk<'a>, texts: &'a [String]) -> Hunk<'a> {
    let mut hunk = hunk.clone();
    hunk.lines.iter_mut().zip(texts).for_each(|(line, text)| line.text = text);
    hunk
}

/// Line endings of new lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endings {
    /// The endings in the patch.
    Verbatim,
    /// The endings of the lines that they replace or are next to.
    Neighbours,
    /// All alike.
    Each(&'static [u8]),
}

/// Evidence from all hunks of a file whether the patch contains the file's line endings. A hunk without old lines gives
/// none by itself.
struct Said {
    /// A line of the patch has a carriage return, or is marked as having no ending, so the other endings are meant
    /// literally.
    knows_endings: bool,
    /// All old lines are in the file byte for byte.
    is_exact: bool,
    /// Number of lines of the file that end with `\r\n`, and that end with `\n` alone. Not counted if it does not matter.
    crlf: usize,
    lf: usize,
}

impl Said {
    fn by(lines: &Lines<'_>, places: &[(Cow<'_, Hunk<'_>>, Placed)]) -> Self {
        let mut said = Self { knows_endings: false, is_exact: true, crlf: 0, lf: 0 };
        let mut is_needed = false;
        for (hunk, placed) in places {
            said.knows_endings |= hunk.old_is_open
                || hunk.new_is_open
                || hunk.lines.iter().any(|line| line.text.contains('\r'));
            if hunk.old().next().is_none() {
                is_needed = true;
            } else {
                said.is_exact &= placed.level == Level::Exact;
            }
        }
        // Only saves counting: otherwise the numbers have no effect, so no test covers the condition.
        if is_needed && !said.knows_endings {
            let endings = || (0..lines.count()).filter_map(|line| lines.ending(line));
            said.crlf = endings().filter(|ending| *ending == b"\r\n").count();
            said.lf = endings().count() - said.crlf;
        }
        said
    }

    fn endings_of(&self, lines: &Lines<'_>, hunk: &Hunk<'_>, placed: &Placed) -> Endings {
        if hunk.old().next().is_some() {
            return match placed.level {
                Level::Exact => Endings::Verbatim,
                _ => Endings::Neighbours,
            };
        }
        // A hunk with a line number and without old lines was generated by a program from the file as it is. The absence of
        // carriage returns in it is inconclusive only if all lines of the file have one.
        let is_of_program = hunk.at.is_some_and(|at| at <= lines.count()) && self.is_exact && self.lf > 0;
        if self.knows_endings || is_of_program {
            Endings::Verbatim
        } else {
            Endings::Each(if self.crlf > self.lf { b"\r\n" } else { b"\n" })
        }
    }
}

/// Lines next to each other, of which some go and some come.
struct Run<'a> {
    /// Index of the first removed line, or of the line before which new ones are inserted.
    at: usize,
    gone: Vec<&'a str>,
    come: Vec<&'a str>,
}

impl<'a> Run<'a> {
    fn all(hunk: &Hunk<'a>, at: usize) -> Vec<Self> {
        let mut runs = Vec::new();
        let mut line = at;
        let mut run = Self { at, gone: Vec::new(), come: Vec::new() };
        for HunkLine { sign, text } in &hunk.lines {
            match sign {
                Sign::Keep => {
                    line += 1;
                    let next = Self { at: line, gone: Vec::new(), come: Vec::new() };
                    runs.push(std::mem::replace(&mut run, next));
                }
                Sign::Gone => {
                    line += 1;
                    run.gone.push(text);
                }
                Sign::Come => run.come.push(text),
            }
        }
        runs.push(run);
        runs.retain(|run| !run.gone.is_empty() || !run.come.is_empty());
        runs
    }

    /// Removes lines at both ends that are removed and added again.
    fn trimmed(mut self) -> Self {
        let start = self.gone.iter().zip(&self.come).take_while(|(gone, come)| gone == come).count();
        self.gone.drain(..start);
        self.come.drain(..start);
        self.at += start;
        let end = self
            .gone
            .iter()
            .rev()
            .zip(self.come.iter().rev())
            .take_while(|(gone, come)| gone == come)
            .count();
        self.gone.truncate(self.gone.len() - end);
        self.come.truncate(self.come.len() - end);
        self
    }

    fn splice(self, lines: &Lines<'_>, hunk: &Hunk<'_>, endings: Endings) -> Splice {
        let is_said = hunk.old_is_open || hunk.new_is_open;
        let run = if is_said { self } else { self.trimmed() };
        let (start, end) = (lines.start(run.at), lines.start(run.at + run.gone.len()));
        let is_verbatim = endings == Endings::Verbatim;
        // New lines after one that has no ending give it one.
        let follows_open = start == lines.bytes.len() && run.at > 0 && lines.ending(run.at - 1).is_none();
        let ending_of = |index: usize| -> &'static [u8] {
            if let Endings::Each(ending) = endings {
                return ending;
            }
            let replaced = run.gone.len().checked_sub(1).map(|last| run.at + last.min(index));
            // The line before may be the last one, without an ending. Without a line before, the first line decides.
            let known = [replaced, run.at.checked_sub(1), run.at.checked_sub(2), Some(0)];
            known.into_iter().flatten().find_map(|line| lines.ending(line)).unwrap_or(b"\n")
        };
        let mut text = Vec::new();
        if follows_open && !run.come.is_empty() {
            text.extend_from_slice(ending_of(0));
        }
        for (index, line) in run.come.iter().enumerate() {
            if is_verbatim {
                text.extend_from_slice(line.as_bytes());
                text.push(b'\n');
            } else {
                text.extend_from_slice(without_return(line).as_bytes());
                text.extend_from_slice(ending_of(index));
            }
        }
        let was_open = lines.count() > 0 && lines.ending(lines.count() - 1).is_none();
        let is_open = if is_said { hunk.new_is_open } else { was_open };
        if end == lines.bytes.len() && is_open && !run.come.is_empty() {
            text.pop();
            if !is_verbatim && text.last() == Some(&b'\r') {
                text.pop();
            }
        }
        Splice::new(start..end, text)
    }
}
