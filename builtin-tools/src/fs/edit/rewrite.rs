//! Computes the changes at a match: only the differences between the old and the new text.
//!
//! An exact match is replaced entirely by the new text. Otherwise the old text and the new one are compared, and the parts
//! that are equal in both stay as they are in the file, with its line endings, quotes and white space.
//!
//! New lines get the endings of those that they replace: the first that of the first, and so on, further ones that of the
//! last. If no line ending is replaced, they get that of the line that they are put into, or of the last one before it.

use super::frame::{Block, Frame, Unclear, align, is_blank, step_above};
use super::indent::Reindent;
use super::locate::Located;
use super::replacement::Replacement;
use crate::fs::fold::{self, Looseness};
use crate::fs::splice::Splice;
use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::ops::{Range, RangeInclusive};

/// Maximum number of lines, old and new, that are compared individually; beyond it, equal lines at both ends are kept.
const MAX_LINES: usize = 4_000;

/// Maximum number of words compared individually in changed lines; beyond it, equal words at both ends are kept.
const MAX_WORDS: usize = 4_000;

/// The changes where the old text was found.
pub(super) struct Rewritten {
    /// The splices in order, each with the start of its match.
    pub(super) splices: Vec<(usize, Splice)>,
    /// True if the parts that are equal in the old and the new text are kept as they are in the file.
    pub(super) is_minimal: bool,
    /// The frame that the new text's indentation followed, if the old text's indentation differs from the file's.
    pub(super) frame: Option<Frame>,
}

/// Works out the changes where the old text was found.
///
/// # Errors
///
/// If the indentation of a line of the new text is ambiguous.
pub(super) fn rewrite(
    file: &[u8],
    replacement: &Replacement<'_>,
    found: &Located,
) -> Result<Rewritten, Unclear> {
    let (old, new) = (fold::with_plain_endings(replacement.old), fold::with_plain_endings(replacement.new));
    let exact = |splices| Rewritten { splices, is_minimal: true, frame: None };
    // A request that changes only line endings means them literally.
    if old == new {
        let whole = |range: &Range<usize>| (range.start, Splice::new(range.clone(), replacement.new));
        return Ok(exact(found.ranges.iter().map(whole).collect()));
    }
    let mut endings = Endings::new(file, replacement.new);
    if old == replacement.old && found.ranges.iter().all(|range| &file[range.clone()] == old.as_bytes()) {
        let mut splice = |range: &Range<usize>| {
            let text = endings.turn(new.as_bytes().to_vec(), range);
            (range.start, Splice::new(range.clone(), text))
        };
        return Ok(exact(found.ranges.iter().map(&mut splice).collect()));
    }
    let (mut old, mut new, mut frame) = (old, new, None);
    if let (Some(rule), [range]) = (&found.reindent, &found.ranges[..]) {
        let indented = reindented(&old, &new, file, range, rule)?;
        (old, new, frame) = (indented.0.into(), indented.1.into(), Some(indented.2));
    }
    // Differences in line endings alone are not compared by words: the endings are decided for whole lines.
    let by_words = found.looseness > Looseness::Endings;
    let Changes { changes, is_minimal } = Changes::between(&old, &new, by_words);
    let mut splices = Vec::new();
    for range in &found.ranges {
        let place = Place::new(&old, file, range, found);
        for Change { gone, come } in &changes {
            let gone = place.behind(gone);
            let text = endings.turn(new.as_bytes()[come.clone()].to_vec(), &gone);
            splices.push((range.start, Splice::new(gone, text)));
        }
    }
    Ok(Rewritten { splices, is_minimal, frame })
}

