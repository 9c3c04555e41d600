//! The rule that converts the requested indentation to the file's, and its application to new lines.

use crate::fs::fold::indentation;

/// Maximum number of spaces per tab.
const MAX_SPACES_A_TAB: usize = 8;

/// The requested indentation of a line, and the file's.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// A rule that converts the requested indentation of each line to that of the line in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reindent {
    /// Lines begin with `to` instead of the requested `from`. The rest of the indentation is the same.
    Begin {
        from: Vec<u8>,
        to: Vec<u8>,
        /// True if spaces come after tabs, or tabs after spaces, in the lines there are.
        is_mixed: bool,
    },
    /// Spaces were requested, and the file has tabs: the number of spaces per tab, and the number of extra ones in each line.
    ToTabs { spaces: usize, more: isize },
    /// Tabs were requested, and the file has spaces: the number of spaces per tab, and the number of extra ones in each line.
    ToSpaces { spaces: usize, more: isize },
}

impl Reindent {
    /// Returns the one rule that all lines follow; blank lines don't count. `file` has as many lines as `old`, and they
    /// differ only in white space at both ends.
    pub(crate) fn between(old: &str, file: &[u8]) -> Option<Self> {
        let lines = old.split('\n').zip(file.split(|&byte| byte == b'\n'));
        let has_text = |line: &&str| !line.trim().is_empty();
        let pairs: Vec<Pair<'_>> = lines
            .filter(|(old, _)| has_text(old))
            .map(|(old, file)| (indent_of(old.as_bytes()), indent_of(file)))
            .collect();
        let is_of = |pick: fn(&Pair<'_>) -> Vec<u8>, byte: u8| {
            let mut all = pairs.iter().flat_map(pick).peekable();
            all.peek().is_some() && all.all(|one| one == byte)
        };
        let (asked, there) = (|pair: &Pair<'_>| pair.0.to_vec(), |pair: &Pair<'_>| pair.1.to_vec());
        let length = |pair: &Pair<'_>| (pair.0.len(), pair.1.len());
        if is_of(asked, b' ') && is_of(there, b'\t') {
            let (spaces, more) = unit(&pairs.iter().map(length).collect::<Vec<_>>())?;
            return Some(Self::ToTabs { spaces, more });
        }
        if is_of(asked, b'\t') && is_of(there, b' ') {
            let (spaces, more) =
                unit(&pairs.iter().map(length).map(|(tabs, spaces)| (spaces, tabs)).collect::<Vec<_>>())?;
            return Some(Self::ToSpaces { spaces, more });
        }
        begin(&pairs)
    }

    /// Appends a new line with converted indentation. Returns `false` if the rule does not determine it.
    #[must_use]
    pub(crate) fn indent(&self, line: &str, into: &mut Vec<u8>) -> bool {
        let (indent, text) = line.as_bytes().split_at(indentation(line.as_bytes()));
        if text.iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
            into.extend_from_slice(line.as_bytes());
            return true;
        }
        let Some(mut indent) = self.turn(indent) else { return false };
        into.append(&mut indent);
        into.extend_from_slice(text);
        true
    }

    /// The one character that the old lines are indented with and the file is not, if there is one.
    pub(super) fn foreign(&self) -> Option<u8> {
        match self {
            Self::Begin { .. } => None,
            Self::ToTabs { .. } => Some(b' '),
            Self::ToSpaces { .. } => Some(b'\t'),
        }
    }

    /// Returns true if the rule holds for other depths too, though all old lines are at one: `pair`. The depths of the new
    /// lines differ from it by multiples of `step`, and the file is indented by `above` more than above, where that is known.
    ///
    /// With a single depth, the width of a level is unknown: two tabs for four spaces may mean a tab for two spaces, or a tab
    /// for four and one omitted level.
    pub(super) fn is_clear_of_one_depth(&self, pair: Pair<'_>, step: usize, above: Option<usize>) -> bool {
        let (asked, there) = (pair.0.len(), pair.1.len());
        match self {
            Self::ToTabs { spaces, .. } => step == *spaces,
            Self::ToSpaces { spaces, .. } => above.is_none_or(|above| above == *spaces),
            Self::Begin { .. } => {
                // The old lines may have levels of another width.
                let is_multiple = asked > 0 && there > 0 && (asked % there == 0 || there % asked == 0);
                let is_scaled = |above: usize| step != above && step * there == above * asked;
                !is_multiple || !above.is_some_and(is_scaled)
            }
        }
    }

    /// The indentation of a new line.
    pub(super) fn turn(&self, indent: &[u8]) -> Option<Vec<u8>> {
        let only = |byte: u8| indent.iter().all(|&one| one == byte);
        match self {
            Self::Begin { from, to, is_mixed } => match indent.strip_prefix(&from[..]) {
                Some(rest) => {
                    let mixes = |one: u8, other: u8| to.contains(&one) && rest.contains(&other);
                    let is_clear = *is_mixed || !(mixes(b'\t', b' ') || mixes(b' ', b'\t'));
                    is_clear.then(|| [to, rest].concat())
                }
                None => {
                    // A line that is indented less than all requested ones.
                    let byte = *from.first()?;
                    let is_alike = only(byte) && from.iter().chain(to).all(|&one| one == byte);
                    let length = (to.len() + indent.len()).checked_sub(from.len())?;
                    is_alike.then(|| vec![byte; length])
                }
            },
            Self::ToTabs { spaces, more } => {
                let columns = indent.len().checked_add_signed(-more).filter(|_| only(b' '))?;
                let (tabs, rest) = (columns / spaces, columns % spaces);
                // An indentation of less than one tab is at no depth of the file.
                (tabs > 0 || rest == 0).then(|| [vec![b'\t'; tabs], vec![b' '; rest]].concat())
            }
            Self::ToSpaces { spaces, more } => {
                let columns = (indent.len() * spaces).checked_add_signed(*more).filter(|_| only(b'\t'))?;
                Some(vec![b' '; columns])
            }
        }
    }
}

