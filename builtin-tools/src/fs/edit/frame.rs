//! Indentation of new lines, if the file indents the old lines differently from the request.
//!
//! A caller who gets the indentation of the old lines wrong may get that of the new lines wrong by the same rule, or may
//! give the new lines with the file's indentation. Shifting the latter would move code to another block without an error,
//! and so would keeping the former. Lines that are in both texts, and new lines that replace old ones, show which of the two
//! applies. If they contradict each other or are inconclusive, it is an error rather than a guess.

use super::indent::Reindent;
use crate::fs::fold::indentation;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashSet;
use std::ops::Range;

/// Maximum number of lines, old and new, that are aligned individually; beyond it, only equal lines at both ends are.
const MAX_ALIGNED: usize = 4_000;
/// Maximum number of lines above a block that are searched for one with less indentation.
const MAX_ABOVE: usize = 500;

/// The text whose indentation the new lines follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The indentation of the old lines as given; the same rule converts it to that of the file.
    Asked,
    /// The indentation of the file.
    File,
}

/// The new line, counted from 0, whose indentation is ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unclear(pub(crate) usize);

/// The change to a line, by its place among the old or the new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// An unchanged line that was given once for both texts: its indentation gives no information about the new lines.
    Context { old: usize, new: usize },
    /// A line in both the old and the new text, whatever its indentation.
    Both { old: usize, new: usize },
    /// A removed line.
    Gone(usize),
    /// An added line.
    Come(usize),
}

/// Old lines at their match, and the lines that replace them, without line endings.
pub(crate) struct Block<'a> {
    /// The old lines as they were given.
    pub(crate) old: Vec<&'a str>,
    /// The same lines as they are in the file.
    pub(crate) there: Vec<&'a [u8]>,
    /// The new lines as they were given.
    pub(crate) new: Vec<&'a str>,
    /// The change to each line, in order.
    steps: Vec<Step>,
    /// Difference in indentation, in bytes, from the nearest line above the block that is indented less.
    step_above: Option<usize>,
    /// True for each old line that is removed, and for each new one that is added.
    gone: Vec<bool>,
    come: Vec<bool>,
    /// True for each new line that was given apart from an old one.
    is_given_anew: Vec<bool>,
    /// The line that each is below: the nearest before it that is indented less.
    old_parents: Vec<Option<usize>>,
    new_parents: Vec<Option<usize>>,
    /// The old lines with text, one for each pair of a requested indentation and the file's.
    depths: Vec<usize>,
}

/// Aligns the lines of two texts, ignoring indentation.
pub(crate) fn align(old: &[&str], new: &[&str]) -> Vec<Step> {
    let text = |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| line.trim().to_owned()).collect() };
    let (olds, news) = (text(old), text(new));
    let both = |old: Range<usize>, new: Range<usize>| old.zip(new).map(|(old, new)| Step::Both { old, new });
    let changed = |old: Range<usize>, new: Range<usize>| old.map(Step::Gone).chain(new.map(Step::Come));
    if olds.len() + news.len() > MAX_ALIGNED {
        let start = olds.iter().zip(&news).take_while(|(one, other)| one == other).count();
        let rest = olds[start..].iter().rev().zip(news[start..].iter().rev());
        let end = rest.take_while(|(one, other)| one == other).count();
        let (old_end, new_end) = (olds.len() - end, news.len() - end);
        return both(0..start, 0..start)
            .chain(changed(start..old_end, start..new_end))
            .chain(both(old_end..olds.len(), new_end..news.len()))
            .collect();
    }
    let mut steps = Vec::with_capacity(olds.len() + news.len());
    for operation in capture_diff_slices(Algorithm::Myers, &olds, &news) {
        let (old, new) = (operation.old_range(), operation.new_range());
        match operation {
            DiffOp::Equal { .. } => steps.extend(both(old, new)),
            _ => steps.extend(changed(old, new)),
        }
    }
    steps
}

/// Returns the difference in indentation from the nearest line above that is indented less; `above` begins with the nearest
/// line.
pub(crate) fn step_above<'l>(first: &[u8], above: impl Iterator<Item = &'l [u8]>) -> Option<usize> {
    let depth = indentation(first);
    let mut above = above.take(MAX_ABOVE).filter(|line| !line.trim_ascii().is_empty());
    above.find_map(|line| depth.checked_sub(indentation(line)).filter(|step| *step > 0))
}

