use super::*;

#[test]
fn a_place_is_found_by_a_quarter_of_its_lines() {
    let long = |count: usize| "a".repeat(count);
    let (longest, too_long) = (long(3_200), long(3_201));
    for (what, file, asked, expected) in [
        ("a quarter is in its place", "x\naaaa\nbbbb\n", &["aaaa", "1111", "2222", "3333"][..], Some(1)),
        ("less than a quarter", "x\naaaa\nbbbb\n", &["aaaa", "1111", "2222", "3333", "4444"], None),
        ("the first of equals", "aaaa\nx\naaaa\n", &["aaaa"], Some(0)),
        ("where more are in their places", "aaaa\n\naaaa\nbbbb\n", &["aaaa", "bbbb"], Some(2)),
        ("a place before the file is none", "bbbb\naaaa\n", &["aaaa", "bbbb"], Some(1)),
        ("brackets say nothing", "}\n}\n", &["}"], None),
        ("indentation does not count", "y\n\taaaa\n", &["    aaaa"], Some(1)),
        // A repeated line is compared at four positions: with five, the place before would be as good.
        ("a line that is repeated", "1\n2\n3\naaaa\naaaa\naaaa\n", &["aaaa"; 5], Some(2)),
        ("lines that say little add up", "a\nb\n", &["a", "b", "1", "2", "3", "4", "5", "6"], Some(0)),
        ("the longest line", &longest, &[&longest], Some(0)),
        ("a longer one", &too_long, &[&too_long], None),
    ] {
        assert_eq!(by_equal_lines(file.as_bytes(), asked), expected, "{what}");
    }
}

#[test]
fn so_many_places_are_weighed() {
    for (lines, expected) in [(MAX_PLACES, MAX_PLACES - 1), (MAX_PLACES + 1, 0)] {
        let file = "aaaa\n".repeat(lines) + "bbbb\n";
        assert_eq!(by_equal_lines(file.as_bytes(), &["aaaa", "bbbb"]), Some(expected), "{lines}");
    }
}

#[test]
fn what_a_line_says_of_its_place() {
    let long = "a".repeat(50);
    for (line, expected) in [("ab-12", 4), ("}", 0), ("", 0), ("é", 2), (&long[..40], 40), (&long, 40)] {
        assert_eq!(weight(line.as_bytes()), expected, "{line}");
    }
}

#[test]
fn a_line_is_like_another_that_shares_half_of_its_pairs() {
    for (what, file, asked, expected) in [
        ("half", "abcxy\n", &["abcde"][..], Some(0)),
        ("less than half", "abxyz\n", &["abcde"], None),
        ("nothing", "aaaa\n", &["zzzz"], None),
        ("the second characters alone", "xbyb\n", &["abab"], None),
        ("the most like", "abcx\nabcd\nabcx\n", &["abcd"], Some(1)),
        ("a larger part of a shorter line", "abcdewxyz\nabcd\n", &["abcde"], Some(1)),
        ("a larger part of a longer line", "abcxy\nabcdez\n", &["abcde"], Some(1)),
        ("the first of equals", "abcd\nabcd\n", &["abcd"], Some(0)),
        ("white space around does not count", "q\n  abcd  \n", &["abcd"], Some(1)),
        ("by the longest of the lines", "x\nyy\nabcdefgh\n", &["a", "abcdefgh"], Some(1)),
        ("no place before the file", "abcdefgh\n", &["a", "abcdefgh"], Some(0)),
        ("the first of the longest", "wxyz\nabcd\n", &["abcd", "wxyz"], Some(1)),
        ("no pairs at all", "\nb\n", &["a"], None),
        ("no lines at all", "abcd\n", &[], None),
    ] {
        assert_eq!(by_likeness(file.as_bytes(), asked), expected, "{what}");
    }
    // Of a line 400 bytes are compared.
    let (wanted, other) = ("ab".repeat(200), "xyzw".repeat(200));
    let file = format!("{wanted}{other}\n");
    assert_eq!(by_likeness(file.as_bytes(), &[&format!("{wanted}{}", "qrst".repeat(200))]), Some(0));
}

#[test]
fn lines_have_no_endings_and_no_mark() {
    let found: Vec<&[u8]> = lines(b"\xEF\xBB\xBFa\r\nb\n\nc").collect();
    assert_eq!(found, [&b"a"[..], b"b", b"", b"c"]);
}

