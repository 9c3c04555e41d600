//! Laws that hold for all answers, limits and forms.

use std::collections::BTreeSet;
use std::fmt;

use toolkit_channel::text::{
    MAX_HTML_BYTES, MAX_HTML_ELEMENTS, MAX_HTML_TAG_BYTES, Markup, Part, Style, Unit, is_blank, plain, split,
};
use unicode_segmentation::UnicodeSegmentation;

use super::cases::CASES;
use super::families::families;
use super::html::{Parsed, parse};

/// The limits of all tests: some that cut within nearly everything, one in between, and Telegram's.
const LIMITS: [usize; 8] = [4, 20, 25, 33, 48, 64, 300, 4096];

/// A limit that nothing here reaches.
const MAX_WHOLE: usize = 1 << 24;

/// The subject of a failure. It is written only then, since that takes longer than the check.
#[derive(Clone, Copy)]
struct Context<'a> {
    markdown: &'a str,
    style: &'a Style,
    parts: &'a [Part],
}

impl fmt::Display for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}\n{:?}\n{:#?}", self.style, self.markdown, self.parts)
    }
}

/// Checks that the parts of an answer keep all laws.
pub(super) fn check(markdown: &str, style: &Style) {
    let whole = plain(markdown, style.markup);
    let parts = split(markdown, style);
    let context = Context { markdown, style, parts: &parts };
    let starts = places(&whole, &parts).unwrap_or_else(|error| panic!("{error}: {context}"));
    for part in &parts {
        assert!(style.unit.count(&part.plain) <= style.max, "{:?} is too long: {context}", part.plain);
        assert!(!part.plain.chars().all(is_blank), "an empty part: {context}");
        let last = part.plain.graphemes(true).next_back().unwrap_or_default();
        assert!(!last.chars().all(char::is_whitespace), "{:?} ends in white space: {context}", part.plain);
    }
    clusters_are_whole(&whole, &parts, &starts, style, context);
    match style.markup {
        Markup::Html => {
            let parsed: Vec<Parsed> = parts.iter().map(|part| parsed(part, context)).collect();
            let reference = split(markdown, &Style { max: MAX_WHOLE, ..*style });
            let reference: Vec<Parsed> = reference.iter().map(|part| self::parsed(part, context)).collect();
            let (left, right) = (visible(&parsed), visible(&reference));
            let different = left.iter().zip(&right).find(|(left, right)| left != right);
            assert_eq!(different, None, "the looks differ: {context}");
            assert_eq!(left.len(), right.len(), "the lengths differ: {context}");
        }
        _ => assert!(parts.iter().all(|part| part.markup.is_none()), "{context}"),
    }
}

/// Returns where each part begins in the whole text, of which nothing but white space and invisible characters is in no part.
fn places(whole: &str, parts: &[Part]) -> Result<Vec<usize>, String> {
    let mut places = Vec::new();
    let mut place = 0;
    for part in parts {
        let start =
            whole[place..].find(&part.plain).ok_or_else(|| format!("{:?} is not in the text", part.plain))?;
        gap(&whole[place..place + start])?;
        places.push(place + start);
        place += start + part.plain.len();
    }
    gap(&whole[place..])?;
    Ok(places)
}

fn gap(text: &str) -> Result<(), String> {
    if text.chars().all(is_blank) { Ok(()) } else { Err(format!("{text:?} is in no part")) }
}

/// A part begins and ends between grapheme clusters, unless the cluster is longer than a part.
fn clusters_are_whole(whole: &str, parts: &[Part], starts: &[usize], style: &Style, context: Context<'_>) {
    let clusters: Vec<(usize, &str)> = whole.grapheme_indices(true).collect();
    let mut borders: BTreeSet<usize> = clusters.iter().map(|(start, _)| *start).collect();
    borders.insert(whole.len());
    for (start, cluster) in clusters {
        if style.unit.count(cluster) > style.max {
            borders.extend(cluster.char_indices().map(|(index, _)| start + index));
        }
    }
    for (part, start) in parts.iter().zip(starts) {
        assert!(borders.contains(start), "{:?} begins within a cluster: {context}", part.plain);
        assert!(
            borders.contains(&(start + part.plain.len())),
            "{:?} ends within a cluster: {context}",
            part.plain
        );
    }
}

fn parsed(part: &Part, context: Context<'_>) -> Parsed {
    let html = part.markup.as_deref().unwrap_or_else(|| panic!("{:?} has no markup: {context}", part.plain));
    let parsed = parse(html).unwrap_or_else(|error| panic!("{error} in {html}: {context}"));
    assert_eq!(parsed.text, part.plain, "the text of {html}: {context}");
    assert!(html.len() <= MAX_HTML_BYTES, "{} bytes: {context}", html.len());
    assert!(parsed.tag_bytes <= MAX_HTML_TAG_BYTES, "{} bytes of tags: {context}", parsed.tag_bytes);
    assert!(parsed.elements <= MAX_HTML_ELEMENTS, "{} elements: {context}", parsed.elements);
    parsed
}

/// The visible characters of parts, with the elements that each is in.
fn visible(parts: &[Parsed]) -> Vec<(char, &[String])> {
    let all = parts.iter().flat_map(|part| part.text.chars().zip(part.looks.iter().map(Vec::as_slice)));
    all.filter(|(character, _)| !is_blank(*character)).collect()
}

/// Checks an answer with all limits and forms.
fn check_all(markdown: &str) {
    for max in LIMITS {
        for markup in [Markup::Html, Markup::Plain] {
            for unit in [Unit::Utf16, Unit::Chars, Unit::Bytes] {
                check(markdown, &Style { markup, unit, max });
            }
        }
    }
}

#[test]
fn hand_written_answers_keep_all_laws() {
    assert!(CASES.len() >= 150, "{} answers", CASES.len());
    for markdown in CASES {
        check_all(markdown);
    }
}

#[test]
fn generated_answers_keep_all_laws() {
    for markdown in families() {
        for max in [20, 4096] {
            check(&markdown, &Style { markup: Markup::Html, unit: Unit::Utf16, max });
            check(&markdown, &Style { markup: Markup::Plain, unit: Unit::Bytes, max });
        }
    }
}

#[test]
fn all_answers_as_one_keep_all_laws() {
    check_all(&CASES.join("\n\n"));
}

#[test]
fn an_answer_that_fits_is_one_part() {
    for markdown in CASES {
        for markup in [Markup::Html, Markup::Plain] {
            let whole = plain(markdown, markup);
            let parts = split(markdown, &Style { markup, unit: Unit::Utf16, max: 4096 });
            let visible = whole.chars().any(|character| !is_blank(character));
            assert_eq!(parts.len(), usize::from(visible), "{markdown:?}: {parts:#?}");
        }
    }
}

#[test]
fn both_markups_divide_a_text_alike() {
    // None of these shows a link or a quote, so both markups have the same text.
    for markdown in [
        "**one two** three *four* five `six seven` eight",
        "# Head\n\n- one two three\n- four five six",
        "a\n\nb",
    ] {
        for max in LIMITS {
            let texts = |markup| {
                let parts = split(markdown, &Style { markup, unit: Unit::Utf16, max });
                parts.into_iter().map(|part| part.plain).collect::<Vec<_>>()
            };
            assert_eq!(texts(Markup::Html), texts(Markup::Plain), "{markdown:?} {max}");
        }
    }
}
