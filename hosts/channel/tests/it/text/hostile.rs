//! Answers that are made to cost much. A step that is quadratic or recursive takes minutes here, or overflows the stack.

use toolkit_channel::text::{MAX_MARKDOWN, Markup, Style, Unit, is_blank, plain, split};

use super::laws::check;

const TELEGRAM: Style = Style { markup: Markup::Html, unit: Unit::Utf16, max: 4096 };

fn nested(count: usize) -> Vec<String> {
    let mut deep_list = String::new();
    for depth in 0..count.min(500) {
        deep_list.push_str(&" ".repeat(2 * depth));
        deep_list.push_str("- a\n");
    }
    vec![
        format!("{}a", "> ".repeat(count)),
        format!("{}a", ">".repeat(count)),
        format!("{}a", "- ".repeat(count)),
        format!("{}a", "1. ".repeat(count)),
        deep_list,
        format!("{}a", "[".repeat(count)),
        format!("{}a{}", "[".repeat(count), "](https://a.b)".repeat(count)),
        format!("{}a{}", "![".repeat(count), "](https://a.b)".repeat(count)),
        format!("{}a{}", "*".repeat(count), "*".repeat(count)),
        format!("{}a{}", "**a ".repeat(count), " b**".repeat(count)),
        format!("{}a{}", "*a **a ".repeat(count), " b** b*".repeat(count)),
        "*a_ ".repeat(count),
        format!("{}a", "~~a *b ".repeat(count)),
        "`a``b```".repeat(count),
        "<a ".repeat(count),
        "<!-- ".repeat(count),
        "&amp".repeat(count),
        "[a][".repeat(count),
        "[^a]: ".repeat(count),
        "a\n=\n".repeat(count),
        format!("{}\n", "|a".repeat(count)) + &"|-".repeat(count) + "\n" + &"|b\n".repeat(count),
        "```\n".repeat(count),
        "\\".repeat(count),
        format!("[a]: https://a.b/{}\n\n{}", "c".repeat(count), "[a] ".repeat(count)),
    ]
}

#[test]
fn deep_nesting_keeps_all_laws() {
    for markdown in nested(10_000) {
        check(&markdown, &TELEGRAM);
    }
}

#[test]
fn a_mebibyte_is_split() {
    is_split("word ", MAX_MARKDOWN);
}

#[test]
fn many_short_elements_are_split() {
    let families = [
        "a\n",
        "**a** ",
        "> a\n",
        "- a\n",
        " ",
        "\n",
        "&#8203;",
        "[a](https://example.com/a) ",
        "| a | b ",
        "1. ",
        "漢字。",
        "`a` ",
        "<b>",
        "[",
        "*a_ ",
    ];
    for family in families {
        is_split(family, 1 << 16);
    }
}

fn is_split(family: &str, size: usize) {
    let markdown = family.repeat(size / family.len());
    let parts = split(&markdown, &TELEGRAM);
    let is_visible = plain(&markdown, Markup::Html).chars().any(|c| !is_blank(c));
    assert_eq!(parts.is_empty(), !is_visible, "{family:?}");
    let longest = parts.iter().map(|part| Unit::Utf16.count(&part.plain)).max();
    assert!(longest.is_none_or(|longest| longest <= TELEGRAM.max), "{family:?} {longest:?}");
}

#[test]
fn a_cluster_of_100_000_characters_is_split() {
    const COUNT: usize = 100_000;
    let markdown = format!("e{}", "\u{301}".repeat(COUNT - 1));
    let parts = split(&markdown, &Style { max: 20, ..TELEGRAM });
    assert_eq!(parts.len(), COUNT.div_ceil(20));
    assert!(parts.iter().all(|part| part.markup.as_ref() == Some(&part.plain)));
}

#[test]
fn an_answer_that_is_too_long_is_text() {
    let markdown = format!("{}**a** [b](https://c.d)", " \n".repeat(MAX_MARKDOWN / 2));
    let parts = split(&markdown, &TELEGRAM);
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].plain, "**a** [b](https://c.d)");
    assert_eq!(parts[0].markup.as_ref(), Some(&parts[0].plain));
    let longest = &markdown[markdown.len() - MAX_MARKDOWN..];
    assert_eq!(split(longest, &TELEGRAM)[0].plain, "a b");
}
