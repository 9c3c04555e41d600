//! What is replaced in a place that was found: what the new text changes, and nothing else of it.
//!
//! Where the places are the exact text, all of it goes and the new text comes. Else the old text and the new one are
//! compared, and what is the same in both stays as the file has it, with its line endings, quotes and white space.
//!
//! New lines end as those that they replace: the first as the first, and so on, further ones as the last. Where no line
//! ending is replaced, they end as the line that they are put into, or as the last one before it.

use super::Replacement;
use super::indent::Reindent;
use super::locate::Located;
use crate::fs::fold::{self, Looseness};
use crate::fs::splice::Splice;
use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::ops::{Range, RangeInclusive};

/// The most lines, old and new, that are compared one by one; of more, what is the same at both ends stays.
const MOST_LINES: usize = 4_000;

/// A line of the new text to which the rule for the indentation cannot be applied, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotIndented(pub(super) usize);

/// What is replaced where the old text was found, in order, each with the beginning of the place that it belongs to.
pub(super) fn rewrite(
    file: &[u8],
    replacement: &Replacement<'_>,
    found: &Located,
) -> Result<Vec<(usize, Splice)>, NotIndented> {
    let (old, new) = (fold::with_plain_endings(replacement.old), fold::with_plain_endings(replacement.new));
    // Who changes nothing but line endings means them.
    if old == new {
        let whole = |range: &Range<usize>| (range.start, Splice::new(range.clone(), replacement.new));
        return Ok(found.ranges.iter().map(whole).collect());
    }
    let is_plain =
        old == replacement.old && found.ranges.iter().all(|range| &file[range.clone()] == old.as_bytes());
    let changes = match &found.reindent {
        _ if is_plain => vec![Change { gone: 0..old.len(), come: 0..new.len() }],
        None => changed_lines(&old, &new).iter().map(|change| change.trimmed(&old, &new)).collect(),
        Some(_) => changed_lines(&old, &new),
    };
    let mut endings = Endings::new(file, replacement.new);
    let mut splices = Vec::new();
    for range in &found.ranges {
        let place = match &found.reindent {
            _ if is_plain => Place::Plain(range.clone()),
            None => Place::folded(&old, file, range, found.looseness),
            Some(_) => Place::lines(&old, file, range),
        };
        for Change { gone, come } in &changes {
            let gone = place.behind(gone);
            let text = match &found.reindent {
                None => new.as_bytes()[come.clone()].to_vec(),
                Some(rule) => reindented(rule, &new, come)?,
            };
            let text = endings.turn(text, &gone);
            splices.push((range.start, Splice::new(gone, text)));
        }
    }
    Ok(splices)
}

/// New lines, indented alike.
fn reindented(rule: &Reindent, new: &str, lines: &Range<usize>) -> Result<Vec<u8>, NotIndented> {
    let mut text = Vec::new();
    let before = new[..lines.start].matches('\n').count();
    for (index, line) in new[lines.clone()].split_inclusive('\n').enumerate() {
        if !rule.indent(line, &mut text) {
            return Err(NotIndented(before + index + 1));
        }
    }
    Ok(text)
}

/// A part of the old text and what the new one has in its place.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    gone: Range<usize>,
    come: Range<usize>,
}

impl Change {
    /// Without what is the same at both ends.
    fn trimmed(&self, old: &str, new: &str) -> Self {
        let (gone, come) = (&old[self.gone.clone()], &new[self.come.clone()]);
        let start: usize = gone
            .chars()
            .zip(come.chars())
            .take_while(|(one, other)| one == other)
            .map(|(one, _)| one.len_utf8())
            .sum();
        let rest = gone[start..].chars().rev().zip(come[start..].chars().rev());
        let end: usize = rest.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum();
        Self {
            gone: self.gone.start + start..self.gone.end - end,
            come: self.come.start + start..self.come.end - end,
        }
    }
}

/// The lines that differ, in order.
fn changed_lines(old: &str, new: &str) -> Vec<Change> {
    let (old_lines, new_lines) = (Lines::of(old), Lines::of(new));
    let (olds, news) = (&old_lines.texts[..], &new_lines.texts[..]);
    let change = |gone: Range<usize>, come: Range<usize>| Change {
        gone: old_lines.starts[gone.start]..old_lines.starts[gone.end],
        come: new_lines.starts[come.start]..new_lines.starts[come.end],
    };
    if olds.len() + news.len() > MOST_LINES {
        let start = olds.iter().zip(news).take_while(|(one, other)| one == other).count();
        let rest = olds[start..].iter().rev().zip(news[start..].iter().rev());
        let end = rest.take_while(|(one, other)| one == other).count();
        return vec![change(start..olds.len() - end, start..news.len() - end)];
    }
    let operations = capture_diff_slices(Algorithm::Myers, olds, news);
    let differ = operations.into_iter().filter(|operation| operation.tag() != DiffTag::Equal);
    differ.map(|operation| change(operation.old_range(), operation.new_range())).collect()
}

