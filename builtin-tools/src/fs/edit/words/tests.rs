use super::*;

/// Returns the explanation for a text that is absent from a file, without the sentence that it is absent.
fn said_of(file: &str, old: &str, new: &str) -> String {
    let replacement = Replacement { old, new, all: false };
    let error = PlanError { index: 0, problem: Problem::Miss(Miss::Absent) };
    let said = explain("f", Some(file.as_bytes()), &[replacement], &error);
    let start = "old_string is not in f, nor is it in a looser form; nothing was changed\n";
    said.strip_prefix(start).unwrap_or(&said).to_owned()
}

#[test]
fn of_several_places_ten_lines_are_named() {
    const EXACT: &str = "add lines around it until it is in one place, or set `replace_all`";
    const LOOSE: &str = "give the exact text, with more of the lines around it, until it is in one place";
    const ALL: &str = "to replace all of them, give each with its exact text";
    let ten: Vec<usize> = (1..=10).collect();
    for (looseness, count, lines, all, expected) in [
        (Looseness::Exact, 2, &[7][..], false, format!("old is in 2 places of f: on line 7; {EXACT}")),
        (Looseness::Exact, 3, &[1, 7], false, format!("old is in 3 places of f: on lines 1, 7; {EXACT}")),
        (
            Looseness::Exact,
            10,
            &ten,
            false,
            format!("old is in 10 places of f: on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10; {EXACT}"),
        ),
        (
            Looseness::Exact,
            11,
            &ten,
            false,
            format!("old is in 11 places of f: on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …; {EXACT}"),
        ),
        (
            Looseness::Endings,
            2,
            &[1, 7],
            false,
            format!("old is in 2 places of f, ignoring line endings: on lines 1, 7; {EXACT}"),
        ),
        (
            Looseness::Trailing,
            2,
            &[1, 7],
            false,
            format!(
                "old is in 2 places of f, ignoring white space at the ends of lines: on lines 1, 7; {LOOSE}"
            ),
        ),
        (
            Looseness::Trailing,
            2,
            &[1, 7],
            true,
            format!(
                "old is in 2 places of f, ignoring white space at the ends of lines: on lines 1, 7; {ALL}"
            ),
        ),
    ] {
        assert_eq!(several("f", looseness, count, lines, all, "old"), expected);
    }
}

#[test]
fn a_new_text_that_is_there_already_is_told_of_where_it_says_enough() {
    const NOTHING: &str = "there is no similar text in the file; read the file again";
    const THERE: &str = "new_string is already in the file, on line 2: was this edit made before?\n";
    for (file, old, new, expected) in [
        ("q\nabc\n", "xyz", "abc", NOTHING.to_owned()),
        ("q\nabc \n", "xyz", "abc ", NOTHING.to_owned()),
        ("q\nabcd\n", "xyz", "abcd", format!("{THERE}{NOTHING}")),
        ("q\nabcd\n", "xyz", "abce", NOTHING.to_owned()),
        ("q\nabcd\ne\n", "xyz", "abcd\r\ne", format!("{THERE}{NOTHING}")),
        ("q\r\nabcd\r\ne\r\n", "xyz", "abcd\ne", format!("{THERE}{NOTHING}")),
        ("q\r\nabcd\r\ne\r\n", "xyz", "abcd\r\ne", format!("{THERE}{NOTHING}")),
        // The text would be there anyway.
        (
            "q\nabcd\n",
            "abcd\nxyz",
            "abcd",
            "the nearest text is on line 2\nthe file ends before line 3:\n  asked: xyz".to_owned(),
        ),
        ("", "xyz", "abcd", "the file is empty".to_owned()),
    ] {
        assert_eq!(said_of(file, old, new), expected, "{new:?} for {old:?} in {file:?}");
    }
}

#[test]
fn of_looser_places_ten_are_told() {
    let line = |index: usize| {
        format!(
            "\nedits[{index}].old_string is not in the file as it was given; found on line 1 ignoring line endings, \
             and only the differing text was changed"
        )
    };
    let part = |looseness| Part { looseness, count: 1, first: 0..1, line: 1, is_minimal: true, frame: None };
    let ten: String = (1..=10).map(line).collect();
    for (count, more) in
        [(10, ""), (11, "\n1 more were found in a looser form"), (12, "\n2 more were found in a looser form")]
    {
        let mut parts = vec![part(Looseness::Exact)];
        parts.resize(count + 1, part(Looseness::Endings));
        assert_eq!(report(&parts), format!("{ten}{more}"), "{count}");
    }
    assert_eq!(report(&[part(Looseness::Exact)]), "");
}
