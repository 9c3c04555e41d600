//! Indentation of new lines, if the file indents the old lines differently from the patch.

use super::lines::{Level, Lines};
use super::patch::{Hunk, Sign};
use super::place::Placed;
use crate::fs::edit::{Block, Reindent, Step, align, is_blank, opens_block, step_above};
use crate::fs::fold::{self, Looseness};

/// Returns the texts of a hunk's lines with the indentation that they have or get in the file; empty if the old lines are
/// indented as in the file, and `None` if the indentation of a new line is ambiguous.
pub(super) fn indented(lines: &Lines<'_>, hunk: &Hunk<'_>, placed: &Placed) -> Option<Vec<String>> {
    if placed.level < Level::Trimmed {
        return Some(Vec::new());
    }
    // Unicode spaces count as spaces, as in the comparison.
    let seen = |line: &[u8]| match placed.level {
        Level::Unicode | Level::Compatible => fold::fold(line, Looseness::Unicode),
        _ => line.to_vec(),
    };
    let old = hunk.old().map(|text| String::from_utf8_lossy(&seen(text.as_bytes())).into_owned());
    let old: Vec<String> = old.collect();
    let there: Vec<Vec<u8>> = (0..old.len()).map(|line| seen(lines.text(placed.at + line))).collect();
    let is_alike = |(old, there): (&String, &Vec<u8>)| is_blank(old) || depth(old.as_bytes()) == depth(there);
    if old.iter().zip(&there).all(is_alike) {
        return Some(Vec::new());
    }
    let mut come = hunk.lines.iter().filter(|line| line.sign == Sign::Come);
    if come.all(|line| is_blank(line.text)) {
        return Some(Vec::new());
    }
    let steps = steps(hunk);
    let new: Vec<&str> =
        hunk.lines.iter().filter(|line| line.sign != Sign::Gone).map(|line| line.text).collect();
    let olds: Vec<&str> = old.iter().map(String::as_str).collect();
    let new = match Reindent::between(&old.join("\n"), &there.join(&b'\n')) {
        Some(rule) => {
            let first = there.iter().find(|line| !line.trim_ascii().is_empty())?;
            let above = (0..placed.at).rev().map(|line| lines.text(line));
            let step = step_above(first, above);
            let there = there.iter().map(Vec::as_slice).collect();
            Block::new(olds, there, new, steps, step).indent(&rule).ok()?.0
        }
        None => match first_lost(&olds, &there, &new) {
            Some(new) => new,
            None => Flattened { old: &olds, there: &there, new: &new }.indent(&steps)?,
        },
    };
    let (mut olds, mut news) = (olds_in_file(hunk, &there).into_iter(), new.into_iter());
    let texts = hunk.lines.iter().map(|line| match line.sign {
        Sign::Gone => olds.next(),
        Sign::Come => news.next(),
        Sign::Keep => news.next().and(olds.next()),
    });
    texts.collect()
}

/// The old lines of a hunk with the indentation of the file.
fn olds_in_file(hunk: &Hunk<'_>, there: &[Vec<u8>]) -> Vec<String> {
    let as_there = |(old, there): (&str, &Vec<u8>)| {
        let text = &old[fold::indentation(old.as_bytes())..];
        if is_blank(old) { old.to_owned() } else { String::from_utf8_lossy(depth(there)).into_owned() + text }
    };
    hunk.old().zip(there).map(as_there).collect()
}

/// Returns a step for each line of a hunk.
fn steps(hunk: &Hunk<'_>) -> Vec<Step> {
    let mut steps = Vec::with_capacity(hunk.lines.len());
    let (mut old, mut new) = (0, 0);
    let (mut gone, mut come): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let end_run =
        |steps: &mut Vec<Step>, gone: &mut Vec<&str>, come: &mut Vec<&str>, old: usize, new: usize| {
            steps.extend(align(gone, come).into_iter().map(|step| match step {
                Step::Gone(at) => Step::Gone(old + at),
                Step::Come(at) => Step::Come(new + at),
                Step::Both { old: at, new: to } | Step::Context { old: at, new: to } => {
                    Step::Both { old: old + at, new: new + to }
                }
            }));
            gone.clear();
            come.clear();
        };
    for line in &hunk.lines {
        match line.sign {
            Sign::Gone => gone.push(line.text),
            Sign::Come => come.push(line.text),
            Sign::Keep => {
                let run = (gone.len(), come.len());
                end_run(&mut steps, &mut gone, &mut come, old, new);
                (old, new) = (old + run.0, new + run.1);
                steps.push(Step::Context { old, new });
                (old, new) = (old + 1, new + 1);
            }
        }
    }
    end_run(&mut steps, &mut gone, &mut come, old, new);
    steps
}

