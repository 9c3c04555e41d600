//! Edits at the limits, and slightly beyond them.

use super::edited;
use crate::fs::edit::locate::MAX_PLACES;
use crate::fs::edit::plan::{MAX_BYTES, plan};
use crate::fs::edit::replacement::Replacement;

fn is_too_large(file: &str, replacements: &[Replacement<'_>]) -> bool {
    match plan(file.as_bytes(), replacements) {
        Ok(_) => false,
        Err(error) => {
            assert_eq!(format!("{error:?}"), "PlanError { index: 0, problem: TooLarge }");
            true
        }
    }
}

#[test]
fn so_many_bytes_may_come() {
    // New text is counted twice, since all of it could be line feeds that become longer endings.
    let (places, new) = (1_024, "x".repeat(131_000));
    let replacement = Replacement { old: "a", new: &new, all: true };
    let rest = MAX_BYTES - places * (1 + 2 * new.len());
    for (more, expected) in [(0, false), (1, true)] {
        let file = "a".repeat(places) + &"b".repeat(rest + more);
        assert_eq!(is_too_large(&file, &[replacement]), expected, "{more}");
    }
}

#[test]
fn so_many_lines_may_be_indented() {
    // Each could be indented by 128 bytes.
    let file = "  a\n  b\n  c\n  d\n";
    let lines = (MAX_BYTES - file.len()) / (2 + 128);
    for (more, expected) in [(0, false), (1, true)] {
        let new = "\n".repeat(lines + more);
        let replacement = Replacement { old: "a\nb\n", new: &new, all: false };
        assert_eq!(is_too_large(file, &[replacement]), expected, "{more}");
    }
}

#[test]
fn so_many_places_may_change() {
    let one = Replacement { old: "b", new: "", all: false };
    let all = Replacement { old: "a", new: "", all: true };
    for (count, replacements, expected) in [
        (MAX_PLACES - 1, &[one, all][..], None),
        (MAX_PLACES, &[one, all], Some(1)),
        (MAX_PLACES + 1, &[all], Some(0)),
    ] {
        let file = format!("b{}", "a".repeat(count));
        let made = plan(file.as_bytes(), replacements);
        let expected = expected.map(|index| format!("PlanError {{ index: {index}, problem: TooLarge }}"));
        assert_eq!(made.err().map(|error| format!("{error:?}")), expected, "{count}");
    }
}

#[test]
fn so_many_lines_are_compared_one_by_one() {
    // The white space at the ends of lines stays, whether the line changes or not.
    let file = |change: &dyn Fn(usize) -> String| (0..2_000).map(change).collect::<String>();
    let there = file(&|number| format!("  {number} \n"));
    let asked = file(&|number| format!("{number}\n"));
    let is_changed = |number: usize| number == 1 || number == 1_998;
    for (come, expected) in [
        (
            "x\n",
            file(&|number| if is_changed(number) { "  x \n".to_owned() } else { format!("  {number} \n") }),
        ),
        // With more lines, only those before the first and after the last difference are kept.
        (
            "x\ny\n",
            file(&|number| match number {
                1 => "  x\n".to_owned(),
                1_998 => "  x\n  y \n".to_owned(),
                0 | 1_999 => format!("  {number} \n"),
                _ => format!("  {number}\n"),
            }),
        ),
    ] {
        let new = file(&|number| match number {
            1 => "x\n".to_owned(),
            1_998 => come.to_owned(),
            _ => format!("{number}\n"),
        });
        let made = edited(there.as_bytes(), &[(&asked, &new, false)]);
        let made = made.map(|(bytes, found)| (String::from_utf8(bytes).unwrap(), found));
        assert!(made == Ok((expected, "Indentation 1 1".to_owned())), "{come:?}: {made:?}");
    }
}
