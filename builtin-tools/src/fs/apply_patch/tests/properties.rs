//! Properties that hold for any file and any patch.

#![allow(clippy::format_collect, clippy::format_push_string, reason = "texts of a test are short")]

use super::{begin, patched};
use proptest::prelude::*;

/// Lines of few kinds with every mix of endings.
fn content() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[ab]{0,2}",
        "[ \t]{0,2}[ab“-][ \t]{0,2}",
        Just("\\ No newline".to_owned()),
        Just("-- a".to_owned()),
        Just("++ b".to_owned())
    ];
    let ending = prop_oneof![4 => Just("\n"), 3 => Just("\r\n"), 1 => Just("\r"), 1 => Just("\r\r\n")];
    (proptest::collection::vec((line, ending), 0..14), "[ab]{0,1}").prop_map(|(lines, last)| {
        let text: String = lines.into_iter().flat_map(|(line, ending)| [line, ending.to_owned()]).collect();
        text + &last
    })
}

/// Returns a unified diff with `context` lines of context.
fn unified(old: &str, new: &str, context: usize) -> String {
    let split = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (split(old), split(new));
    let mut text = "--- a/f\n+++ b/f\n".to_owned();
    let operations = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
    for group in similar::group_diff_ops(operations, context) {
        let (first, last) = (group[0], group[group.len() - 1]);
        let numbers = |range: std::ops::Range<usize>| match range.len() {
            0 => format!("{},0", range.start),
            count => format!("{},{count}", range.start + 1),
        };
        let (before, after) =
            (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        text += &format!("@@ -{} +{} @@\n", numbers(before), numbers(after));
        for operation in group {
            let is_equal = operation.tag() == similar::DiffTag::Equal;
            let gone = old[operation.old_range()].iter().map(|line| (if is_equal { ' ' } else { '-' }, line));
            let come = new[operation.new_range()].iter().filter(|_| !is_equal).map(|line| ('+', line));
            for (sign, line) in gone.chain(come) {
                text.push(sign);
                text += line;
                if !line.ends_with('\n') {
                    text += "\n\\ No newline at end of file\n";
                }
            }
        }
    }
    text
}

/// Returns the new text with carriage returns, for an old one whose lines all have them.
fn with_returns(old: &str, new: &str) -> String {
    let lines = new.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
        Some(text) if !text.ends_with('\r') => format!("{text}\r\n"),
        _ => line.to_owned(),
    });
    let new: String = lines.collect();
    assert!(new.len() > old.len());
    new
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_unified_diff_makes_the_one_of_the_other(old in content(), new in content(), context in 1_usize..4) {
        prop_assume!(old != new);
        let patch = unified(&old, &new, context);
        prop_assert_eq!(patched(&old, &patch), Ok(new), "{}", patch);
    }

    /// Also holds without context. Excluded are patches that only add lines without a carriage return to a file whose lines all
    /// have one, since such a patch cannot be distinguished from one whose author does not know of them.
    #[test]
    fn a_unified_diff_without_context_makes_the_one_of_the_other(old in content(), new in content()) {
        prop_assume!(old != new);
        let patch = unified(&old, &new, 0);
        let only_adds = !patch.split('\n').skip(2).any(|line| line.starts_with(['-', '\\']) || line.contains('\r'));
        let all_have_returns = old.contains('\n') && old.matches('\n').count() == old.matches("\r\n").count();
        let new = if only_adds && all_have_returns { with_returns(&old, &new) } else { new };
        prop_assert_eq!(patched(&old, &patch), Ok(new), "{}", patch);
    }

    /// Uses whole files, since a hunk without line numbers must match in only one place.
    #[test]
    fn a_patch_makes_the_one_of_the_other(old in content(), new in content()) {
        prop_assume!(old != new && !old.is_empty());
        let unified = unified(&old, &new, 1_000);
        let (_, hunk) = unified.split_once("@@\n").unwrap();
        prop_assert_eq!(patched(&old, &begin(&format!("@@\n{}", hunk.strip_suffix('\n').unwrap()))), Ok(new), "{}", hunk);
    }

    /// Checks that unchanged lines keep their endings, with a patch that does not contain them.
    #[test]
    fn endings_are_kept(lines in proptest::collection::vec(("[a-z]{1,8}", any::<bool>()), 1..8), at in 0_usize..8, is_open: bool) {
        let at = at % lines.len();
        let file: String = lines.iter().map(|(line, crlf)| format!("{line}{}", if *crlf { "\r\n" } else { "\n" })).collect();
        let file = if is_open { file.trim_end().to_owned() } else { file };
        let hunk: String = lines.iter().enumerate().map(|(index, (line, _))| match index {
            _ if index == at => format!("-{line}\n+NEW\n"),
            _ => format!(" {line}\n"),
        }).collect();
        let mut parts: Vec<&str> = file.split_inclusive('\n').collect();
        let changed = parts[at].replacen(&lines[at].0, "NEW", 1);
        parts[at] = &changed;
        prop_assert_eq!(patched(&file, &begin(&format!("@@\n{}", hunk.trim_end()))), Ok(parts.concat()));
    }

    #[test]
    fn no_input_is_too_much(patch in "(\\*\\*\\* (Begin Patch|End Patch|Update File: a|Add File: b|Move to: c|End of File)\n|@@( -1,2 \\+1,3 @@)?\n|[ +-][ab]{0,2}\r?\n|\n|--- a\n\\+\\+\\+ b\n|diff --git a/x b/x\n|\\\\ No newline at end of file\n){0,14}", file in content()) {
        crate::fs::fuzzing::check_patch(file.as_bytes(), &patch);
        let whole = format!("*** Begin Patch\n*** Update File: f\n{patch}*** End Patch\n");
        crate::fs::fuzzing::check_patch(file.as_bytes(), &whole);
    }
}