fn begin(pairs: &[Pair<'_>]) -> Option<Reindent> {
    let &(first_asked, first_there) = pairs.first()?;
    let shared =
        |one: &[u8], other: &[u8]| one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let length = pairs.iter().map(|(asked, _)| shared(asked, first_asked)).min()?;
    let (from, rest) = first_asked.split_at(length);
    let to = first_there.strip_suffix(rest)?;
    let follows = |(asked, there): &Pair<'_>| there.strip_prefix(to) == Some(&asked[length..]);
    let is_mixed = pairs.iter().any(|(_, there)| there.contains(&b' ') && there.contains(&b'\t'));
    pairs.iter().all(follows).then(|| Reindent::Begin { from: from.to_vec(), to: to.to_vec(), is_mixed })
}

/// Returns the number of spaces per tab, and the number of extra spaces in each line, if they are the same for all pairs of a
/// number of spaces and a number of tabs. With all lines at one depth, there are no extra spaces.
fn unit(pairs: &[(usize, usize)]) -> Option<(usize, isize)> {
    let &(spaces, tabs) = pairs.first()?;
    let other = pairs.iter().find(|pair| pair.1 != tabs);
    let unit = match other {
        Some(&(other_spaces, other_tabs)) => spaces.abs_diff(other_spaces) / tabs.abs_diff(other_tabs),
        None => (spaces.checked_rem(tabs)? == 0).then(|| spaces / tabs)?,
    };
    let more = |spaces: usize, tabs: usize| spaces.checked_signed_diff(tabs.checked_mul(unit)?);
    let shift = more(spaces, tabs)?;
    let follow = pairs.iter().all(|&(spaces, tabs)| more(spaces, tabs) == Some(shift));
    (follow && (2..=MAX_SPACES_A_TAB).contains(&unit)).then_some((unit, shift))
}

fn indent_of(line: &[u8]) -> &[u8] {
    &line[..indentation(line)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `new` indented by the rule between the two others, or the error.
    fn turned(old: &str, file: &str, new: &str) -> String {
        let Some(rule) = Reindent::between(old, file.as_bytes()) else { return "no rule".to_owned() };
        let mut text = Vec::new();
        for line in new.split_inclusive('\n') {
            if !rule.indent(line, &mut text) {
                return format!("not {line:?}");
            }
        }
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn new_lines_are_indented_alike() {
        for (old, file, new, expected) in [
            ("a\n  b\n", "    a\n      b\n", "x\n\n    y\n", "    x\n\n        y\n"),
            ("    a\n      b", "a\n  b", "    x\n  y", "not \"  y\""),
            ("    a\n      b", "  a\n    b", "    x\n  y\n      z", "  x\ny\n    z"),
            ("  a\n  b", "\ta\n\tb", "  x\n    y", "\tx\n\t\ty"),
            ("a\n    b\n        c", "\ta\n\t\tb\n\t\t\tc", "a\n    x\n          y", "\ta\n\t\tx\n\t\t\t  y"),
            ("    a\n        b", "a\n\tb", "    x\n            y", "x\n\t\ty"),
            ("\ta\n\t\tb", "  a\n    b", "\tx\n\t\t\ty", "  x\n      y"),
            ("\ta\n\t\tb", "    a\n        b", "  x", "not \"  x\""),
            ("\ta", "   a", "\tx\n\t\ty", "   x\n      y"),
            ("\ta\n  b", "\t\ta\n\t  b", "\tx", "\t\tx"),
            // Several rules, or none.
            ("a\n  b", "  a\n   b", "", "no rule"),
            ("  a\n    b", "\ta\n\t\t\tb", "", "no rule"),
            ("  a\n    b\n", "\t\ta\n\tb\n", "", "no rule"),
            ("         a", "\ta", "", "no rule"),
            // The width of a tab is unknown.
            ("a", "\ta", "a\n    b", "not \"    b\""),
            ("a\n b", "\ta\n\t b", "a\n   b", "\ta\n\t   b"),
        ] {
            assert_eq!(turned(old, file, new), expected, "{old:?} in {file:?}");
        }
    }

    #[test]
    fn where_the_rule_does_not_say_how_nothing_is_guessed() {
        for (old, file, new, expected) in [
            // Further to the left, by as much.
            ("    a\n      b", "  a\n    b", "   y", " y"),
            ("    a\n      b", "  a\n    b", "\t\t\tx", "not \"\\t\\t\\tx\""),
            ("  a\n  b", "\ta\n\tb", " x", "not \" x\""),
            // The existing lines show the width of a tab.
            ("    a\n            b", "\ta\n\t\t\tb", "        x", "\t\tx"),
            ("        a\n        b", "\t\ta\n\t\tb", "            y", "\t\t\ty"),
            ("     a\n     b", "\t\ta\n\t\tb", "       y", "no rule"),
        ] {
            assert_eq!(turned(old, file, new), expected, "{new:?} by {old:?} in {file:?}");
        }
    }
}