#[test]
fn what_differs_is_said_in_words() {
    for (file, asked, expected) in [
        (
            "a1\r\nb2\r\n",
            "a1\nb2",
            "the nearest text is on lines 1 to 2, and differs in its line endings only",
        ),
        (
            "one 1\n",
            "one 1 ",
            "the nearest text is on line 1\nline 1 differs in white space at its end:\n  there: one 1\n  asked: one 1 ",
        ),
        (
            "say “hi”\n",
            "say \"hi\"",
            "the nearest text is on line 1\nline 1 differs in typographic quotes, dashes or spaces:\n  there: say “hi”\n  \
             asked: say \"hi\"",
        ),
        (
            "\t one\n",
            "  one",
            "the nearest text is on line 1\nline 1 differs in indentation (1 tab and 1 space there, 2 spaces asked):\n  \
             there: \t one\n  asked:   one",
        ),
        (
            "one\n",
            "\t\tone",
            "the nearest text is on line 1\nline 1 differs in indentation (none there, 2 tabs asked):\n  there: one\n  asked: \
             \t\tone",
        ),
        (
            "x\nalpha\n",
            "alpha\nbeta",
            "the nearest text is on line 2\nthe file ends before line 3:\n  asked: beta",
        ),
        (
            "alphabet\n1\n2\n3\n4\n",
            "alphabet\nq\nr\ns\nt",
            "the nearest text is on lines 1 to 5\nline 2 differs:\n  there: 1\n  asked: q\nline 3 differs:\n  there: 2\n  asked: r\n\
             line 4 differs:\n  there: 3\n  asked: s\nline 5 differs:\n  there: 4\n  asked: t",
        ),
        (
            "alphabet\n1\n2\n3\n4\n5\n6\n",
            "alphabet\nq\nr\ns\nt\nu\nv",
            "the nearest text is on lines 1 to 7\nline 2 differs:\n  there: 1\n  asked: q\nline 3 differs:\n  there: 2\n  asked: r\n\
             line 4 differs:\n  there: 3\n  asked: s\nline 5 differs:\n  there: 4\n  asked: t\n2 more lines differ",
        ),
    ] {
        assert_eq!(nearest(file.as_bytes(), asked).as_deref(), Some(expected), "{asked:?} in {file:?}");
    }
    assert_eq!(nearest(b"abcd\n", "wxyz"), None);
    // A line is shown up to 160 characters, around the first one that differs.
    let (one, other) = ("a".repeat(200), format!("a{}", "ä".repeat(199)));
    let shown = format!("there: {}…\n  asked: a{}…", "a".repeat(160), "ä".repeat(159));
    let expected = format!(
        "the nearest text is on line 1\nline 1 differs at character 2 (`a` there, U+00E4 asked):\n  {shown}"
    );
    assert_eq!(describe(one.as_bytes(), 0, &[&other]), expected);
    let (one, other) = (format!("{}b tail", "a".repeat(300)), format!("{}c tail", "a".repeat(300)));
    let (start, from) = ("a".repeat(80), "differs from character 301 on");
    let expected = format!(
        "the nearest text is on line 1\nline 1 {from}:\n  there: …{start}b tail\n  asked: …{start}c tail"
    );
    assert_eq!(nearest(one.as_bytes(), &other).as_deref(), Some(&*expected));
    for (there, asked, how) in [
        ("caf\u{65}\u{301} one", "café one", "at character 4 (`e` there, U+00E9 asked)"),
        ("one\ttwo", "one two", "at character 4 (a tab there, a space asked)"),
        ("one\u{200B}two", "onetwo", "at character 4 (U+200B there, `t` asked)"),
        ("one two", "one twо", "at character 7 (`o` there, U+043E asked)"),
        ("one é", "one", "at character 4 (a space there, the end of the line asked)"),
        ("é one", "e one", "at character 1 (U+00E9 there, `e` asked)"),
        ("  é one", "  e one", "at character 3 (U+00E9 there, `e` asked)"),
        ("one é", "one è", "at character 5 (U+00E9 there, U+00E8 asked)"),
    ] {
        let said = describe(there.as_bytes(), 0, &[asked]);
        assert!(said.contains(&format!("line 1 differs {how}:")), "{said}");
    }
}

#[test]
fn two_lines_differ_from_a_whole_character_on() {
    for (one, other, expected) in
        [("abc", "abd", 2), ("abc", "ab", 2), ("aé", "aè", 1), ("€", "₭", 0), ("a€", "a\u{2024}", 1)]
    {
        assert_eq!(first_difference(one.as_bytes(), other.as_bytes()), expected, "{one} and {other}");
        assert_eq!(first_difference(other.as_bytes(), one.as_bytes()), expected, "{other} and {one}");
    }
    // Of lines that are no text, one may end within a character, or begin there.
    for (one, other, expected) in
        [(&b"a\xC3\xA9"[..], &b"a\xC3"[..], 1), (b"\x80", b"\x81", 0), (b"\x80", b"", 0)]
    {
        assert_eq!(first_difference(one, other), expected, "{one:?} and {other:?}");
        assert_eq!(first_difference(other, one), expected, "{other:?} and {one:?}");
    }
}

#[test]
fn a_line_is_shown_whole_up_to_160_characters() {
    let (start, end) = ("a".repeat(100), "b".repeat(59));
    for (line, around, expected) in [
        (format!("{start}{end}"), 100, format!("{start}{end}")),
        (format!("{start}c{end}"), 100, format!("{start}c{end}")),
        (format!("{start}cc{end}"), 100, format!("…{}cc{end}", "a".repeat(80))),
        (format!("{start}cc{end}"), 79, format!("{start}cc{}…", "b".repeat(58))),
    ] {
        assert_eq!(shown(line.as_bytes(), around), expected, "{line}");
    }
}

#[test]
fn where_lines_begin_to_differ_is_said_beyond_80_characters() {
    for (count, expected) in [(80, ""), (81, " from character 82 on")] {
        let start = "a".repeat(count);
        let (one, other) = (format!("{start}b"), format!("{start}c"));
        assert_eq!(difference(one.as_bytes(), &other, count), expected);
    }
}
