//! Tests of the parser.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn fault(text: &str) -> String {
    let Err(Fault { message, place }) = parse(text) else { panic!("{text} was taken") };
    place.map_or_else(|| message.clone(), |place| format!("{}:{}: {message}", place.line, place.column))
}

#[test]
fn faults_say_where_they_are() {
    for (text, expected) in [
        ("", "1:1: the text ends where a value is expected"),
        ("// nothing", "1:11: the text ends where a value is expected"),
        ("{ a: 1", "1:1: the object that begins here has no end: `}` is missing"),
        ("{\n  a: [1,\n", "3:1: the text ends where a value is expected"),
        ("{\n  a: [1\n", "2:6: the list that begins here has no end: `]` is missing"),
        ("{ a: 'x\n' }", "1:8: the line ends within a string: its closing quote is missing"),
        ("{ a: 'x", "1:8: the text ends within a string: its closing quote is missing"),
        ("{ a 1 }", "1:5: a colon is missing before this"),
        ("{ a: 1 b: 2 }", "1:8: a comma, or the end of the object or list, is missing before this"),
        ("{ a: coding }", "1:6: not a value: a string needs quotes"),
        ("{ a: 01 }", "1:6: a number cannot have a leading 0"),
        ("{ a: 1 } }", "1:10: unexpected text after the end of the document"),
        ("{ a: 1 } { b: 1 }", "1:10: unexpected text after the end of the document"),
        ("{} /* x", "1:8: the text ends within a comment: `*/` is missing"),
        ("{} / x", "1:5: unexpected text after the end of the document"),
        ("{ a: NaN }", "1:6: not a number that JSON supports"),
        ("{\r\n a: 1,\r\n b: -Infinity }", "3:5: a number that is too large"),
        ("[1, 0xFFFFFFFFFFFFFFFFF]", "1:5: a number that is too large"),
        ("[18446744073709551616]", "1:2: a number that is too large"),
        ("{ a: 1, b: { c: 1, 'd': 2,\n  'c': 3 } }", "2:3: the key \"c\" is repeated in one object"),
        ("{ '\\u0061': 1, a: 2 }", "1:16: the key \"a\" is repeated in one object"),
        ("{ 'é': 1, b: [x] }", "1:15: not a value: a string needs quotes"),
    ] {
        assert_eq!(fault(text), expected, "{text:?}");
    }
}

#[test]
fn limits_hold() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(&deep(DEEPEST)).is_ok());
    assert_eq!(fault(&deep(DEEPEST + 1)), "1:65: lists and objects nest more than 64 deep");
    assert_eq!(fault(&"[".repeat(MAX_BYTES)), "1:65: lists and objects nest more than 64 deep");
    assert_eq!(
        fault(&format!("{{}} {}", "[".repeat(100_000))),
        "1:4: unexpected text after the end of the document"
    );
    assert_eq!(fault(&" ".repeat(MAX_BYTES + 1)), "it has more than 1048576 bytes");
    let many = |count: usize| format!("[{}]", "0,".repeat(count));
    assert!(parse(&many(MAX_VALUES - 1)).is_ok());
    assert_eq!(fault(&many(MAX_VALUES)), format!("1:{}: it has more than 20000 values", 2 * MAX_VALUES));
    let key = |length: usize| format!("{{ {}: 1 }}", "k".repeat(length));
    assert!(parse(&key(LONGEST_KEY)).is_ok());
    assert_eq!(fault(&key(LONGEST_KEY + 1)), "1:3: a key of more than 256 bytes");
    let long_path = |deep: usize| format!("{{{}:", "k".repeat(LONGEST_KEY)).repeat(deep);
    let wide = format!("{}{}{}", long_path(40), many(19_000), "}".repeat(40));
    assert_eq!(fault(&wide), "it has too many values under long keys");
}

#[test]
fn places_of_keys_and_values() {
    let text = "\u{feff}// A comment { [\n{\r\n  tools /* : */ : { 'deny': ['exec', \"a\\\"]\", ], },\u{2028}  é: +1, }\n";
    let parsed = parse(text).unwrap();
    assert_eq!(parsed.value, json!({"tools": {"deny": ["exec", "a\"]"]}, "é": 1}));
    for (pointer, key, value) in [
        ("", (2, 1), (2, 1)),
        ("/tools", (3, 3), (3, 19)),
        ("/tools/deny", (3, 21), (3, 29)),
        ("/tools/deny/0", (3, 30), (3, 30)),
        ("/tools/deny/1", (3, 38), (3, 38)),
        ("/é", (4, 3), (4, 6)),
    ] {
        let place = |place: Option<Place>| place.map(|Place { line, column }| (line, column));
        assert_eq!(place(parsed.places.key(pointer)), Some(key), "{pointer}");
        assert_eq!(place(parsed.places.value(pointer)), Some(value), "{pointer}");
    }
    assert_eq!(parsed.places.value("/none"), None);
}