/// Returns the new lines of a hunk in which only the first old line has lost its indentation: the other lines are indented as
/// in the file, so the first new line gets the indentation if it lost it too, and all others have it. `None` if another line
/// has lost it.
fn first_lost(old: &[&str], there: &[Vec<u8>], new: &[&str]) -> Option<Vec<String>> {
    let mut texts = (0..old.len()).filter(|at| !is_blank(old[*at]));
    let first = texts.next()?;
    let others: Vec<usize> = texts.collect();
    let (asked, whole) = (depth(old[first].as_bytes()), depth(&there[first]));
    let is_lost = asked.len() < whole.len() && whole.ends_with(asked) && !others.is_empty();
    if !is_lost || others.iter().any(|at| depth(old[*at].as_bytes()) != depth(&there[*at])) {
        return None;
    }
    let depths = others.iter().map(|at| depth(&there[*at])).chain([whole]);
    let least = depths.min_by_key(|depth| depth.len())?;
    let first_new = new.iter().position(|line| !is_blank(line));
    let line = |(at, line): (usize, &&str)| {
        let own = depth(line.as_bytes());
        if first_new == Some(at) && own == asked {
            return Some(String::from_utf8_lossy(whole).into_owned() + &line[own.len()..]);
        }
        (is_blank(line) || own.starts_with(least)).then(|| (*line).to_owned())
    };
    new.iter().enumerate().map(line).collect()
}

/// Old lines that have all lost their indentation, though those of the file are at several depths.
struct Flattened<'a> {
    old: &'a [&'a str],
    there: &'a [Vec<u8>],
    new: &'a [&'a str],
}

impl Flattened<'_> {
    /// Returns the new lines with the indentation of the lines that they replace or are between, if that is unambiguous.
    fn indent(&self, steps: &[Step]) -> Option<Vec<String>> {
        let mut olds = self.old.iter().filter(|old| !is_blank(old)).map(|old| depth(old.as_bytes()));
        let asked = olds.next()?;
        if !olds.all(|old| old == asked) {
            return None;
        }
        let mut texts: Vec<String> = self.new.iter().map(|new| (*new).to_owned()).collect();
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        let mut before = None;
        for step in steps.iter().map(Some).chain([None]) {
            let after = match step {
                Some(Step::Gone(old)) => {
                    gone.extend(Some(*old).filter(|old| !is_blank(self.old[*old])));
                    continue;
                }
                Some(Step::Come(new)) => {
                    come.extend(Some(*new).filter(|new| !is_blank(self.new[*new])));
                    continue;
                }
                Some(Step::Both { old, new }) if !is_blank(self.old[*old]) => {
                    let own = depth(self.new[*new].as_bytes());
                    if own != asked && own != depth(&self.there[*old]) {
                        return None;
                    }
                    texts[*new] = self.with_depth(*new, depth(&self.there[*old]));
                    Some(*old)
                }
                Some(Step::Context { old, .. }) if !is_blank(self.old[*old]) => Some(*old),
                Some(_) => continue,
                None => None,
            };
            for (new, depth) in come.iter().zip(self.depths(asked, &gone, &come, before, after)?) {
                texts[*new] = self.with_depth(*new, &depth);
            }
            gone.clear();
            come.clear();
            before = after;
        }
        Some(texts)
    }

    /// The indentation of each of the new lines `come`, which are in place of `gone` or between two that stay.
    fn depths(
        &self,
        asked: &[u8],
        gone: &[usize],
        come: &[usize],
        before: Option<usize>,
        after: Option<usize>,
    ) -> Option<Vec<Vec<u8>>> {
        let there = |old: usize| depth(&self.there[old]).to_vec();
        let own = |new: usize| depth(self.new[new].as_bytes()).to_vec();
        let Some(&first) = come.first() else { return Some(Vec::new()) };
        if come.iter().any(|new| own(*new) != asked) {
            // Lines that kept their indentation have that of the line that they replace or follow.
            let mut neighbours = gone
                .first()
                .copied()
                .map_or_else(|| [before, after].into_iter().flatten().collect::<Vec<_>>(), |gone| vec![gone])
                .into_iter();
            let least = own(first);
            let is_clear = neighbours.any(|old| there(old) == least && there(old) != asked)
                && come.iter().all(|new| own(*new).starts_with(&least));
            return is_clear.then(|| come.iter().map(|new| own(*new)).collect());
        }
        let is_alike = gone.iter().all(|old| there(*old) == there(gone[0]));
        let opens = |line: &str| opens_block(line);
        let has_form_of_gone = gone.len() == come.len()
            && gone.iter().zip(come).all(|(old, new)| opens(self.old[*old]) == opens(self.new[*new]));
        if !gone.is_empty() && has_form_of_gone {
            return Some(gone.iter().map(|old| there(*old)).collect());
        }
        // The depth of the lines below one that opens a block is unknown.
        if come.iter().any(|new| opens(self.new[*new])) {
            return None;
        }
        let depth = match (gone.first(), before, after) {
            (Some(gone), ..) => is_alike.then(|| there(*gone))?,
            (None, Some(before), Some(after)) => {
                let (above, below) = (there(before), there(after));
                let is_first = opens(self.old[before]) && below.len() > above.len();
                (is_first || !opens(self.old[before]) && above == below).then_some(below)?
            }
            (None, None, Some(after)) => there(after),
            (None, _, None) => return None,
        };
        Some(vec![depth; come.len()])
    }

    fn with_depth(&self, new: usize, depth: &[u8]) -> String {
        let text = self.new[new];
        String::from_utf8_lossy(depth).into_owned() + &text[fold::indentation(text.as_bytes())..]
    }
}

fn depth(line: &[u8]) -> &[u8] {
    &line[..fold::indentation(line)]
}
