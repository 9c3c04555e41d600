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

fn repeated(numbers: std::ops::Range<usize>, part: impl Fn(usize) -> String) -> String {
    numbers.map(part).collect::<Vec<_>>().concat()
}

#[test]
fn pages_without_names_lose_what_is_around_their_text() {
    let sentence = "The water rose for three days, and nobody in the village had seen it as high.";
    let text: String = repeated(0..8, |number| format!("<p>Part {number}. {sentence}</p>"));
    let links =
        |name: &str| repeated(0..5, |number| format!("<div><a href='/{number}'>{name} {number}</a></div>"));
    let foot = "<div><div>Published by the friends of the river, all rights reserved.</div><div><a href='/a'>Imprint of this site</a> \
                <a href='/b'>Privacy on this site</a></div></div>";
    let around = ["Menu 1", "Related story", "friends of the river", "Privacy"];
    for html in [
        format!(
            "<body><div>{}</div><div><h1>Floods</h1>{text}</div><div>{}</div>{foot}</body>",
            links("Menu"),
            links("Related story")
        ),
        format!(
            "<body><table><tr><td>{}</td><td><h1>Floods</h1>{text}</td><td>{}</td></tr><tr><td colspan=3>{foot}</td></tr></table></body>",
            links("Menu"),
            links("Related story")
        ),
        format!(
            "<body><div><div>{}</div><div><div><h1>Floods</h1><div>{text}</div></div><div>{}</div></div>{foot}</div></body>",
            links("Menu"),
            links("Related story")
        ),
    ] {
        let got = extract_page(&html, "https://example.com/page").text;
        assert_eq!(got.matches(sentence).count(), 8, "{html}\n{got}");
        assert!(!around.iter().any(|around| got.contains(around)), "{html}\n{got}");
    }
}

#[test]
fn text_beside_the_longest_part_stays() {
    let sentence = "The water rose for three days, and nobody in the village had seen it as high.";
    let long: String = repeated(0..4, |number| format!("<p>Part {number}. {sentence}</p>"));
    let linked = "<p>See the <a href='/a'>map of all gauges</a> and the <a href='/b'>table of the levels</a> for what is meant.</p>";
    let items: String =
        repeated(0..9, |number| format!("<div><a href='/{number}'>The title of story {number}</a></div>"));
    for (html, expected) in [
        // A question in front of its answers.
        (
            format!(
                "<body><div><div>How high was the water of the river at the old mill, who measured it, and how often?</div>{linked}</div><div>{long}</div></body>"
            ),
            "map of all gauges",
        ),
        // Posts of one series.
        (
            format!("<body><div class=post>{long}</div><div class=post>{linked}</div></body>"),
            "map of all gauges",
        ),
        (format!("<body><section>{long}</section><section>{linked}</section></body>"), "map of all gauges"),
        // Links that the page consists of.
        (format!("<body><div>{items}</div><p>All stories.</p></body>"), "The title of story 4"),
        // Elements that say what they are.
        (format!("<body><main>{long}<div>{items}</div></main></body>"), "The title of story 4"),
        // Code.
        (format!("<body><div>{long}</div><div>{linked}<pre>a < b</pre></div></body>"), "```\na < b\n```"),
    ] {
        let got = extract_page(&html, "https://example.com/page").text;
        assert!(got.contains(expected), "{html}\n{got}");
    }
}

/// Cards of other stories: a linked title and a short text each.
fn cards(class: &str, count: usize) -> String {
    repeated(0..count, |number| {
        format!(
            "<div class={class}><a href='/{number}'><img src='/{number}.jpg'></a><span>2026-11-{:02}</span>\
             <a href='/{number}'>How the bridge number {number} was built again</a><p>Another story, of bridge {number}.</p></div>",
            number + 10
        )
    })
}

#[test]
fn cards_beside_the_content_go() {
    let sentence = "The water rose for three days, and nobody in the village had seen it as high.";
    let text: String = repeated(0..5, |number| format!("<p>Part {number}. {sentence}</p>"));
    for html in [
        format!("<body><div><h1>Water</h1>{text}</div><div><h4>More</h4>{}</div></body>", cards("u", 2)),
        format!(
            "<body><div><div><h1>Water</h1>{text}</div><div><div>{}</div></div></div></body>",
            cards("u", 3)
        ),
        format!("<body><x-page><h1>Water</h1>{text}<x-more>{}</x-more></x-page></body>", cards("u", 2)),
    ] {
        let got = extract_page(&html, "https://example.com/page").text;
        assert_eq!(got.matches(sentence).count(), 5, "{html}\n{got}");
        assert!(!got.contains("Another story"), "{html}\n{got}");
    }
}

#[test]
fn cards_that_are_the_content_stay() {
    let sentence = "The water rose for three days, and nobody in the village had seen it as high.";
    let reply = |number: usize| {
        format!(
            "<div class=c><a href='/u/{number}'>reader-{number}</a><p>I saw it, too.</p><a href=#>Reply</a></div>"
        )
    };
    let replies: String = repeated(0..3, reply);
    for (html, expected) in [
        // A page of stories.
        (format!("<body><h1>Stories</h1><div>{}</div></body>", cards("u", 8)), "of bridge 7."),
        // Those that the page says are content.
        (format!("<body><main><p>{sentence}</p>{}</main></body>", cards("u", 2)), "of bridge 1."),
        // Replies begin with a name, not with a title.
        (
            format!(
                "<body><div><div class=first><p>{sentence} {sentence} {sentence}</p></div>{replies}</div></body>"
            ),
            "I saw it, too.",
        ),
    ] {
        let got = extract_page(&html, "https://example.com/page").text;
        assert!(got.contains(expected), "{html}\n{got}");
    }
}

