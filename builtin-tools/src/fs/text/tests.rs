use super::*;
use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1252};
use proptest::prelude::*;

const fn form(encoding: &'static Encoding, has_mark: bool) -> Kind {
    Kind::Text(Form { encoding, has_mark })
}

#[test]
fn what_a_file_holds() {
    let japanese = SHIFT_JIS.encode("日本語のテキストです。これは長い文章です。").0.into_owned();
    let chinese = GBK.encode("这是一个用中文写的文本，它很长，所以可以认出来。").0.into_owned();
    for (bytes, expected) in [
        (&b""[..], form(UTF_8, false)),
        (b"text\n", form(UTF_8, false)),
        ("größe 🦀".as_bytes(), form(UTF_8, false)),
        (b"\x1b[31mred\x1b[0m\n", form(UTF_8, false)),
        (b"\xEF\xBB\xBFtext", form(UTF_8, true)),
        (b"\xFF\xFEa\0\n\0", form(UTF_16LE, true)),
        (b"\xFE\xFF\0a\0\n", form(UTF_16BE, true)),
        (b"\xFF\xFE\0\0a\0\0\0", Kind::Binary),
        (b"a\0b", Kind::Binary),
        (b"\x01\x02\x03\x04\x05ab", Kind::Binary),
        (b"caf\xE9 et th\xE9\n", form(WINDOWS_1252, false)),
        (&japanese, form(SHIFT_JIS, false)),
        ("größe über älter \u{ff}".as_bytes(), form(UTF_8, false)),
        (b"gr\xC3\xB6\xC3\x9Fe und \xFF", Kind::Damaged),
        (b"\xEF\xBB\xBFa\xFF", Kind::Damaged),
        (&chinese, form(GBK, false)),
        // If the detected encoding lacks some of the bytes, another one is used that has them.
        (&[&chinese[..], b"\n\xFF\n", &chinese, &chinese].concat(), form(WINDOWS_1252, false)),
        (b"\x80\x81\x02\x03\x04\x05", Kind::Binary),
    ] {
        assert_eq!(kind(bytes, true), expected, "{bytes:?}");
    }
}

#[test]
fn text_is_plain_wherever_its_parts_end() {
    assert!(is_plain(b""));
    for character in ["a", "ß", "→", "🦀"] {
        for before in PART_BYTES - 4..PART_BYTES + 2 {
            let text =
                ["x".repeat(before).as_bytes(), character.as_bytes(), "y".repeat(PART_BYTES).as_bytes()]
                    .concat();
            assert!(is_plain(&text), "{character} after {before}");
            let end = before + character.len();
            assert!(is_plain(&text[..end]), "{character} at the end, after {before}");
            assert!(character == "a" || !is_plain(&text[..end - 1]), "a part of {character} after {before}");
            for (wrong, at) in [(0, before - 1), (0, text.len() - 1), (0xFF, end), (0xFF, text.len() - 1)] {
                let mut text = text.clone();
                text[at] = wrong;
                assert!(!is_plain(&text), "{wrong} at {at}");
            }
        }
    }
}

#[test]
fn a_sample_may_end_within_a_character() {
    assert_eq!(kind(b"gr\xC3", false), Kind::Text(Form::PLAIN));
    assert_ne!(kind(b"gr\xC3", true), Kind::Text(Form::PLAIN));
}

#[test]
fn endings() {
    for (text, lf, crlf, cr, name, usual) in [
        ("", 0, 0, 0, "none", "\n"),
        ("a", 0, 0, 0, "none", "\n"),
        ("a\nb\n", 2, 0, 0, "LF", "\n"),
        ("a\r\nb\r\n", 0, 2, 0, "CRLF", "\r\n"),
        ("a\r\nb\nc\r\n", 1, 2, 0, "mixed", "\r\n"),
        ("a\r\nb\n", 1, 1, 0, "mixed", "\n"),
        ("a\rb\r\r\n\n\r", 1, 1, 3, "mixed", "\n"),
    ] {
        let endings = Endings::of(text.as_bytes());
        assert_eq!(endings, Endings { lf, crlf, cr }, "{text:?}");
        assert_eq!((endings.name(), endings.usual()), (name, usual), "{text:?}");
    }
}

proptest! {
    #[test]
    fn what_is_decoded_gives_back_each_byte(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Some(decoded) = decode(&bytes) {
            prop_assert_eq!(decoded.form.encode(&decoded.text), Some(bytes));
        }
    }

    #[test]
    fn text_is_decoded_in_each_form(text in "[a-zäß日\\r\\n]{0,50}", which in 0_usize..4) {
        let form: Form = [
            Form::PLAIN,
            Form { encoding: UTF_8, has_mark: true },
            Form { encoding: UTF_16LE, has_mark: true },
            Form { encoding: UTF_16BE, has_mark: true },
        ][which];
        let bytes = form.encode(&text).unwrap();
        let decoded = decode(&bytes).unwrap();
        prop_assert_eq!(decoded.text, text);
        prop_assert_eq!(decoded.form, form);
    }
}

#[test]
fn so_many_control_characters_are_text_and_one_more_is_none() {
    let repeated = |byte: u8, count: usize| vec![byte; count];
    // Of UTF-8 a quarter.
    assert_eq!(kind(&[repeated(1, 2), repeated(b'a', 6)].concat(), true), Kind::Text(Form::PLAIN));
    assert_eq!(kind(&[repeated(1, 3), repeated(b'a', 6)].concat(), true), Kind::Binary);
    // Of any other byte, one in fifty.
    let with = |count: usize| [repeated(1, 1), repeated(b'a', count), repeated(0xE9, 1)].concat();
    assert!(matches!(kind(&with(48), true), Kind::Text(_)));
    assert_eq!(kind(&with(47), true), Kind::Binary);
    // As many invalid bytes as valid UTF-8 characters: another encoding.
    assert!(matches!(kind(b"\xC3\xB6 \xFF", true), Kind::Text(_)));
    // A UTF-8 byte order mark does not make content with a NUL text.
    assert_eq!(kind(b"\xEF\xBB\xBFa\0b", true), Kind::Binary);
}
