//! How each kind of Markdown is shown.

use toolkit_channel::text::{Markup, Style, Unit, plain, split};

fn html(markdown: &str) -> String {
    let parts = split(markdown, &Style { markup: Markup::Html, unit: Unit::Utf16, max: 1 << 20 });
    let [part] = parts.as_slice() else { panic!("{parts:#?}") };
    part.markup.clone().expect("is HTML")
}

fn shows(cases: &[(&str, &str)]) {
    for (markdown, expected) in cases {
        assert_eq!(html(markdown), *expected, "{markdown:?}");
    }
}

fn shows_plain(cases: &[(&str, &str)]) {
    for (markdown, expected) in cases {
        assert_eq!(plain(markdown, Markup::Plain), *expected, "{markdown:?}");
    }
}

#[test]
fn styles_are_elements() {
    shows(&[
        ("a **b** *c* ~~d~~ `e`", "a <b>b</b> <i>c</i> <s>d</s> <code>e</code>"),
        ("**a *b* c**", "<b>a <i>b</i> c</b>"),
        ("***a** b*", "<b><i>a</i></b><i> b</i>"),
        ("**a **b** c**", "<b>a b c</b>"),
        ("a\nb  \nc", "a\nb\nc"),
        ("**a `b` c**", "<b>a </b><code>b</code><b> c</b>"),
        ("a\n\nb", "a\n\nb"),
    ]);
}

#[test]
fn headings_are_bold_lines() {
    shows(&[
        ("# A\nb", "<b>A</b>\n\nb"),
        ("a\n\n### B **c** *d*\n\ne", "a\n\n<b>B c <i>d</i></b>\n\ne"),
        ("# A `b`", "<b>A </b><code>b</code>"),
        ("a\n\n---\n\nb", "a\n\n----------\n\nb"),
    ]);
}

#[test]
fn lists_have_bullets_numbers_and_boxes() {
    shows(&[
        ("- a\n- b\n  - c\n    - d\n- e", "• a\n• b\n  ◦ c\n    ▪ d\n• e"),
        ("3. a\n4. b\n   - c\n\n   text\n5. d", "3. a\n\n4. b\n\n   ◦ c\n   text\n\n5. d"),
        ("- a\n\n  b\n- c", "• a\n\n  b\n\n• c"),
        ("- [ ] a\n- [x] b\n1. [x] c", "☐ a\n☑ b\n\n1. ☑ c"),
        ("- a\nb\n\nc", "• a\n  b\n\nc"),
        ("-\n- a", "• \n• a"),
        ("- - a", "• \n  ◦ a"),
        ("- ```\n  x\n  ```\n- b", "• \n<pre>x</pre>\n\n• b"),
        ("text\n- a", "text\n\n• a"),
    ]);
}

#[test]
fn quotes_are_elements_and_inner_quotes_are_marked() {
    shows(&[
        ("> a\n> b\n\nc", "<blockquote>a\nb</blockquote>\n\nc"),
        ("> a\n>\n> b", "<blockquote>a\n\nb</blockquote>"),
        ("> a\n>> b\n>> c\n>\n> d", "<blockquote>a\n\n&gt; b\n&gt; c\n\nd</blockquote>"),
        ("> a\n\n> b", "<blockquote>a</blockquote>\n\n<blockquote>b</blockquote>"),
        ("> - a\n> - b", "<blockquote>• a\n• b</blockquote>"),
        ("> ```\n> a\n> ```\n> **b**", "<blockquote><pre>a</pre>\n\n<b>b</b></blockquote>"),
        ("- > a", "• \n<blockquote>  a</blockquote>"),
    ]);
    shows_plain(&[
        ("> a\n> b\n\nc", "> a\n> b\n\nc"),
        ("> a\n>> b", "> a\n\n> > b"),
        ("> ```\n> a\n> b\n> ```", "> a\n> b"),
    ]);
}

#[test]
fn code_blocks_keep_their_language() {
    shows(&[
        (
            "```rust\nlet a = \"<&>\";\n```",
            "<pre><code class=\"language-rust\">let a = &quot;&lt;&amp;&gt;&quot;;</code></pre>",
        ),
        ("```c++\na\n```\nb", "<pre><code class=\"language-c++\">a</code></pre>\n\nb"),
        ("```rust,ignore\na\n```", "<pre><code class=\"language-rust\">a</code></pre>"),
        ("```\"><b>\na\n```", "<pre>a</pre>"),
        ("```\na\n\n  b\n```", "<pre>a\n\n  b</pre>"),
        ("    a\n      b", "<pre>a\n  b</pre>"),
        ("a\n```\nb", "a\n\n<pre>b</pre>"),
        ("```\na\n```\n```\nb\n```", "<pre>a</pre>\n\n<pre>b</pre>"),
        ("```go\n\tx\n```", "<pre><code class=\"language-go\">    x</code></pre>"),
        ("a\n\n```\n```\n\nb", "a\n\nb"),
    ]);
    shows_plain(&[("```rust\na\n  b\n```\nc", "a\n  b\n\nc"), ("`a` b", "a b")]);
}