/// Returns the old text with the indentation of the file, the new one with the indentation that it gets there, and the
/// frame that it followed.
fn reindented(
    old: &str,
    new: &str,
    file: &[u8],
    range: &Range<usize>,
    rule: &Reindent,
) -> Result<(String, String, Frame), Unclear> {
    let (olds, news): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut there: Vec<&[u8]> = file[range.clone()].split(|&byte| byte == b'\n').collect();
    there.resize(olds.len(), b"");
    let first = there.iter().copied().find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let above = file[..range.start].strip_suffix(b"\n").unwrap_or_default().rsplit(|&byte| byte == b'\n');
    let (steps, step) = (align(&olds, &news), step_above(first, above));
    let block = Block::new(olds, there, news, steps, step);
    let (lines, frame) = block.indent(rule)?;
    let as_there = |(old, there): (&&str, &&[u8])| {
        let indent = String::from_utf8_lossy(&there[..fold::indentation(there)]).into_owned();
        if is_blank(old) { (*old).to_owned() } else { indent + &old[fold::indentation(old.as_bytes())..] }
    };
    let olds: Vec<String> = block.old.iter().zip(&block.there).map(as_there).collect();
    Ok((olds.join("\n"), lines.join("\n"), frame))
}

/// The changes from an old text to a new one.
struct Changes {
    changes: Vec<Change>,
    is_minimal: bool,
}

impl Changes {
    fn between(old: &str, new: &str, by_words: bool) -> Self {
        let (lines, mut is_minimal) = changed_lines(old, new);
        let mut changes = Vec::with_capacity(lines.len());
        for change in lines {
            match change.by_words(old, new).filter(|_| by_words) {
                Some(words) => changes.extend(words.iter().map(|change| change.trimmed(old, new))),
                None => {
                    is_minimal &= !by_words;
                    changes.push(change.trimmed(old, new));
                }
            }
        }
        changes.retain(|change| !change.gone.is_empty() || !change.come.is_empty());
        Self { changes, is_minimal }
    }
}

/// A part of the old text, and its replacement in the new one.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    gone: Range<usize>,
    come: Range<usize>,
}

impl Change {
    /// Returns the differing words of the change; `None` if there are too many to compare.
    fn by_words(&self, old: &str, new: &str) -> Option<Vec<Self>> {
        let (gone, come) = (words(old, &self.gone), words(new, &self.come));
        if gone.len() + come.len() > MAX_WORDS {
            return None;
        }
        let starts = |words: &[Word<'_>], mut at: usize| -> Vec<usize> {
            let mut starts = vec![at];
            for word in words {
                at += word.text.len();
                starts.push(at);
            }
            starts
        };
        let (from, to) = (starts(&gone, self.gone.start), starts(&come, self.come.start));
        let operations = capture_diff_slices(Algorithm::Myers, &gone, &come);
        let differ = operations.into_iter().filter(|operation| operation.tag() != DiffTag::Equal);
        let change = |operation: similar::DiffOp| {
            let (gone, come) = (operation.old_range(), operation.new_range());
            Self { gone: from[gone.start]..from[gone.end], come: to[come.start]..to[come.end] }
        };
        Some(differ.map(change).collect())
    }

    /// Returns the change without the common start and end.
    fn trimmed(&self, old: &str, new: &str) -> Self {
        let (gone, come) = (&old[self.gone.clone()], &new[self.come.clone()]);
        let is_same = |(at, one): (usize, char), (to, other): (usize, char)| {
            one == other && is_end(old, self.gone.start + at) == is_end(new, self.come.start + to)
        };
        let pairs = gone.char_indices().zip(come.char_indices());
        let start: usize =
            pairs.take_while(|(one, other)| is_same(*one, *other)).map(|(one, _)| one.1.len_utf8()).sum();
        let pairs = gone.char_indices().rev().zip(come.char_indices().rev());
        let rest =
            pairs.take_while(|(one, other)| one.0 >= start && other.0 >= start && is_same(*one, *other));
        let end: usize = rest.map(|(one, _)| one.1.len_utf8()).sum();
        Self {
            gone: self.gone.start + start..self.gone.end - end,
            come: self.come.start + start..self.come.end - end,
        }
    }
}

