//! Answers that are random, of pieces that mean something in Markdown.

use proptest::prelude::*;
use toolkit_channel::text::{Markup, Style, Unit};

use super::laws::check;

const PIECES: &[&str] = &[
    "a",
    "word",
    " ",
    "  ",
    "\n",
    "\n\n",
    "**",
    "*",
    "_",
    "~~",
    "`",
    "```",
    "```rust\n",
    "\n```\n",
    "> ",
    "- ",
    "1. ",
    "    ",
    "# ",
    "---",
    "|",
    "|-|-|",
    "[",
    "](https://a.b/c?d&e)",
    "](x)",
    "![",
    "]",
    "(",
    ")",
    "<b>",
    "</b>",
    "<",
    ">",
    "&",
    "&amp;",
    "\\",
    "\t",
    "[^1]",
    "[^1]: ",
    "[ ] ",
    "[x] ",
    "漢字",
    "。",
    "é",
    "e\u{301}",
    "👨‍👩‍👧",
    "🇩🇪",
    "\u{200b}",
    "\u{200d}",
    "\u{202e}",
    "\u{600}",
    "\r\n",
    ". ",
    "https://example.com",
    "0123456789012345678901234567890123456789",
];

fn answers() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat())
}

fn styles() -> impl Strategy<Value = Style> {
    let markup = prop_oneof![3 => Just(Markup::Html), 1 => Just(Markup::Plain)];
    let unit = prop_oneof![Just(Unit::Utf16), Just(Unit::Chars), Just(Unit::Bytes)];
    let max = prop_oneof![4_usize..100, Just(4096_usize)];
    (markup, unit, max).prop_map(|(markup, unit, max)| Style { markup, unit, max })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_answers_keep_all_laws(markdown in answers(), style in styles()) {
        check(&markdown, &style);
    }
}
