//! Answers that are made to cost much. A step that is quadratic or recursive takes minutes here, or overflows the stack.

use toolkit_channel::text::{MAX_MARKDOWN, Markup, Style, Unit, plain, split};

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
        check(&markdown, &Style { markup: Markup::Plain, ..TELEGRAM });
    }
}

#[test]
fn a_mebibyte_is_split() {
    let families = [
        "word ",
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
        let markdown = family.repeat(MAX_MARKDOWN / family.len());
        let parts = split(&markdown, &TELEGRAM);
        let visible = plain(&markdown, Markup::Html).chars().any(|c| !toolkit_channel::text::is_blank(c));
        assert_eq!(parts.is_empty(), !visible, "{family:?}");
        let longest = parts.iter().map(|part| Unit::Utf16.count(&part.plain)).max();
        assert!(longest.is_none_or(|longest| longest <= TELEGRAM.max), "{family:?} {longest:?}");
    }
}

#[test]
fn a_cluster_of_a_mebibyte_is_split() {
    let markdown = format!("e{}", "\u{301}".repeat(MAX_MARKDOWN / 2 - 1));
    let parts = split(&markdown, &Style { max: 20, ..TELEGRAM });
    assert_eq!(parts.len(), (MAX_MARKDOWN / 2).div_ceil(20));
    assert!(parts.iter().all(|part| part.markup.as_ref() == Some(&part.plain)));
}

#[test]
fn an_answer_that_is_too_long_is_text() {
    let markdown = "**a** [b](https://c.d) ".repeat(MAX_MARKDOWN / 10);
    assert!(plain(&markdown, Markup::Html).starts_with("**a** [b](https://c.d) "));
    let parts = split(&markdown, &TELEGRAM);
    assert_eq!(parts[0].markup.as_ref(), Some(&parts[0].plain));
    let short = &markdown[..MAX_MARKDOWN];
    assert!(plain(short, Markup::Html).starts_with("a b a b "));
}