#[test]
fn tables_are_aligned() {
    let table = "| Name | Age | C |\n|:--|--:|:-:|\n| Al | 3 | x |\n| Robert | 42 | yyy |\n| | 1 |";
    let text = "Name   | Age |  C\n-------+-----+----\nAl     |   3 |  x\nRobert |  42 | yyy\n       |   1";
    assert_eq!(plain(table, Markup::Plain), text);
    shows(&[
        ("| a |\n|---|\n| **b** `c` & d |", "<pre>a\n-------\nb c &amp; d</pre>"),
        ("| 名前 | b |\n|---|---|\n| a | c |", "<pre>名前 | b\n-----+--\na    | c</pre>"),
        (
            "| a | b |\n|-|-|\n| [x](https://y.z) | [https://y.z](https://y.z) |",
            "<pre>a               | b\n----------------+------------\nx (https://y.z) | https://y.z</pre>",
        ),
        ("x\n\n| a |\n|---|\n\ny", "x\n\n<pre>a\n-</pre>\n\ny"),
    ]);
}

#[test]
fn a_long_cell_widens_no_other_row() {
    let markdown = format!("| a | b |\n|---|---|\n| {} | c |\n| d | e |", "x".repeat(500));
    let text = plain(&markdown, Markup::Html);
    assert!(text.ends_with(&format!("{} | c\nd{} | e", "x".repeat(500), " ".repeat(31))), "{text}");
}

#[test]
fn links_have_safe_destinations_or_are_text() {
    shows(&[
        ("[a](https://b.c/?d=1&e=\"2\")", "<a href=\"https://b.c/?d=1&amp;e=&quot;2&quot;\">a</a>"),
        ("[a](https://b.c/d_(e)) f", "<a href=\"https://b.c/d_(e)\">a</a> f"),
        ("**[a](http://b)**", "<a href=\"http://b\"><b>a</b></a>"),
        ("[`a` **b**](http://b)", "<a href=\"http://b\">a <b>b</b></a>"),
        (
            "<https://b.c> <d@e.f>",
            "<a href=\"https://b.c\">https://b.c</a> <a href=\"mailto:d@e.f\">d@e.f</a>",
        ),
        (
            "[a](tg://user?id=1) [b](MAILTO:c@d)",
            "<a href=\"tg://user?id=1\">a</a> <a href=\"MAILTO:c@d\">b</a>",
        ),
        ("[a](javascript:b) [c](data:d)", "a (javascript:b) c (data:d)"),
        ("[a](/etc/b) [c.rs](c.rs) [d]()", "a (/etc/b) c.rs d"),
        ("[a](http://) [b](https:c) [d](tg:e)", "a (http://) b (https:c) d (tg:e)"),
        ("[a](<https://b.c/d e>)", "a (https://b.c/d e)"),
        ("[](https://b.c)", "<a href=\"https://b.c\">https://b.c</a>"),
        (
            "![a](https://b.c) ![](https://d.e) ![f](g.png)",
            "<a href=\"https://b.c\">a</a> <a href=\"https://d.e\">https://d.e</a> f (g.png)",
        ),
        ("[![a](https://b.c)](https://d.e)", "<a href=\"https://d.e\">a</a>"),
        ("[a](http://x)[b](http://x)", "<a href=\"http://x\">a</a><a href=\"http://x\">b</a>"),
        ("[a][r]\n\n[r]: https://b.c", "<a href=\"https://b.c\">a</a>"),
    ]);
    shows_plain(&[
        ("[a](https://b.c) <https://d.e> <f@g.h>", "a (https://b.c) https://d.e f@g.h"),
        ("![a](https://b.c) [](https://d.e)", "a (https://b.c) https://d.e"),
        ("[![a](https://b.c)](https://d.e)", "a (https://d.e)"),
    ]);
}

#[test]
fn a_long_destination_is_text() {
    let of = |length: usize| format!("https://a.b/{}", "c".repeat(length - "https://a.b/".len()));
    assert!(html(&format!("[a]({})", of(2048))).starts_with("<a href="));
    assert_eq!(html(&format!("[a]({})", of(2049))), format!("a ({})", of(2049)));
    let escaped = format!("https://a.b/{}", "&".repeat(500));
    assert!(html(&format!("[a]({escaped})")).starts_with("a (https://a.b/&amp;"));
}

#[test]
fn html_and_footnotes_are_text() {
    shows(&[
        ("<b>a</b> & <br>", "&lt;b&gt;a&lt;/b&gt; &amp; &lt;br&gt;"),
        ("<div>\n<p>a</p>\n</div>\n\nb", "&lt;div&gt;\n&lt;p&gt;a&lt;/p&gt;\n&lt;/div&gt;\n\nb"),
        ("&lt;b&gt; &amp;amp; &#65;", "&lt;b&gt; &amp;amp; A"),
        ("a[^1].\n\n[^1]: b", "a[1].\n\n[1]: b"),
    ]);
}

#[test]
fn control_characters_are_dropped() {
    assert_eq!(plain("a\u{7}b\u{1b}[0m\u{85}c\td\r\ne\u{2028}f", Markup::Html), "ab[0mc    d\ne\nf");
}