/// The evidence of a line for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vote {
    For(Frame),
    /// The line fits both frames, or neither.
    Unclear,
    /// The line fits both frames, but as [`Frame::Asked`] it would start another block for the lines after it.
    Doubtful,
    /// The line has the same indentation in both frames.
    Neutral,
}

impl Vote {
    /// Returns the vote for the only frame that fits.
    fn of(asked: bool, file: bool) -> Self {
        match (asked, file) {
            (true, false) => Self::For(Frame::Asked),
            (false, true) => Self::For(Frame::File),
            _ => Self::Unclear,
        }
    }
}

impl<'a> Block<'a> {
    /// Creates a block of as many lines of the file as old ones; `steps` aligns all lines.
    pub(crate) fn new(
        old: Vec<&'a str>,
        there: Vec<&'a [u8]>,
        new: Vec<&'a str>,
        steps: Vec<Step>,
        step_above: Option<usize>,
    ) -> Self {
        let (mut gone, mut come) = (vec![false; old.len()], vec![false; new.len()]);
        let mut is_given_anew = vec![true; new.len()];
        for step in &steps {
            match step {
                Step::Gone(old) => gone[*old] = true,
                Step::Come(new) => come[*new] = true,
                Step::Context { new, .. } => is_given_anew[*new] = false,
                Step::Both { .. } => {}
            }
        }
        let (old_parents, new_parents) = (parents(&old), parents(&new));
        let mut known = HashSet::new();
        let depths = (0..old.len())
            .filter(|at| !is_blank(old[*at]))
            .filter(|at| known.insert((indent_of(old[*at].as_bytes()), indent_of(there[*at]))))
            .collect();
        Self {
            old,
            there,
            new,
            steps,
            step_above,
            gone,
            come,
            is_given_anew,
            old_parents,
            new_parents,
            depths,
        }
    }

    /// Returns the new lines with the indentation that they get in the file, and the frame that they followed.
    pub(crate) fn indent(&self, rule: &Reindent) -> Result<(Vec<String>, Frame), Unclear> {
        let frame = self.frame(rule)?;
        match frame {
            Frame::Asked => self.check_asked(rule)?,
            Frame::File => self.check_file(rule)?,
        }
        let line = |(index, line): (usize, &&str)| {
            if frame == Frame::File || !self.is_given_anew[index] {
                return Ok((*line).to_owned());
            }
            let mut text = Vec::new();
            let is_indented = rule.indent(line, &mut text);
            String::from_utf8(text).ok().filter(|_| is_indented).ok_or(Unclear(index))
        };
        let lines = self.new.iter().enumerate().map(line).collect::<Result<_, _>>()?;
        Ok((lines, frame))
    }

    fn frame(&self, rule: &Reindent) -> Result<Frame, Unclear> {
        let (mut asked, mut file, mut unclear, mut doubtful) = (None, None, None, None);
        for (new, vote) in self.votes(rule) {
            let first = match vote {
                Vote::For(Frame::Asked) => &mut asked,
                Vote::For(Frame::File) => &mut file,
                Vote::Unclear => &mut unclear,
                Vote::Doubtful => &mut doubtful,
                Vote::Neutral => continue,
            };
            first.get_or_insert(new);
        }
        match (asked, file.or(doubtful), unclear) {
            (Some(asked), Some(file), _) => Err(Unclear(asked.max(file))),
            (None, Some(new), _) if file.is_none() => Err(Unclear(new)),
            (None, None, Some(new)) => Err(Unclear(new)),
            (None, Some(_), _) => Ok(Frame::File),
            (_, None, _) => Ok(Frame::Asked),
        }
    }

    /// Returns the vote of each line or group of lines, with the new line that it is about.
    fn votes(&self, rule: &Reindent) -> Vec<(usize, Vote)> {
        let mut votes = Vec::new();
        let mut run = Run::default();
        let mut before = None;
        for step in &self.steps {
            let after = match *step {
                Step::Gone(old) => {
                    run.gone.push(old);
                    continue;
                }
                Step::Come(new) => {
                    run.come.push(new);
                    continue;
                }
                Step::Context { old, .. } | Step::Both { old, .. } => {
                    (!is_blank(self.old[old])).then_some(old)
                }
            };
            // A blank line does not part a group from the lines around it.
            if after.is_some() {
                votes.extend(self.vote_of_run(&run, before, after, rule));
                run = Run::default();
                before = after;
            }
            if let (Some(old), Step::Both { new, .. }) = (after, *step) {
                votes.push((new, self.vote_of_line(old, new)));
            }
        }
        votes.extend(self.vote_of_run(&run, before, None, rule));
        votes
    }

