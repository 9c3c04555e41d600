//! The kept parts at the exact limits, to the byte: of text, and of bytes that are not UTF-8.

use super::*;

/// The line, the number of bytes of the line before the position, and the number of all bytes before it.
type At = (u64, u64, u64);

fn at(position: Position) -> At {
    (position.line, position.byte_in_line, position.offset)
}

/// A source, the limits of lines and bytes; the kept beginning and end, and the positions where the missing part
/// begins and ends.
type Row = (&'static [u8], u64, u64, &'static str, &'static str, At, At);

fn check_excerpts(keep: Keep, table: &[Row]) {
    for (source, lines, bytes, head, tail, from, to) in table {
        let limits = limits(*lines, *bytes, keep);
        let excerpt = Ends::of(source, newlines(source), &limits).excerpt(&limits);
        let name = format!("{}, {lines} lines, {bytes} bytes", source.escape_ascii());
        assert_eq!((excerpt.head.as_str(), excerpt.tail.as_str()), (*head, *tail), "{name}");
        let missing = excerpt.cut.missing;
        assert_eq!((at(missing.from), at(missing.to)), (*from, *to), "{name}");

        // The same from a stream, in memory and, byte by byte, through a file.
        for buffer in [1, 300] {
            let (_, cut) = run(stream(&Host::new(), limits, buffer, source, &[1]));
            let cut = cut.unwrap_or_else(|| panic!("{name}, buffer of {buffer}: was not cut"));
            assert_eq!((cut.missing, cut.shown), (missing, excerpt.cut.shown.clone()), "{name}, {buffer}");
        }
    }
}

#[test]
fn the_beginning_of_text() {
    check_excerpts(
        Keep::Head,
        &[
            // No line, the first, the first two.
            (b"a\nb\nc", 0, 9, "", "", (1, 0, 0), (3, 1, 5)),
            (b"a\nb\nc", 1, 9, "a\n", "", (2, 0, 2), (3, 1, 5)),
            (b"a\nb\nc", 2, 9, "a\nb\n", "", (3, 0, 4), (3, 1, 5)),
            (b"a\nb\nc\n", 2, 9, "a\nb\n", "", (3, 0, 4), (4, 0, 6)),
            (b"\n\n\n", 2, 9, "\n\n", "", (3, 0, 2), (4, 0, 3)),
            // The next line is as long as the limit, or a byte longer; its line feed counts.
            (b"a\nbbbb\nc", 9, 5, "a\n", "", (2, 0, 2), (3, 1, 8)),
            (b"a\nbbbbb\nc", 9, 5, "a\nbbb", "", (2, 3, 5), (3, 1, 9)),
            (b"a\nbbbbb", 9, 5, "a\n", "", (2, 0, 2), (2, 5, 7)),
            (b"a\nbbbbbb", 9, 5, "a\nbbb", "", (2, 3, 5), (2, 6, 8)),
            // The line feed is the first byte that does not fit, and the last that does.
            (b"aaa\nb", 9, 3, "aaa", "", (1, 3, 3), (2, 1, 5)),
            (b"aaa\nb", 9, 4, "aaa\n", "", (2, 0, 4), (2, 1, 5)),
            // A character of two, three and four bytes is kept whole or not at all.
            ("éa".as_bytes(), 9, 1, "", "", (1, 0, 0), (1, 3, 3)),
            ("éa".as_bytes(), 9, 2, "é", "", (1, 2, 2), (1, 3, 3)),
            ("a€a".as_bytes(), 9, 2, "a", "", (1, 1, 1), (1, 5, 5)),
            ("a€a".as_bytes(), 9, 3, "a", "", (1, 1, 1), (1, 5, 5)),
            ("a€a".as_bytes(), 9, 4, "a€", "", (1, 4, 4), (1, 5, 5)),
            ("a😀a".as_bytes(), 9, 2, "a", "", (1, 1, 1), (1, 6, 6)),
            ("a😀a".as_bytes(), 9, 3, "a", "", (1, 1, 1), (1, 6, 6)),
            ("a😀a".as_bytes(), 9, 4, "a", "", (1, 1, 1), (1, 6, 6)),
            ("a😀a".as_bytes(), 9, 5, "a😀", "", (1, 5, 5), (1, 6, 6)),
        ],
    );
}

#[test]
fn the_end_of_text() {
    check_excerpts(
        Keep::Tail,
        &[
            (b"a\nb\nc", 0, 9, "", "", (1, 0, 0), (3, 1, 5)),
            (b"a\nb\nc", 1, 9, "", "c", (1, 0, 0), (3, 0, 4)),
            (b"a\nb\nc", 2, 9, "", "b\nc", (1, 0, 0), (2, 0, 2)),
            (b"a\nb\nc\n", 2, 9, "", "b\nc\n", (1, 0, 0), (2, 0, 2)),
            (b"\n\n\n", 2, 9, "", "\n\n", (1, 0, 0), (2, 0, 1)),
            // The line before is as long as the limit, or a byte longer; its line feed counts.
            (b"a\nbbbb\nc", 9, 5, "", "c", (1, 0, 0), (3, 0, 7)),
            (b"a\nbbbbb\nc", 9, 5, "", "bbb\nc", (1, 0, 0), (2, 2, 4)),
            (b"bbbb\nc", 9, 5, "", "c", (1, 0, 0), (2, 0, 5)),
            (b"bbbbb\nc", 9, 5, "", "bbb\nc", (1, 0, 0), (1, 2, 2)),
            // The line feed before is the first byte that does not fit, and the last that does.
            (b"a\nbbb", 9, 3, "", "bbb", (1, 0, 0), (2, 0, 2)),
            (b"aaaaa\nbbb", 9, 4, "", "\nbbb", (1, 0, 0), (1, 5, 5)),
            (b"aa\nbbb", 9, 4, "", "bbb", (1, 0, 0), (2, 0, 3)),
            (b"aaaa\n", 9, 4, "", "aaa\n", (1, 0, 0), (1, 1, 1)),
            ("aé".as_bytes(), 9, 1, "", "", (1, 0, 0), (1, 3, 3)),
            ("aé".as_bytes(), 9, 2, "", "é", (1, 0, 0), (1, 1, 1)),
            ("a€a".as_bytes(), 9, 2, "", "a", (1, 0, 0), (1, 4, 4)),
            ("a€a".as_bytes(), 9, 3, "", "a", (1, 0, 0), (1, 4, 4)),
            ("a€a".as_bytes(), 9, 4, "", "€a", (1, 0, 0), (1, 1, 1)),
            ("a😀a".as_bytes(), 9, 2, "", "a", (1, 0, 0), (1, 5, 5)),
            ("a😀a".as_bytes(), 9, 3, "", "a", (1, 0, 0), (1, 5, 5)),
            ("a😀a".as_bytes(), 9, 4, "", "a", (1, 0, 0), (1, 5, 5)),
            ("a😀a".as_bytes(), 9, 5, "", "😀a", (1, 0, 0), (1, 1, 1)),
            // The rest of a split character is not treated as invalid UTF-8, however much room there is.
            ("😀aaaaa".as_bytes(), 9, 8, "", "aaaaa", (1, 0, 0), (1, 4, 4)),
        ],
    );
}

#[test]
fn both_ends_of_text() {
    check_excerpts(
        Keep::Ends,
        &[
            // An odd limit gives the larger half to the beginning.
            (b"a\nb\nc\nd", 1, 99, "a\n", "", (2, 0, 2), (4, 1, 7)),
            (b"a\nb\nc\nd", 2, 99, "a\n", "d", (2, 0, 2), (4, 0, 6)),
            (b"a\nb\nc\nd", 3, 99, "a\nb\n", "d", (3, 0, 4), (4, 0, 6)),
            (b"abcdef", 9, 1, "a", "", (1, 1, 1), (1, 6, 6)),
            (b"abcdef", 9, 4, "ab", "ef", (1, 2, 2), (1, 4, 4)),
            (b"abcdef", 9, 5, "abc", "ef", (1, 3, 3), (1, 4, 4)),
            (b"a\nbbb\nc\n", 9, 7, "a\n", "\nc\n", (2, 0, 2), (2, 3, 5)),
        ],
    );
}

#[test]
fn the_beginning_of_bytes_that_are_no_utf8() {
    check_excerpts(
        Keep::Head,
        &[
            // Each takes three bytes as text.
            (b"\xFF\xFFa", 9, 2, "", "", (1, 0, 0), (1, 3, 3)),
            (b"\xFF\xFFa", 9, 3, "\u{FFFD}", "", (1, 1, 1), (1, 3, 3)),
            (b"\xFF\xFFa", 9, 5, "\u{FFFD}", "", (1, 1, 1), (1, 3, 3)),
            (b"\xFF\xFFa", 9, 6, "\u{FFFD}\u{FFFD}", "", (1, 2, 2), (1, 3, 3)),
            (b"a\xFFbcd", 9, 3, "a", "", (1, 1, 1), (1, 5, 5)),
            (b"a\xFFbcd", 9, 4, "a\u{FFFD}", "", (1, 2, 2), (1, 5, 5)),
            (b"a\xFFbcd", 9, 6, "a\u{FFFD}bc", "", (1, 4, 4), (1, 5, 5)),
            (b"a\xE2bcd", 9, 4, "a\u{FFFD}", "", (1, 2, 2), (1, 5, 5)),
            (b"a\xE2\x82bcd", 9, 5, "a\u{FFFD}b", "", (1, 4, 4), (1, 6, 6)),
            // There is room for the second of these, but not for the byte before it.
            (b"\xFF\xF0\x9F\x98\x80\xFF", 9, 6, "\u{FFFD}", "", (1, 1, 1), (1, 6, 6)),
            // The line is not longer than the limit, and is split only if nothing else would be kept.
            (b"a\n\xFF\xFFbbb\nccccccccccc", 9, 8, "a\n", "", (2, 0, 2), (3, 11, 19)),
            (b"a\n\xFF\xFFbbbb\n", 9, 8, "a\n", "", (2, 0, 2), (3, 0, 9)),
            (b"a\n\xFF\xFFbbbbbb\n", 9, 8, "a\n\u{FFFD}\u{FFFD}", "", (2, 2, 4), (3, 0, 11)),
            (b"\xFF\xFF\xFFbbb\n", 9, 8, "\u{FFFD}\u{FFFD}", "", (1, 2, 2), (2, 0, 7)),
            // An incomplete character, at the end of the output and at the limit.
            (b"aaa\nb\xE2\x82", 1, 9, "aaa\n", "", (2, 0, 4), (2, 3, 7)),
            (b"aa\xE2\x82", 9, 4, "aa", "", (1, 2, 2), (1, 4, 4)),
            // Continuation bytes without a first byte are not the end of a character.
            (b"a\x80\x80\x80\x80a", 9, 4, "a\u{FFFD}", "", (1, 2, 2), (1, 6, 6)),
        ],
    );
}

#[test]
fn the_end_of_bytes_that_are_no_utf8() {
    check_excerpts(
        Keep::Tail,
        &[
            (b"a\xFF\xFF", 9, 2, "", "", (1, 0, 0), (1, 3, 3)),
            (b"a\xFF\xFF", 9, 3, "", "\u{FFFD}", (1, 0, 0), (1, 2, 2)),
            (b"a\xFF\xFF", 9, 5, "", "\u{FFFD}", (1, 0, 0), (1, 2, 2)),
            (b"a\xFF\xFF", 9, 6, "", "\u{FFFD}\u{FFFD}", (1, 0, 0), (1, 1, 1)),
            (b"a\xFFbb", 9, 4, "", "bb", (1, 0, 0), (1, 2, 2)),
            (b"a\xFFbb", 9, 5, "", "\u{FFFD}bb", (1, 0, 0), (1, 1, 1)),
            (b"a\xFFb\xFFb", 9, 6, "", "b\u{FFFD}b", (1, 0, 0), (1, 2, 2)),
            (b"a\xE2\x82bbb", 9, 6, "", "\u{FFFD}bbb", (1, 0, 0), (1, 1, 1)),
            (b"a\xE2\x82bbb", 9, 5, "", "bbb", (1, 0, 0), (1, 3, 3)),
            // The output itself begins with the rest of a character.
            (b"\x80\x80aaa", 9, 8, "", "\u{FFFD}aaa", (1, 0, 0), (1, 1, 1)),
            // The last line is not longer than the limit, and is split only if nothing else would be kept.
            (b"bbb\xFF\xFF", 9, 8, "", "bb\u{FFFD}\u{FFFD}", (1, 0, 0), (1, 1, 1)),
            (b"bbb\xFF\xFF\nc", 9, 9, "", "c", (1, 0, 0), (2, 0, 6)),
        ],
    );
}

#[test]
fn what_stands_for_the_middle() {
    let host = Host::new();
    for (text, lines, bytes, expected) in [
        ("a\nb\nc\nd\ne", 2, 99, "a\n[… 3 lines, 6 bytes left out …]\ne\n"),
        ("a\nb\nc\nd\ne", 4, 99, "a\nb\n[… 1 line, 2 bytes left out …]\nd\ne\n"),
        ("abcdef", 9, 5, "abc\n[… 1 line, 1 byte left out …]\nef\n"),
    ] {
        let (text, cut) = host.text(limits(lines, bytes, Keep::Ends), text);
        assert_eq!(text.strip_suffix(&cut.unwrap().to_string()), Some(expected));
    }
}

#[test]
fn lines_of_a_part() {
    let position = |(line, byte_in_line, offset): At| Position { line, byte_in_line, offset };
    for (from, to, first, last, lines, bytes) in [
        ((1, 0, 0), (2, 0, 4), 1, 1, 1, 4),
        ((1, 1, 1), (1, 3, 3), 1, 1, 1, 2),
        ((2, 1, 5), (3, 1, 9), 2, 3, 2, 4),
        ((2, 0, 4), (5, 0, 16), 2, 4, 3, 12),
    ] {
        let part = Part { from: position(from), to: position(to) };
        let all = (part.first_line(), part.last_line(), part.lines(), part.bytes());
        assert_eq!(all, (first, last, lines, bytes), "{part:?}");
    }
}
