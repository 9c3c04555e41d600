//! Compares two texts by lines.

use std::fmt::Write as _;

/// The number of equal lines shown around differing ones.
const CONTEXT: usize = 3;
/// The maximum number of lines for a comparison, whose time and memory grow with the product of both numbers of lines.
const MAX_LINES: usize = 4_000;

/// Returns the differing lines, marked `-` for `old` and `+` for `new`, with some equal lines around them.
pub(super) fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let lines = matched(&old, &new);
    let is_near = |place: usize| {
        let around = place.saturating_sub(CONTEXT)..(place + CONTEXT + 1).min(lines.len());
        lines[around].iter().any(|(sign, _)| *sign != ' ')
    };
    let mut text = String::new();
    let mut is_left_out = false;
    for (place, (sign, line)) in lines.iter().enumerate() {
        if is_near(place) {
            let _ = writeln!(text, "{sign} {line}");
        } else if !is_left_out {
            text.push_str("  …\n");
        }
        is_left_out = !is_near(place);
    }
    text
}

fn matched<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let end =
        old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    let mut lines: Vec<(char, &str)> = old[..start].iter().map(|line| (' ', *line)).collect();
    lines.extend(changed(&old[start..old.len() - end], &new[start..new.len() - end]));
    lines.extend(old[old.len() - end..].iter().map(|line| (' ', *line)));
    lines
}

/// Compares by the longest common subsequence.
fn changed<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        let old = old.iter().map(|line| ('-', *line));
        return old.chain(new.iter().map(|line| ('+', *line))).collect();
    }
    // `longest[i][j]`: the number of lines of `old[i..]` and `new[j..]` that match.
    let mut longest = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] = if old[i] == new[j] {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && longest[i + 1][j] >= longest[i][j + 1] {
            lines.push(('-', old[i]));
            i += 1;
        } else {
            lines.push(('+', new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn only_what_differs_is_shown() {
        for (old, new, expected) in [
            ("a\nb\nc", "a\nb\nc", "  …\n"),
            ("a\nb\nc", "a\nx\nc", "  a\n- b\n+ x\n  c\n"),
            ("", "a", "+ a\n"),
            ("a", "", "- a\n"),
            (
                "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11",
                "1\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\n12",
                "  …\n  3\n  4\n  5\n- 6\n+ six\n  7\n  8\n  9\n  10\n  11\n+ 12\n",
            ),
            ("a\nb\nc\nd", "b\nx\nd\ne", "- a\n  b\n- c\n+ x\n  d\n+ e\n"),
        ] {
            assert_eq!(diff(old, new), expected, "{old:?} {new:?}");
        }
    }
}