    /// Returns the vote of a line that is in both texts.
    fn vote_of_line(&self, old: usize, new: usize) -> Vote {
        let (asked, there, came) = (self.asked(old), self.there(old), self.came(new));
        if came == asked && came == there {
            return Vote::Neutral;
        }
        // The line was put below a new line, which decides instead.
        if is_below_any(&self.new_parents, &self.come, new) {
            return Vote::Unclear;
        }
        // Without the line above, the line may have been moved, together with the lines below it.
        match self.old_parents[old] {
            Some(parent) if self.gone[parent] => Vote::of(
                came == asked || came == self.asked(parent),
                came == there || came == self.there(parent),
            ),
            _ if is_below_any(&self.old_parents, &self.gone, old) => Vote::Unclear,
            _ => Vote::of(came == asked, came == there),
        }
    }

    /// Returns the vote of new lines that are in place of old ones, or between lines that stay.
    fn vote_of_run(
        &self,
        run: &Run,
        before: Option<usize>,
        after: Option<usize>,
        rule: &Reindent,
    ) -> Option<(usize, Vote)> {
        let come: Vec<usize> = run.come.iter().copied().filter(|new| !is_blank(self.new[*new])).collect();
        let mut known = HashSet::new();
        let gone = run.gone.iter().copied().filter(|old| !is_blank(self.old[*old]));
        let gone: Vec<usize> =
            gone.filter(|old| known.insert((self.asked(*old), self.there(*old)))).collect();
        let &first = come.first()?;
        let vote = if let Some(&replaced) = gone.first() {
            match self.compare(first, &[replaced]) {
                Vote::Neutral => {
                    let others = come.iter().map(|new| self.compare(*new, &gone));
                    others.into_iter().find(|vote| matches!(vote, Vote::For(_))).unwrap_or(Vote::Neutral)
                }
                Vote::Unclear => self.compare(first, &gone),
                vote => vote,
            }
        } else {
            self.vote_of_insertion(first, before, after)
        };
        let vote = match vote {
            Vote::Unclear | Vote::Neutral => rule_vote(rule, self.came(first)).unwrap_or(vote),
            vote => vote,
        };
        Some((first, vote))
    }

    fn vote_of_insertion(&self, first: usize, before: Option<usize>, after: Option<usize>) -> Vote {
        let came = self.came(first);
        let deeper = |than: &[u8]| came.len() > than.len() && came.starts_with(than);
        if let Some(before) = before.filter(|before| opens_block(self.old[*before])) {
            let vote = Vote::of(deeper(self.asked(before)), deeper(self.there(before)));
            if vote != Vote::Unclear {
                return vote;
            }
        }
        // Between two lines of the block, it is most probably as deep as one of them.
        if let (Some(before), Some(after)) = (before, after)
            && let vote @ Vote::For(_) = self.compare(first, &[before, after])
        {
            return vote;
        }
        let vote = self.compare(first, &self.depths);
        let is_known = self.depths.iter().any(|old| self.asked(*old) == came || self.there(*old) == came);
        if vote != Vote::Unclear {
            return vote;
        }
        // A function after the block may be as deep as the block's first line, or be part of the block.
        let begins_anew =
            after.is_none() && opens_block(self.new[first]) && first > 0 && is_blank(self.new[first - 1]);
        match before {
            _ if is_known && begins_anew => Vote::Doubtful,
            // In one frame it is below the line before, in the other it is not.
            Some(before) if !is_known => Vote::of(deeper(self.asked(before)), deeper(self.there(before))),
            _ => Vote::Unclear,
        }
    }

    /// Returns the vote for the frame in which a new line has the indentation of one of the old lines.
    fn compare(&self, new: usize, lines: &[usize]) -> Vote {
        let came = self.came(new);
        let is_asked = lines.iter().any(|old| self.asked(*old) == came);
        let is_there = lines.iter().any(|old| self.there(*old) == came);
        if is_asked && is_there && lines.iter().all(|old| self.asked(*old) == self.there(*old)) {
            return Vote::Neutral;
        }
        Vote::of(is_asked, is_there)
    }