/// Lines with their endings, and where each begins; last where the text ends.
struct Lines<'a> {
    texts: Vec<&'a str>,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let texts: Vec<&str> = text.split_inclusive('\n').collect();
        let lengths = texts.iter().scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        });
        Self { starts: std::iter::once(0).chain(lengths).collect(), texts }
    }
}

/// Where parts of the old text are in the file.
enum Place {
    /// The old text is there as it is, and all of it goes.
    Plain(Range<usize>),
    /// It is there in a looser form: the place of each of its bytes in the old text, and in the file.
    Folded { start: usize, asked: Vec<usize>, there: Vec<Range<usize>> },
    /// Its lines are there in a looser form: where each begins in the old text, and in the file; last where they end.
    Lines { asked: Vec<usize>, there: Vec<usize> },
}

impl Place {
    fn folded(old: &str, file: &[u8], range: &Range<usize>, looseness: Looseness) -> Self {
        // The old text has plain endings by now.
        let looseness = looseness.max(Looseness::Endings);
        let asked = fold::dense(old.as_bytes(), looseness, fold::Endings::Plain);
        let there = fold::dense(&file[range.clone()], looseness, fold::Endings::Any);
        Self::Folded {
            start: range.start,
            asked: asked.into_iter().map(|asked| asked.start).collect(),
            there,
        }
    }

    fn lines(old: &str, file: &[u8], range: &Range<usize>) -> Self {
        let mut there = vec![range.start];
        for line in file[range.clone()].split_inclusive(|&byte| byte == b'\n') {
            there.push(there[there.len() - 1] + line.len());
        }
        // A last line without text may have nothing there.
        let asked = Lines::of(old).starts;
        there.resize(asked.len(), range.end);
        Self::Lines { asked, there }
    }

    /// The bytes of the file behind a part of the old text; where the part is empty, the place between.
    fn behind(&self, part: &Range<usize>) -> Range<usize> {
        match self {
            Self::Plain(range) => range.clone(),
            Self::Folded { start, asked, there } => {
                let index = |at: usize| asked.partition_point(|&asked| asked < at);
                let (from, to) = (index(part.start), index(part.end));
                let after = from.checked_sub(1).map_or(0, |before| there[before].end);
                let (from, to) =
                    if from < to { (there[from].start, there[to - 1].end) } else { (after, after) };
                start + from..start + to
            }
            Self::Lines { asked, there } => {
                let index = |at: usize| asked.partition_point(|&asked| asked < at);
                there[index(part.start)]..there[index(part.end)]
            }
        }
    }
}

/// The line endings of a file, for places that are asked for in order.
struct Endings<'a> {
    file: &'a [u8],
    /// The new text's own, for a file that has none.
    own: &'static [u8],
    known: Option<Known>,
}

/// How the lines end that begin in a part of the file.
struct Known {
    part: RangeInclusive<usize>,
    ending: &'static [u8],
}

impl<'a> Endings<'a> {
    fn new(file: &'a [u8], new: &str) -> Self {
        let is_crlf = new.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r'));
        Self { file, own: if is_crlf { b"\r\n" } else { b"\n" }, known: None }
    }

    /// New text for a place, with the endings of what it replaces.
    fn turn(&mut self, text: Vec<u8>, place: &Range<usize>) -> Vec<u8> {
        if memchr::memchr(b'\n', &text).is_none() {
            return text;
        }
        let replaced = &self.file[place.clone()];
        let mut replaced = memchr::memchr_iter(b'\n', replaced).map(|at| ending(replaced, at));
        let mut last = None;
        let mut turned = Vec::with_capacity(text.len());
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else {
                turned.extend_from_slice(line);
                continue;
            };
            last = replaced.next().or(last);
            let ending = *last.get_or_insert_with(|| self.around(place));
            turned.extend_from_slice(line);
            turned.extend_from_slice(ending);
        }
        turned
    }

    /// How the line ends that a place is in, or else the last one before it.
    fn around(&mut self, place: &Range<usize>) -> &'static [u8] {
        if let Some(known) = self.known.as_ref().filter(|known| known.part.contains(&place.end)) {
            return known.ending;
        }
        let next = memchr::memchr(b'\n', &self.file[place.end..]).map(|at| place.end + at);
        let ending = match next.or_else(|| memchr::memrchr(b'\n', &self.file[..place.start])) {
            Some(at) => ending(self.file, at),
            None => self.own,
        };
        let end = next.unwrap_or(self.file.len());
        self.known = Some(Known { part: place.end..=end, ending });
        ending
    }
}

/// The ending with a line feed at `at`.
fn ending(bytes: &[u8], at: usize) -> &'static [u8] {
    if at > 0 && bytes[at - 1] == b'\r' { b"\r\n" } else { b"\n" }
}
