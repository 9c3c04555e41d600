//! The limits of the HTML of a part, beside that of its text.

use toolkit_channel::text::{
    MAX_HTML_BYTES, MAX_HTML_ELEMENTS, MAX_HTML_TAG_BYTES, Markup, Part, Style, Unit, split,
};

use super::html::{Parsed, parse};

fn parts(markdown: &str, max: usize) -> Vec<(Part, Parsed)> {
    let parts = split(markdown, &Style { markup: Markup::Html, unit: Unit::Utf16, max });
    let parsed = |part: Part| {
        let parsed = parse(part.markup.as_deref().expect("is HTML")).expect("is good");
        (part, parsed)
    };
    parts.into_iter().map(parsed).collect()
}

#[test]
fn a_part_has_as_many_elements_as_the_limit() {
    let parts = parts(&"**a** b ".repeat(MAX_HTML_ELEMENTS + 1), 4096);
    let counts: Vec<_> = parts.iter().map(|(_, parsed)| parsed.elements).collect();
    assert_eq!(counts, [MAX_HTML_ELEMENTS, 1]);
}

#[test]
fn a_part_has_as_many_bytes_of_tags_as_the_limit() {
    let link = format!("[a](https://b.c/{}) ", "d".repeat(985));
    let bytes = "<a href=\"https://b.c/\"></a>".len() + 985;
    let parts = parts(&link.repeat(10), 4096);
    let counts: Vec<_> = parts.iter().map(|(_, parsed)| parsed.tag_bytes / bytes).collect();
    assert_eq!(counts, [MAX_HTML_TAG_BYTES / bytes, 10 - MAX_HTML_TAG_BYTES / bytes]);
}

#[test]
fn a_part_has_as_many_bytes_as_the_limit() {
    let parts = parts(&"&".repeat(10_000), 1 << 20);
    let lengths: Vec<_> = parts.iter().map(|(part, _)| part.plain.len()).collect();
    assert_eq!(lengths, [MAX_HTML_BYTES / 5, 10_000 - MAX_HTML_BYTES / 5]);
}

#[test]
fn the_longest_destinations_fit() {
    // Fixed tags and two links of the longest kind are in one part: no part goes out without markup.
    let link = format!("[a](https://b.c/{}) ", "&".repeat(406));
    for (part, parsed) in parts(&format!("> **{}**", link.repeat(20).trim_end()), 20) {
        assert_eq!(parsed.text, part.plain);
        assert!(parsed.looks[0].iter().any(|look| look.starts_with("a https://")), "{:?}", parsed.looks);
    }
}
