//! Where an answer is cut, and the markup there.

use toolkit_channel::text::{Markup, Style, Unit, split};

fn cut(markdown: &str, max: usize) -> Vec<String> {
    let parts = split(markdown, &Style { markup: Markup::Html, unit: Unit::Utf16, max });
    parts.into_iter().map(|part| part.markup.expect("is HTML")).collect()
}

#[test]
fn paragraphs_are_better_than_lines_than_sentences_than_words() {
    assert_eq!(cut("aaaa bbb.\n\ncccc\ndd. ee fff", 24), ["aaaa bbb.", "cccc\ndd. ee fff"]);
    assert_eq!(cut("aaaa bbb. cccc\ndd. ee fff", 24), ["aaaa bbb. cccc", "dd. ee fff"]);
    assert_eq!(cut("aaaa bbb. cccc dd. ee fff", 24), ["aaaa bbb. cccc dd.", "ee fff"]);
    assert_eq!(cut("aaaa bbbb cccc dddd eeee fff", 24), ["aaaa bbbb cccc dddd eeee", "fff"]);
    assert_eq!(cut("aaaaaaaaaaaaaaaaaaaaaaaaaaaa", 24), ["aaaaaaaaaaaaaaaaaaaaaaaa", "aaaa"]);
}

#[test]
fn a_better_place_that_leaves_a_part_too_empty_is_not_taken() {
    assert_eq!(cut("a\n\nbbbb cccc dddd eeee ffff", 20), ["a\n\nbbbb cccc dddd", "eeee ffff"]);
    assert_eq!(cut("aaa. bbbb cccc dddd eeee", 20), ["aaa. bbbb cccc dddd", "eeee"]);
}

#[test]
fn a_part_may_be_as_long_as_the_limit() {
    assert_eq!(cut("aaaa bbbb cc", 12), ["aaaa bbbb cc"]);
    assert_eq!(cut("aaaa bbbb cc dd", 12), ["aaaa bbbb cc", "dd"]);
    assert_eq!(cut("aaaa bbbb ccc", 12), ["aaaa bbbb", "ccc"]);
}

#[test]
fn sentences_in_quotation_marks_end_there() {
    assert_eq!(cut("He said \"yes.\" Then he went", 24), ["He said &quot;yes.&quot;", "Then he went"]);
    assert_eq!(cut("这是第一句。这是第二句！这是三", 13), ["这是第一句。这是第二句！", "这是三"]);
    assert_eq!(cut("他说：「你好吧！」然后走了吗", 12), ["他说：「你好吧！」", "然后走了吗"]);
    assert_eq!(cut("第一，第二，第三，第四", 8), ["第一，第二，", "第三，第四"]);
}

#[test]
fn open_elements_are_closed_and_opened_again() {
    assert_eq!(cut("**aaaa *bbbb cccc* dddd**", 12), ["<b>aaaa <i>bbbb</i></b>", "<b><i>cccc</i> dddd</b>"]);
    assert_eq!(
        cut("> aaaa bbbb cccc", 12),
        ["<blockquote>aaaa bbbb</blockquote>", "<blockquote>cccc</blockquote>"]
    );
    assert_eq!(cut("**aaaa bbbb** cccc", 12), ["<b>aaaa bbbb</b>", "cccc"]);
    assert_eq!(cut("aaaa bbbb **cccc**", 12), ["aaaa bbbb", "<b>cccc</b>"]);
}

#[test]
fn code_blocks_are_opened_again_with_their_language() {
    assert_eq!(
        cut("```rust\nlet a = 1;\n    let b;\n```", 16),
        [
            "<pre><code class=\"language-rust\">let a = 1;</code></pre>",
            "<pre><code class=\"language-rust\">    let b;</code></pre>"
        ]
    );
    assert_eq!(cut("```\naaaa\n\n\n  bbbb cccc\n```", 12), ["<pre>aaaa</pre>", "<pre>  bbbb cccc</pre>"]);
    assert_eq!(cut("```\naaaa bbbb cccc\n```\ndd", 12), ["<pre>aaaa bbbb</pre>", "<pre>cccc</pre>\n\ndd"]);
}

#[test]
fn deep_indentation_of_a_first_line_is_left_out() {
    assert_eq!(
        cut("```\naaaa bbbb cc\n          dddd\n```", 12),
        ["<pre>aaaa bbbb cc</pre>", "<pre>dddd</pre>"]
    );
}

#[test]
fn a_link_moves_to_the_next_part_or_is_repeated() {
    assert_eq!(cut("aaaa bbbb [cc dd](http://e)", 12), ["aaaa bbbb", "<a href=\"http://e\">cc dd</a>"]);
    assert_eq!(
        cut("[aaaa bbbb cccc](http://e)", 12),
        ["<a href=\"http://e\">aaaa bbbb</a>", "<a href=\"http://e\">cccc</a>"]
    );
    assert_eq!(cut("aaaa `bb cc dd` ee", 12), ["aaaa", "<code>bb cc dd</code> ee"]);
}

#[test]
fn a_cluster_is_cut_only_if_it_is_longer_than_a_part() {
    let family = "👨‍👩‍👧‍👦";
    assert_eq!(Unit::Utf16.count(family), 11);
    assert_eq!(cut(&family.repeat(3), 24), [family.repeat(2), family.to_owned()]);
    assert_eq!(cut(family, 11), [family]);
    assert_eq!(cut(family, 6), ["👨\u{200d}👩\u{200d}", "👧\u{200d}👦"]);
    assert_eq!(cut("🇩🇪🇫🇷🇮🇹", 7), ["🇩🇪", "🇫🇷", "🇮🇹"]);
    assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 5), ["e\u{301}e\u{301}", "e\u{301}"]);
}

#[test]
fn the_unit_decides_how_much_fits() {
    let count = |unit| split(&"é漢🍎".repeat(8), &Style { markup: Markup::Plain, unit, max: 24 }).len();
    assert_eq!((count(Unit::Chars), count(Unit::Utf16), count(Unit::Bytes)), (1, 2, 4));
}

#[test]
fn a_limit_below_four_is_four() {
    let parts = split("abcdefgh", &Style { markup: Markup::Plain, unit: Unit::Utf16, max: 0 });
    let texts: Vec<_> = parts.iter().map(|part| part.plain.as_str()).collect();
    assert_eq!(texts, ["abcd", "efgh"]);
}

#[test]
fn an_answer_that_nobody_sees_has_no_parts() {
    for markdown in ["", " \n\n ", "\u{200b}", "&nbsp;&#8203;", "```\n\n```", "\u{2800}\u{3164}"] {
        assert_eq!(cut(markdown, 20), [""; 0], "{markdown:?}");
    }
    assert_eq!(cut(&format!("aaaa {}bbbb", "\u{200b} ".repeat(60)), 20).len(), 2);
}
