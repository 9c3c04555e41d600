//! The main content of pages: all of what is wanted, little of what is around it, no script, no lost code.

use super::pages::{letters, pages};
use builtin_tools::web::extract_page;

#[test]
fn pages_of_every_kind() {
    let pages = pages();
    assert!(pages.len() >= 60, "{}", pages.len());
    let (mut recall, mut precision, mut faults) = (0.0, 0.0, Vec::new());
    for page in &pages {
        let extracted = extract_page(&page.html, "https://example.com/page");
        let score = page.score(&extracted.text);
        recall += score.recall;
        precision += score.precision;
        if score.f1() < 0.8 {
            faults.push(format!("{}: {score:?}", page.name));
        }
        assert!(extracted.title.is_some(), "{}", page.name);
        let found = letters(&extracted.text);
        assert!(!found.contains("scriptedtext"), "{}: {}", page.name, extracted.text);
        for code in &page.code {
            assert!(extracted.text.contains(code), "{}: lost {code}\n{}", page.name, extracted.text);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let count = f64::from(u32::try_from(pages.len()).unwrap());
    assert!(recall / count > 0.99 && precision / count > 0.97, "{} {}", recall / count, precision / count);
}

#[test]
fn code_keeps_its_lines_and_its_language() {
    for (html, expected) in [
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("<pre><code class='language-js'>a</code></pre>", "```js\na\n```"),
        ("<div class='highlight-source-rust'><pre>a</pre></div>", "```rust\na\n```"),
        ("<pre class='brush: python;'>a</pre>", "```python\na\n```"),
        ("<pre>a<br>b<br/>c</pre>", "```\na\nb\nc\n```"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
        ("<pre><span class='ln'>1</span><span class='k'>let</span> x &lt; y</pre>", "```\nlet x < y\n```"),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````"),
        ("<pre>a\n\n\n\nb   \nc</pre>", "```\na\n\n\n\nb   \nc\n```"),
    ] {
        let page =
            format!("<main><p>Some text before the code.</p>{html}<p>Some text after the code.</p></main>");
        let text = extract_page(&page, "https://example.com/").text;
        assert!(text.contains(expected), "{html}:\n{text}");
    }
}

#[test]
fn links_are_whole() {
    let html = "<base href='/docs/'><main><p>See <a href='a?b=c&amp;d'>a</a>, <a href='//other.example/x'>other</a>, \
                <a href='#part'>part</a>, <a href='javascript:x()'>script</a> and <img src='i.png' alt='picture'>.</p></main>";
    let text = extract_page(html, "https://example.com/page").text;
    assert!(text.contains("[a](https://example.com/docs/a?b=c&d)"), "{text}");
    assert!(text.contains("[other](https://other.example/x)"), "{text}");
    assert!(text.contains("https://example.com/docs/i.png"), "{text}");
    assert!(!text.contains("javascript") && !text.contains("#part"), "{text}");
}

#[test]
fn what_is_hidden_is_left_out() {
    let html = "<main><p>Shown to everybody who reads.</p><p hidden>secret one</p><p style='display:none'>secret two</p>\
                <template><p>secret three</p></template><noscript>secret four</noscript><!-- secret five --></main>";
    let text = extract_page(html, "https://example.com/").text;
    assert!(text.contains("Shown to everybody") && !text.contains("secret"), "{text}");
}

#[test]
fn pages_that_mean_harm() {
    let deep = format!("<p>text</p>{}text{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
    let lists = format!("<p>text</p>{}", "<ul><li>".repeat(50_000));
    let tables = "<table><tr><td>".repeat(20_000);
    let many = "<p>text</p>".repeat(100_000);
    let bold = "<b><i>text".repeat(5_000);
    let links = "<a href=x>text</a>".repeat(30_000);
    // Each paragraph repeats all formatting that is open.
    let formatting: Vec<String> = (0..3_000).map(|number| format!("<b a={number}>")).collect();
    let formatting = format!("<p>text{}{}", formatting.concat(), "<p>x".repeat(3_000));
    let open = "<".repeat(1_000_000);
    let attributes = format!("<p {}>text</p>", "a=b ".repeat(100_000));
    for html in [&deep, &lists, &tables, &many, &bold, &links, &formatting, &open, &attributes] {
        let text = extract_page(html, "https://example.com/").text;
        assert!(
            text.contains("text")
                || html.len() < 400_000
                || html.starts_with("<<")
                || html.starts_with("<table"),
            "{}",
            &html[..20]
        );
    }
    for html in ["", "\0", "<", "<!--", "<p", "&#x110000;", "<title>", "<![CDATA["] {
        let _ = extract_page(html, "https://example.com/");
        let _ = extract_page(html, "not a url");
    }
}