#[test]
fn names_in_one_word_and_of_components_are_read() {
    let sentence = "The water rose for three days, and nobody in the village had seen it as high.";
    let text: String = repeated(0..5, |number| format!("<p>Part {number}. {sentence}</p>"));
    for around in [
        "<div id=siteBanner><p>Not the content.</p></div>",
        "<div class=skipToNav_fXgn><p>Not the content.</p></div>",
        "<amp-sidebar><p>Not the content.</p></amp-sidebar>",
        "<amp-ad><p>Not the content.</p></amp-ad>",
    ] {
        let html = format!("<body>{around}<div>{text}</div></body>");
        let got = extract_page(&html, "https://example.com/page").text;
        assert!(got.matches(sentence).count() == 5 && !got.contains("Not the content"), "{html}\n{got}");
    }
    // Parts of words are no words.
    let html = format!(
        "<body><div class='shadow broadcast thumbnail'>{text}</div><div class=navy><p>{sentence}</p></div></body>"
    );
    assert_eq!(extract_page(&html, "https://example.com/page").text.matches(sentence).count(), 6);
}

#[test]
fn the_end_of_a_page_goes() {
    let sentence = "The water rose for three days, and nobody in the village had seen it as high.";
    let text: String = repeated(0..3, |number| format!("<p>Part {number}. {sentence}</p>"));
    let links = "<a href=/1>Imprint</a> <a href=/2>Privacy</a> <a href=/3>Terms</a>";
    let end = format!("<div><div>We write about rivers since 1990, from here.</div>{links}</div>");
    let got = extract_page(&format!("<body><div>{text}</div>{end}</body>"), "https://example.com/page").text;
    assert!(got.matches(sentence).count() == 3 && !got.contains("since 1990"), "{got}");
    // The last sentences of a text stay.
    let last = format!("<p>See what the people of the town say themselves about it, one by one: {links}</p>");
    let got = extract_page(&format!("<body><div>{text}{last}</div></body>"), "https://example.com/page").text;
    assert!(got.contains("Imprint"), "{got}");
}

#[test]
fn code_stays_in_elements_with_names_of_menus() {
    let sentence = "The water rose for three days, and nobody in the village had seen it as high.";
    let text: String = repeated(0..8, |number| format!("<p>Part {number}. {sentence}</p>"));
    for (open, close) in [
        ("<div class='code-toolbar'>", "</div>"),
        ("<aside>", "</aside>"),
        ("<div class='promo'><div>", "</div></div>"),
    ] {
        let html = format!("<body><main>{text}{open}<pre>a &lt; b</pre>{close}{text}</main></body>");
        let got = extract_page(&html, "https://example.com/page").text;
        assert!(got.contains("```\na < b\n```"), "{got}");
    }
}

#[test]
fn code_in_a_layout_of_tables_is_unchanged() {
    let html = "<body><table><tr><td><a href='/a'>Menu</a></td><td>Some text before the code.<pre>a | b > c</pre>Some text after it.</td></tr></table></body>";
    let got = extract_page(html, "https://example.com/page").text;
    assert!(got.contains("```\na | b > c\n```"), "{got}");
}

#[test]
fn comments_are_left_out_of_pages_in_any_script() {
    // Chinese says in 160 characters as much as English in 500.
    for (sentence, count) in [
        ("水在三天里不断上涨，村里没有人见过这么高的水位。", 8),
        ("The water rose for three days, higher than anybody had seen it.", 9),
    ] {
        let text: String = repeated(0..count, |number| format!("<p>{number} {sentence}</p>"));
        let html = format!(
            "<body><div>{text}</div><div class='comments'><div class='comment-list'><p>Not main content.</p></div></div></body>"
        );
        let got = extract_page(&html, "https://example.com/page").text;
        assert!(got.contains(sentence) && !got.contains("Not main"), "{got}");
    }
}

#[test]
fn pages_that_mean_harm() {
    let deep = format!("<p>text</p>{}text{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
    let lists = format!("<p>text</p>{}", "<ul><li>".repeat(50_000));
    let tables = "<table><tr><td>".repeat(20_000);
    let many = "<p>text</p>".repeat(100_000);
    let bold = "<b><i>text".repeat(5_000);
    let links = "<a href=x>text</a>".repeat(10_000);
    // Each paragraph repeats all formatting that is open.
    let formatting: Vec<String> = (0..3_000).map(|number| format!("<b a={number}>")).collect();
    let formatting = format!("<p>text{}{}", formatting.concat(), "<p>x".repeat(3_000));
    let open = "<".repeat(200_000);
    let attributes = format!("<p {}>text</p>", "a=b ".repeat(100_000));
    let cards = format!(
        "{}{}",
        "<div>".repeat(150),
        "<div><a href=x>text text text text text</a><p>x</p></div>".repeat(2_000)
    );
    let buttons = format!("<p>text</p>{}{}", "<div>".repeat(150), "<button>x</button>".repeat(10_000));
    let pages =
        [&deep, &lists, &tables, &many, &bold, &links, &formatting, &open, &attributes, &cards, &buttons];
    std::thread::scope(|scope| {
        for html in pages {
            scope.spawn(move || {
                let text = extract_page(html, "https://example.com/").text;
                assert!(
                    text.contains("text")
                        || html.len() < 400_000
                        || html.starts_with("<<")
                        || html.starts_with("<table"),
                    "{}",
                    &html[..20]
                );
            });
        }
    });
    for html in ["", "\0", "<", "<!--", "<p", "&#x110000;", "<title>", "<![CDATA["] {
        let _ = extract_page(html, "https://example.com/");
        let _ = extract_page(html, "not a url");
    }
}