/// The lines that differ, in order, and whether lines between them that are equal are left out.
fn changed_lines(old: &str, new: &str) -> (Vec<Change>, bool) {
    let (old_lines, new_lines) = (Lines::of(old), Lines::of(new));
    let (olds, news) = (&old_lines.texts[..], &new_lines.texts[..]);
    let change = |gone: Range<usize>, come: Range<usize>| Change {
        gone: old_lines.starts[gone.start]..old_lines.starts[gone.end],
        come: new_lines.starts[come.start]..new_lines.starts[come.end],
    };
    if olds.len() + news.len() > MAX_LINES {
        let start = olds.iter().zip(news).take_while(|(one, other)| one == other).count();
        let rest = olds[start..].iter().rev().zip(news[start..].iter().rev());
        let end = rest.take_while(|(one, other)| one == other).count();
        return (vec![change(start..olds.len() - end, start..news.len() - end)], false);
    }
    let operations = capture_diff_slices(Algorithm::Myers, olds, news);
    let differ = operations.into_iter().filter(|operation| operation.tag() != DiffTag::Equal);
    (differ.map(|operation| change(operation.old_range(), operation.new_range())).collect(), true)
}

/// A run of other characters than white space, or a character of that.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Word<'a> {
    text: &'a str,
    /// True if only white space follows on the line: such white space may be absent in the file, and differs from that
    /// between words.
    is_end: bool,
}

/// Returns the words of a part of a text.
fn words<'a>(text: &'a str, part: &Range<usize>) -> Vec<Word<'a>> {
    let mut words = Vec::new();
    let mut at = part.start;
    while let Some(first) = text[at..part.end].chars().next() {
        let rest = &text[at..part.end];
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else {
            rest.find(char::is_whitespace).unwrap_or(rest.len())
        };
        words.push(Word { text: &rest[..length], is_end: is_end(text, at) });
        at += length;
    }
    words
}

/// Returns true if only white space follows on the line, within a limit. The limit keeps a line of white space from taking
/// quadratic time.
fn is_end(text: &str, at: usize) -> bool {
    const LOOKED_AT: usize = 256;
    text[at..].chars().take(LOOKED_AT).take_while(|character| *character != '\n').all(char::is_whitespace)
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

/// Positions of the parts of the old text in the file.
enum Place {
    /// A looser match of text: the position of each byte in the old text, and in the file.
    Folded { start: usize, asked: Vec<usize>, there: Vec<Range<usize>> },
    /// A looser match of lines: the start of each line in the old text and in the file, and last the ends.
    Lines { asked: Vec<usize>, there: Vec<usize> },
}

impl Place {
    /// Maps the old text, which has the file's indentation by now.
    fn new(old: &str, file: &[u8], range: &Range<usize>, found: &Located) -> Self {
        if found.reindent.is_none() {
            return Self::folded(old, file, range, found.looseness);
        }
        let seen = |text: &[u8]| fold::fold(text, Looseness::Unicode);
        if seen(old.as_bytes()) == seen(&file[range.clone()]) {
            Self::folded(old, file, range, Looseness::Unicode)
        } else {
            Self::lines(old, file, range)
        }
    }

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

    /// Returns the bytes of the file for a part of the old text; for an empty part, the position between.
    fn behind(&self, part: &Range<usize>) -> Range<usize> {
        match self {
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

/// Line endings of a file, for ranges that are requested in order.
struct Endings<'a> {
    file: &'a [u8],
    /// The new text's own ending, for a file without line endings.
    own: &'static [u8],
    known: Option<Known>,
}

/// The ending of the lines that begin in a part of the file.
struct Known {
    part: RangeInclusive<usize>,
    ending: &'static [u8],
}

impl<'a> Endings<'a> {
    fn new(file: &'a [u8], new: &str) -> Self {
        let is_crlf = new.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r'));
        Self { file, own: if is_crlf { b"\r\n" } else { b"\n" }, known: None }
    }

    /// Returns new text for a range, with the endings of the text that it replaces.
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

    /// Returns the ending of the line that contains a range, or else of the last line before it.
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