    /// Refuses lines whose indentation the rule does not determine.
    fn check_asked(&self, rule: &Reindent) -> Result<(), Unclear> {
        let Some(&first_old) = self.depths.first() else { return Ok(()) };
        let news: Vec<usize> = self.news().collect();
        // The first line may have lost its indentation alone.
        if let Some(&first) = news.first()
            && self.old[first_old].trim() == self.new[first].trim()
            && self.came(first).len() < self.asked(first_old).len()
        {
            return Err(Unclear(first));
        }
        let is_known = |new: &usize| self.depths.iter().any(|old| self.asked(*old) == self.came(*new));
        let unknown: Vec<usize> = news.into_iter().filter(|new| !is_known(new)).collect();
        let Some(&unknown_first) = unknown.first() else { return Ok(()) };
        let (asked, there) = (self.asked(first_old), self.there(first_old));
        if self.depths.iter().all(|old| self.asked(*old) == asked) {
            let steps = unknown.iter().map(|new| self.came(*new).len().abs_diff(asked.len()));
            let step = steps.fold(0, greatest_common_divisor);
            let is_clear = rule.is_clear_of_one_depth((asked, there), step, self.step_above);
            return if is_clear { Ok(()) } else { Err(Unclear(unknown_first)) };
        }
        // The same rule without the first line, of which the indentation may be lost.
        if asked.is_empty()
            && let Some(other) = self.rule_without(first_old)
            && let Some(new) =
                unknown.iter().find(|new| other.turn(self.came(**new)) != rule.turn(self.came(**new)))
        {
            return Err(Unclear(*new));
        }
        Ok(())
    }

    /// Refuses lines that would be indented less than all of the block, or with other characters than it.
    fn check_file(&self, rule: &Reindent) -> Result<(), Unclear> {
        let there = self.depths.iter().map(|old| self.there(*old));
        let Some(least) = there.min_by_key(|indent| indent.len()) else { return Ok(()) };
        let foreign = rule.foreign();
        let is_clear = |new: &usize| {
            let came = self.came(*new);
            came.starts_with(least) && !foreign.is_some_and(|byte| came.contains(&byte))
        };
        self.news().find(|new| !is_clear(new)).map_or(Ok(()), |new| Err(Unclear(new)))
    }

    /// The new lines with text that were given apart from an old one.
    fn news(&self) -> impl Iterator<Item = usize> {
        (0..self.new.len()).filter(|new| self.is_given_anew[*new] && !is_blank(self.new[*new]))
    }

    fn rule_without(&self, line: usize) -> Option<Reindent> {
        let old = self.old[line + 1..].join("\n");
        Reindent::between(&old, &self.there[line + 1..].join(&b'\n'))
    }

    fn asked(&self, old: usize) -> &[u8] {
        indent_of(self.old[old].as_bytes())
    }

    fn there(&self, old: usize) -> &[u8] {
        indent_of(self.there[old])
    }

    fn came(&self, new: usize) -> &[u8] {
        indent_of(self.new[new].as_bytes())
    }
}

/// The line that each line is below: the nearest before it that is indented less.
fn parents(lines: &[&str]) -> Vec<Option<usize>> {
    let mut above: Vec<(usize, usize)> = Vec::new();
    let parent = |(at, line): (usize, &&str)| {
        if is_blank(line) {
            return None;
        }
        let depth = indentation(line.as_bytes());
        while above.last().is_some_and(|(_, last)| *last >= depth) {
            above.pop();
        }
        let parent = above.last().map(|(line, _)| *line);
        above.push((at, depth));
        parent
    };
    lines.iter().enumerate().map(parent).collect()
}

/// Returns true if a line is below one of the marked lines.
fn is_below_any(parents: &[Option<usize>], marked: &[bool], line: usize) -> bool {
    std::iter::successors(parents[line], |above| parents[*above]).any(|above| marked[above])
}

/// Lines between two that stay.
#[derive(Default)]
struct Run {
    gone: Vec<usize>,
    come: Vec<usize>,
}

/// Returns the vote of the characters of an indentation, where old lines and file have different ones.
fn rule_vote(rule: &Reindent, came: &[u8]) -> Option<Vote> {
    let foreign = rule.foreign().filter(|_| !came.is_empty())?;
    let is_of_asked = came.iter().all(|byte| *byte == foreign);
    Some(Vote::of(is_of_asked, !came.contains(&foreign)))
}

/// Returns true if the lines after this one are expected to be indented deeper.
pub(crate) fn opens_block(line: &str) -> bool {
    let line = line.trim_end();
    let word = line.rsplit(|character: char| !character.is_alphanumeric()).next();
    line.ends_with([':', '{', '(', '[']) || matches!(word, Some("do" | "then" | "else" | "begin" | "try"))
}

pub(crate) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn indent_of(line: &[u8]) -> &[u8] {
    &line[..indentation(line)]
}

fn greatest_common_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}