/// Generates values that a document can contain.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e6..1e6).prop_map(Value::from),
        "[a-z'\"\\\\/{\\[:,\u{e9}\u{1F600}\\n\u{2028}]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::hash_map("[a-zA-Z_$'\"/~:,{]{1,4}", inner, 0..5)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// Writes a value as JSON5, in one of many spellings, selected by `ways`.
fn write(value: &Value, ways: &mut impl Iterator<Item = u8>, text: &mut String) {
    let mut way = || ways.next().unwrap_or(0);
    let gap = |way: u8| {
        ["", " ", "\n", "\r\n", "/* { ' */", "// [ \"\n", "\u{feff}", "\t\u{2029}"][usize::from(way % 8)]
    };
    let quoted = |string: &str, way: u8| {
        let json = serde_json::to_string(string).expect("a string");
        if way.is_multiple_of(2) {
            json
        } else {
            format!("'{}'", json[1..json.len() - 1].replace('\'', "\\'"))
        }
    };
    text.push_str(gap(way()));
    match value {
        Value::String(string) => text.push_str(&quoted(string, way())),
        Value::Array(items) => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    text.push(',');
                }
                write(item, ways, text);
            }
            text.push_str(if items.is_empty() || ways.next().unwrap_or(0).is_multiple_of(2) {
                "]"
            } else {
                " , ]"
            });
        }
        Value::Object(members) => {
            text.push('{');
            for (number, (name, member)) in members.iter().enumerate() {
                if number > 0 {
                    text.push(',');
                }
                let way = ways.next().unwrap_or(0);
                text.push_str(gap(way / 8));
                let is_name = name.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '$'));
                text.push_str(&if is_name && way.is_multiple_of(3) {
                    name.clone()
                } else {
                    quoted(name, way)
                });
                text.push_str(gap(way / 16));
                text.push(':');
                write(member, ways, text);
            }
            text.push('}');
        }
        plain => text.push_str(&plain.to_string()),
    }
    text.push_str(gap(ways.next().unwrap_or(0)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The same parser, started at the place that was found, reads the value there.
    #[test]
    fn places_are_where_the_parser_finds_the_values(
        value in values(), ways in proptest::collection::vec(any::<u8>(), 200),
    ) {
        let mut text = String::new();
        write(&value, &mut ways.into_iter().cycle().take(10_000), &mut text);
        let parsed = parse(&text).map_err(|fault| TestCaseError::fail(format!("{fault:?} in {text:?}")))?;
        prop_assert_eq!(&parsed.value, &value);
        let marks = scan(&text);
        let offsets: std::collections::HashMap<Place, usize> =
            marks.values.iter().map(|offset| (Place::of(&text, *offset), *offset)).collect();
        for (pointer, place) in parsed.places.iter() {
            let rest = &text[offsets[&place]..];
            let seen = RefCell::new(VisitState::default());
            let found =
                JsonSeed(Limited { seen: &seen, depth: 0 }).deserialize(&mut json5::Deserializer::from_str(rest));
            let found = found.ok();
            prop_assert_eq!(found.as_ref(), value.pointer(pointer), "{} in {:?}", pointer, text);
            let (Some(key), Some((_, name))) = (parsed.places.key(pointer), pointer.rsplit_once('/')) else { continue };
            if key != place {
                let name = name.replace("~1", "/").replace("~0", "~");
                let rest = marks.keys.iter().map(|offset| &text[*offset..]).find(|rest| Place::of(&text, text.len() - rest.len()) == key);
                let rest = rest.ok_or_else(|| TestCaseError::fail(format!("no key of {pointer} in {text:?}")))?;
                let quoted = <String as serde::Deserialize>::deserialize(&mut json5::Deserializer::from_str(rest));
                prop_assert!(quoted.is_ok_and(|quoted| quoted == name) || rest.starts_with(&name), "{pointer} in {text:?}");
            }
        }
    }

    #[test]
    fn no_text_is_a_panic(text in "[\\[\\]{}:,'\"/*\\\\a0.\\n\u{e9}\u{2028}+-]{0,40}") {
        let _ = parse(&text);
    }

    #[test]
    fn what_it_takes_the_parser_takes(text in "[\\[\\]{}:,'\"/* a1\\n]{0,12}") {
        let plain = json5::from_str::<Value>(&text);
        match parse(&text) {
            Ok(parsed) => prop_assert_eq!(Some(parsed.value), plain.ok(), "{:?}", text),
            Err(fault) => prop_assert!(plain.is_err() || fault.message.contains("is repeated"), "{fault:?}: {text:?}"),
        }
    }
}
