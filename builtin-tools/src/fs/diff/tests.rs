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
        // With six lines between them, two changes are one hunk.
        (
            Some("a\n1\n2\n3\n4\n5\n6\nb\n"),
            Some("x\n1\n2\n3\n4\n5\n6\ny\n"),
            "--- a/f\n+++ b/f\n@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n",
        ),
        (
            Some("a\n1\n2\n3\n4\n5\n6\n7\nb\n"),
            Some("x\n1\n2\n3\n4\n5\n6\n7\ny\n"),
            "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n",
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
    let new = "x\n".repeat(100_000);
    for (made, bytes) in [
        (diff_within("f", None, Some(new.as_bytes()), 100), 99..=100),
        (diff("f", None, Some(new.as_bytes())), 204_798..=204_800),
    ] {
        let rest = "[… the rest of the diff is left out; in all 100000 lines are new and 0 gone]\n";
        let shown = made.text.strip_suffix(rest).unwrap();
        assert!(made.is_cut && bytes.contains(&shown.len()), "{} bytes", shown.len());
    }
}

#[test]
fn a_line_for_which_there_is_no_room_is_left_out() {
    let before = "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n".len();
    for (line, room) in [
        (&b"ab\n"[..], "+ab\n".len()),
        // Invalid UTF-8 takes more room than it has bytes.
        (b"\xff\xff\n", "+\u{fffd}\u{fffd}\n".len()),
    ] {
        for (most_bytes, is_cut) in [(before + room, false), (before + room - 1, true)] {
            let made = diff_within("f", None, Some(line), most_bytes);
            assert_eq!(made.is_cut, is_cut, "{line:?} in {most_bytes}: {}", made.text);
            assert!(is_cut || made.text.len() <= most_bytes, "{}", made.text);
        }
    }
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

/// Applies the changes to `old`; each must come after the one before, with unchanged lines between them.
fn made_of(changes: &[Change], old: &[u8], new: &[u8]) -> Vec<u8> {
    let (mut at, mut made) = (Part { lines: 0..0, bytes: 0..0 }, Vec::new());
    for change in changes {
        assert!(change.old.bytes.start > at.bytes.end || at.bytes.end == 0, "{changes:?}");
        made.extend_from_slice(&old[at.bytes.end..change.old.bytes.start]);
        assert_eq!(change.new.bytes.start, made.len());
        assert_eq!(change.new.lines.start, count_lines(&made));
        assert_eq!(change.old.lines.start, count_lines(&old[..change.old.bytes.start]));
        made.extend_from_slice(&new[change.new.bytes.clone()]);
        assert_eq!(change.old.lines.len(), count_lines(&old[change.old.bytes.clone()]));
        assert_eq!(change.new.lines.len(), count_lines(&new[change.new.bytes.clone()]));
        at = change.old.clone();
    }
    made.extend_from_slice(&old[at.bytes.end..]);
    made
}

proptest! {
    #[test]
    fn in_long_texts_it_gives_the_new_too(
        line in "[ab]{0,2}",
        count in MANY_LINES - 50..MANY_LINES + 1_000,
        ending in "[ab]{0,2}",
        changes in prop::collection::vec((0..MANY_LINES, 0_usize..40, "([ab]?\\n){0,40}"), 0..6),
    ) {
        // Identical lines are the hardest to distinguish; some lines differ.
        let old: String = (0..count).map(|at| if at % 97 == 0 { format!("{at}\n") } else { format!("{line}\n") }).collect();
        let old = old + &ending;
        let mut new: Vec<&str> = old.split_inclusive('\n').collect();
        for (at, gone, come) in &changes {
            let at = at % (new.len() + 1);
            let end = new.len().min(at + gone);
            new.splice(at..end, come.split_inclusive('\n'));
        }
        let new = new.concat();
        let (old_bytes, new_bytes) = (old.as_bytes(), new.as_bytes());
        let changes = Both { old: old_bytes, new: new_bytes, whole: old_bytes, from: 0, line: 0 }.changes();
        prop_assert_eq!(made_of(&changes, old.as_bytes(), new.as_bytes()), new.as_bytes());
        let made = diff_within("f", Some(old.as_bytes()), Some(new.as_bytes()), usize::MAX);
        prop_assert_eq!(apply(old.as_bytes(), &made.text), new.as_bytes());
    }

    #[test]
    fn changes_that_are_apart_are_as_short_in_long_texts(
        changes in prop::collection::btree_map(0_usize..60, (0_usize..30, 0_usize..30), 0..8),
    ) {
        let old: Vec<String> = (0..MANY_LINES + 1_000).map(|number| format!("line {number}\n")).collect();
        let mut new = old.clone();
        let (mut removed, mut added) = (0, 0);
        for (at, (gone, come)) in changes.iter().rev() {
            let lines: Vec<String> = (0..*come).map(|line| format!("new {at} {line}\n")).collect();
            new.splice(at * 100..at * 100 + gone, lines);
            (removed, added) = (removed + gone, added + come);
        }
        let made = diff("f", Some(old.concat().as_bytes()), Some(new.concat().as_bytes()));
        prop_assert_eq!((made.removed, made.added), (removed, added));
    }
}

#[test]
fn lines_that_are_the_same_are_found_among_others() {
    let (old, new) = (split(b"a\nkept\r\nb\n"), split(b"c\nd\nkept\ne"));
    let same = same_lines(&old, &new, <[u8]>::trim_ascii_end);
    assert_eq!(same, [(1..2, 2..3)]);
}

/// Returns the numbers of added and removed lines.
fn counts(old: &str, new: &str) -> (usize, usize) {
    let made = diff("f", Some(old.as_bytes()), Some(new.as_bytes()));
    (made.added, made.removed)
}

#[test]
fn of_few_lines_the_shortest_changes_are_found() {
    // An early match of equal lines would have to match the inserted lines.
    let (moved, after) = (numbered(1..=ANCHOR, "moved "), numbered(1..=20, "after "));
    let kept = |word: &str| numbered(1..=15, "kept ") + word + &numbered(16..=30, "kept ");
    let old = format!("{}{moved}{after}", kept("old\n"));
    let new = format!("{moved}{}{after}", kept("new\n"));
    assert_eq!(counts(&old, &new), (ANCHOR + 1, ANCHOR + 1));
}

#[test]
fn of_very_many_lines_those_between_changes_far_from_each_other_are_known_to_stay() {
    let between = "\n".repeat(MAX_LINES);
    let old = format!("{between}b\n");
    for (come, last, expected) in [
        (FARTHEST - 1, "c\n", (FARTHEST, 1)),
        // The end of a longer change is not searched for, unless it is the only one.
        (FARTHEST, "c\n", (MAX_LINES + FARTHEST + 1, MAX_LINES + 1)),
        (FARTHEST, "b\n", (FARTHEST, 0)),
    ] {
        let new = format!("{}{between}{last}", numbered(1..=come, "new "));
        assert_eq!(counts(&old, &new), expected, "{come} {last}");
    }
}

#[test]
fn after_so_many_changes_the_rest_is_one() {
    let text =
        |line: &str, after: usize| format!("{line}{}", "\n".repeat(ANCHOR)).repeat(3) + &"\n".repeat(after);
    let none = Part { lines: 0..0, bytes: 0..0 };
    let none = Change { old: none.clone(), new: none };
    for (after, found, expected) in [
        (0, MAX_CHANGES - 1, 3),
        (0, MAX_CHANGES, 1),
        (MANY_LINES, MAX_CHANGES - 1, 2),
        (MANY_LINES, MAX_CHANGES, 1),
    ] {
        let (old, new) = (text("a\n", after), text("b\n", after));
        let mut walk = Walk {
            old: old.as_bytes(),
            new: new.as_bytes(),
            changes: vec![none.clone(); found],
            last: none.clone(),
            left: [count_lines(old.as_bytes()); 2],
            until: Instant::now() + TIME * 100,
        };
        while walk.step() {}
        assert_eq!(walk.changes.len() - found, expected, "{found} before, {after} lines after");
    }
}

#[test]
fn two_changes_with_any_number_of_lines_between_are_two() {
    let between = "\n".repeat(2 * MAX_LINES);
    let (old, new) = (format!("a\n{between}b\n"), format!("c\n{between}d\n"));
    let made = diff("f", Some(old.as_bytes()), Some(new.as_bytes()));
    assert_eq!((made.added, made.removed, made.is_cut), (2, 2, false));
    assert!(
        made.text.starts_with("--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-a\n+c\n \n \n \n@@ "),
        "{}",
        made.text
    );
}

/// Lines of which many are alike, and splices in them, in order.
fn spliced() -> impl Strategy<Value = (String, Vec<Splice>)> {
    let line = prop_oneof![Just("a\n"), Just("b\n"), Just("\n"), Just("a\r\n"), Just("long\n")];
    let texts = (prop::collection::vec(line.clone(), 0..40), prop::sample::select(vec!["", "a", "end"]))
        .prop_map(|(lines, end)| lines.concat() + end);
    let change = (any::<prop::sample::Index>(), 0..6usize, prop::collection::vec(line, 0..3), any::<bool>());
    (texts, prop::collection::vec(change, 1..4)).prop_map(|(text, changes)| {
        let mut at = 0;
        let mut splices = Vec::new();
        let mut changes: Vec<_> = changes
            .into_iter()
            .map(|(index, gone, come, is_open)| (index.index(text.len() + 1), gone, come, is_open))
            .collect();
        changes.sort_by_key(|change| change.0);
        for (from, gone, come, is_open) in changes {
            if from < at {
                continue;
            }
            let to = (from + gone).min(text.len());
            let mut come = come.concat();
            if is_open {
                come.pop();
            }
            splices.push(Splice { range: from..to, text: come.into_bytes() });
            at = to + 1;
        }
        (text, splices)
    })
}

proptest! {
    /// Checks the diff of splices against the full diff, which may choose another one of several equal lines as
    /// changed.
    #[test]
    fn the_diff_of_splices_says_as_much_as_that_of_the_whole((old, splices) in spliced()) {
        let new = splice(old.as_bytes(), &splices);
        let made = diff_spliced("f", old.as_bytes(), &splices);
        let whole = diff("f", Some(old.as_bytes()), Some(&new));
        prop_assert_eq!(made.added + whole.removed, whole.added + made.removed);
        prop_assert_eq!(made.text.is_empty(), old.as_bytes() == new);
        // The diff converts the old text to the new one, and has the same context around each change.
        prop_assert_eq!(apply(old.as_bytes(), &made.text), new, "{}", made.text);
        let lines = count_lines(old.as_bytes());
        for hunk in made.text.split("\n@@ -").skip(1) {
            let (head, body) = hunk.split_once('\n').unwrap();
            let signs = || body.lines().map(|line| line.chars().next().unwrap_or(' ')).filter(|sign| *sign != '\\');
            let before = signs().take_while(|sign| *sign == ' ').count();
            let after = signs().collect::<Vec<_>>().into_iter().rev().take_while(|sign| *sign == ' ').count();
            let (start, count) = head.split(' ').next().unwrap().split_once(',').unwrap_or((head.split(' ').next().unwrap(), "1"));
            let (start, count): (usize, usize) = (start.parse().unwrap(), count.parse().unwrap());
            let start = if count == 0 { start + 1 } else { start };
            prop_assert!(before == CONTEXT || start == 1, "{}", made.text);
            prop_assert!(after == CONTEXT || start - 1 + count == lines, "{}", made.text);
        }
    }
}

#[test]
fn splices_far_apart_are_told_as_those_of_the_whole() {
    let line = |number: usize| format!("line {number} of many, with some words to make it longer\n");
    let old: String = (0..4_000).map(line).collect();
    let at = |number: usize| old.find(&line(number)).unwrap();
    let change = |number: usize, length: usize, text: &str| Splice {
        range: at(number)..at(number) + length,
        text: text.as_bytes().to_vec(),
    };
    for splices in [
        vec![
            change(0, 0, "new\nlines\n"),
            change(2_000, 5, "LINE"),
            change(2_001, 4, "x"),
            change(3_999, 4, "y"),
        ],
        vec![change(10, line(10).len(), ""), change(3_000, 0, "one more\n"), change(3_008, 1, "")],
        vec![change(5, 1, "a"), change(5 + 400, 1, "b"), change(5 + 800, 1, "c\nd\n")],
    ] {
        let new = splice(old.as_bytes(), &splices);
        let whole = diff("f", Some(old.as_bytes()), Some(&new));
        assert_eq!(diff_spliced("f", old.as_bytes(), &splices), whole);
    }
    // Between two hunks there are more lines than both show around a change, however long they are.
    for between in 0..=2 * CONTEXT + 3 {
        let lines = numbered(1..=between, &"x".repeat(FAR_BYTES));
        let old = format!("first\n{lines}last\n");
        let end = old.len();
        for (from, to) in [(0..1, end - 5..end - 4), (5..5, end..end), (0..6, end - 5..end)] {
            let text = if from.is_empty() { "\nmore" } else { "" };
            let splices = [from, to].map(|range| Splice { range, text: text.as_bytes().to_vec() });
            let whole = diff("f", Some(old.as_bytes()), Some(&splice(old.as_bytes(), &splices)));
            assert_eq!(diff_spliced("f", old.as_bytes(), &splices), whole, "{between} lines between");
        }
    }
    // A line that is long on its own is no place between hunks.
    let old = format!("a\n{}\nb\n", "x".repeat(3 * FAR_BYTES));
    let splices = [
        Splice { range: 0..1, text: b"A".to_vec() },
        Splice { range: old.len() - 2..old.len() - 1, text: b"B".to_vec() },
    ];
    let made = diff_spliced("f", old.as_bytes(), &splices);
    assert_eq!(made, diff("f", Some(old.as_bytes()), Some(&splice(old.as_bytes(), &splices))));
}
