use super::*;
use proptest::prelude::*;
use std::ops::RangeInclusive;

#[test]
fn texts() {
    for (old, new, expected) in [
        (Some("a\n"), Some("a\n"), ""),
        (None, Some("a\nb\n"), "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"),
        (Some("a\n"), None, "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
        (Some("a\n"), Some("b\n"), "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"),
        (Some("a"), Some("a\n"), "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        (
            Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
            Some("1\n2\n3\n4\nx\n6\n7\n8\n9\n"),
            "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n",
        ),
        (Some("a\r\nb\n"), Some("a\nb\n"), "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n"),
        (Some("b\n"), Some("a\nb\n"), "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n+a\n b\n"),
        (
            Some("a\nb"),
            Some("a\nb\nc"),
            "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n",
        ),
    ] {
        let made = diff("f", old.map(str::as_bytes), new.map(str::as_bytes));
        assert_eq!(made.text, expected, "{old:?} {new:?}");
    }
}

/// A line for each number.
fn numbered(numbers: RangeInclusive<usize>, before: &str) -> String {
    numbers.flat_map(|number| [before.to_owned(), number.to_string(), "\n".to_owned()]).collect()
}

#[test]
fn two_changes_far_apart_are_two_hunks() {
    let old = numbered(1..=100, "");
    let new = old.replace("\n10\n", "\nten\n").replace("\n90\n", "\nninety\n");
    let made = diff("f", Some(old.as_bytes()), Some(new.as_bytes()));
    assert_eq!((made.added, made.removed), (2, 2));
    let hunks: Vec<&str> = made.text.lines().filter(|line| line.starts_with("@@")).collect();
    assert_eq!(hunks, ["@@ -7,7 +7,7 @@", "@@ -87,7 +87,7 @@"]);
}

#[test]
fn a_long_diff_is_cut_and_says_so() {
    let new = "x\n".repeat(1_000);
    let made = diff_within("f", None, Some(new.as_bytes()), 100);
    assert!(made.is_cut && made.text.len() < 200, "{}", made.text);
    assert!(
        made.text.ends_with("[… the rest of the diff is left out; in all 1000 lines are new and 0 gone]\n"),
        "{}",
        made.text
    );
}

#[test]
fn what_has_nothing_in_common_takes_no_longer_than_allowed() {
    let lines = |what: &str| -> String {
        (0..300_000_u64).flat_map(|number| [what.to_owned(), number.to_string(), "\n".to_owned()]).collect()
    };
    let (old, new) = (lines("old "), lines("new "));
    let start = Instant::now();
    let made = diff("f", Some(old.as_bytes()), Some(new.as_bytes()));
    assert!(made.is_cut);
    // The limit of time is for the search, which would take hours; the rest is in proportion to the size.
    assert!(start.elapsed() < TIME * 100, "{:?}", start.elapsed());
}

/// Applies a diff that is not cut, strictly.
fn apply(old: &[u8], diff: &str) -> Vec<u8> {
    let old = split(old);
    let mut new: Vec<u8> = Vec::new();
    let mut at = 0;
    let lines: Vec<&str> = diff.split_inclusive('\n').collect();
    for (index, line) in lines.iter().enumerate() {
        if let Some(numbers) = line.strip_prefix("@@ -") {
            let number = numbers.split_once(' ').unwrap().0;
            let (start, count) = number.split_once(',').unwrap_or((number, "1"));
            let start: usize = start.parse().unwrap();
            let until = if count == "0" { start } else { start - 1 };
            old[at..until].iter().for_each(|line| new.extend_from_slice(line));
            at = until;
            continue;
        }
        let has_end = !lines.get(index + 1).is_some_and(|next| next.starts_with('\\'));
        let text = if has_end { &line[1..] } else { line[1..].strip_suffix('\n').unwrap() };
        match line.as_bytes()[0] {
            b' ' => {
                assert_eq!(old[at], text.as_bytes());
                new.extend_from_slice(text.as_bytes());
                at += 1;
            }
            b'-' if line.starts_with("--- ") && at == 0 => {}
            b'+' if line.starts_with("+++ ") && at == 0 && new.is_empty() => {}
            b'-' => {
                assert_eq!(old[at], text.as_bytes());
                at += 1;
            }
            b'+' => new.extend_from_slice(text.as_bytes()),
            _ => {}
        }
    }
    old[at..].iter().for_each(|line| new.extend_from_slice(line));
    new
}

proptest! {
    #[test]
    fn applied_to_the_old_it_gives_the_new(
        old in "([ab\\r]{0,2}\\n){0,30}[ab]{0,2}",
        new in "([ab\\r]{0,2}\\n){0,30}[ab]{0,2}",
    ) {
        let made = diff("f", Some(old.as_bytes()), Some(new.as_bytes()));
        prop_assert_eq!(made.text.is_empty(), old == new);
        prop_assert_eq!(apply(old.as_bytes(), &made.text), new.as_bytes());
    }

    #[test]
    fn also_where_one_line_changes_in_a_long_text(lines in 1_usize..3_000, at in 0_usize..3_000, with in "[ab\\n]{0,5}") {
        let old = numbered(0..=lines, "line ");
        let at = at % old.len();
        let new = format!("{}{with}{}", &old[..at], &old[at..]);
        let made = diff("f", Some(old.as_bytes()), Some(new.as_bytes()));
        prop_assert_eq!(apply(old.as_bytes(), &made.text), new.as_bytes());
    }
}

/// What operations make of `old`, each of which has to follow the one before.
fn made_of<'a>(ops: &[DiffOp], old: &[&'a str], new: &[&'a str]) -> Vec<&'a str> {
    let (mut at_old, mut at_new, mut made) = (0, 0, Vec::new());
    for op in ops {
        assert_eq!((op.old_range().start, op.new_range().start), (at_old, at_new));
        let taken =
            if matches!(op, DiffOp::Equal { .. }) { &old[op.old_range()] } else { &new[op.new_range()] };
        made.extend_from_slice(taken);
        (at_old, at_new) = (op.old_range().end, op.new_range().end);
    }
    assert_eq!((at_old, at_new), (old.len(), new.len()));
    let both_stay = |pair: &[DiffOp]| pair.iter().all(|op| matches!(op, DiffOp::Equal { .. }));
    assert!(!ops.windows(2).any(both_stay), "{ops:?}");
    made
}

proptest! {
    #[test]
    fn step_by_step_it_gives_the_new_too(
        old in "([ab]?\n){0,90}",
        changes in prop::collection::vec((0_usize..90, 0_usize..5, "([ab]?\n){0,5}"), 0..4),
    ) {
        let old: Vec<&str> = old.lines().collect();
        let mut new = old.clone();
        for (at, gone, come) in &changes {
            let at = at % (new.len() + 1);
            let end = new.len().min(at + gone);
            new.splice(at..end, come.lines());
        }
        let ops = step_by_step(&old, &new, Instant::now() + TIME);
        prop_assert_eq!(made_of(&ops, &old, &new), new);
    }

    #[test]
    fn changes_that_are_apart_are_as_short_step_by_step(
        changes in prop::collection::btree_map(0_usize..40, (0_usize..30, 0_usize..30), 0..8),
    ) {
        let old: Vec<String> = (0..4_000).map(|number| format!("line {number}")).collect();
        let mut new = old.clone();
        for (at, (gone, come)) in changes.iter().rev() {
            let lines: Vec<String> = (0..*come).map(|line| format!("new {at} {line}")).collect();
            new.splice(at * 100..at * 100 + gone, lines);
        }
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
        let until = || Instant::now() + TIME * 100;
        prop_assert_eq!(step_by_step(&old, &new, until()), short(&old, &new, until()));
    }
}
