//! Kinds of pages with code.

#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "pages are put together piece by piece"
)]

use super::Page;
use super::maker::{Maker, RELATED, footer};
use super::texts::Text;

const RUST: &str = "fn main() -> Result<(), Error> {\n    let pool = Pool::new(16)?;\n    for row in pool.get()?.query(\"SELECT 1 < 2\") {\n        println!(\"{row:?}\");\n    }\n    Ok(())\n}";
const SHELL: &str = "$ cargo run --release -- --size 16\nserver listens on 127.0.0.1:5432";
const JSON: &str = "{\n  \"pool\": { \"size\": 16, \"wait\": \"5s\" }\n}";

pub(super) fn docs(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let sidebar = maker.links(&[
        "Getting started guide",
        "Installation steps",
        "Configuration keys",
        "Deployment notes",
        "Troubleshooting list",
        "Release history",
    ]);
    let intro = maker.paragraphs(&text.sentences[..3], 3);
    let rust = maker.code(
        RUST,
        "<div class=\"highlight\"><pre><code class=\"language-rust hljs\">",
        "</code></pre></div>",
    );
    let heading = maker.want(text.headings[0]);
    let middle = maker.paragraphs(&text.sentences[3..7], 2);
    let shell = maker.code(SHELL, "<pre class=\"console\">", "</pre>");
    let table: String = text.items[..4]
        .iter()
        .zip(&text.sentences[10..])
        .map(|(item, sentence)| {
            format!("<tr><td><code>{}</code></td><td>{}</td></tr>", maker.want(item), maker.want(sentence))
        })
        .collect();
    let next = maker.around("Next page: deploying to several regions");
    let footer = footer(&mut maker);
    let body = format!(
        "<div class=\"layout\"><nav class=\"sidebar\"><ul>{sidebar}</ul></nav><main class=\"content\" role=\"main\"><h1>{}</h1>{intro}{rust}\
         <h2 id=\"a\">{heading}<a class=\"anchor\" href=\"#a\">#</a></h2>{middle}{shell}\
         <table><thead><tr><th>Key</th><th>Meaning</th></tr></thead><tbody>{table}</tbody></table>\
         <div class=\"pager\"><a href=\"/next\">{next}</a></div></main></div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

pub(super) fn reference(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let modules = maker.links(&[
        "Module connection",
        "Module transaction",
        "Module statement",
        "Module error",
        "Module types",
    ]);
    let lead = maker.paragraphs(&text.sentences[..2], 2);
    let mut methods = String::new();
    for (number, item) in text.items.iter().enumerate() {
        let code =
            format!("pub fn method_{number}(&self, limit: Option<u{}>) -> Vec<Row<'_>>", 8 << (number % 4));
        let signature = maker.code(&code, "<pre class=\"rust item-decl\"><code>", "</code></pre>");
        methods.push_str(&format!(
            "<section id=\"m{number}\"><h3>{}</h3>{signature}<div class=\"docblock\"><p>{}</p></div></section>",
            maker.want(item),
            maker.want(text.sentences[number + 2])
        ));
    }
    let example = maker.code(
        JSON,
        "<div class=\"example-wrap\"><pre class=\"language-json\"><code>",
        "</code></pre></div>",
    );
    let body = format!(
        "<nav class=\"sidebar\"><ul>{modules}</ul></nav><main><div class=\"width-limiter\"><section id=\"main-content\"><h1>{}</h1>{lead}\
         {methods}{example}</section></div></main>",
        text.title
    );
    maker.done(text.language, "", &body)
}

pub(super) fn answers(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&[
        "All questions asked",
        "Popular tags today",
        "Users by reputation",
        "Unanswered questions",
    ]);
    let question = maker.paragraphs(&text.sentences[..4], 2);
    let code = maker.code(SHELL, "<pre class=\"lang-sh prettyprint\"><code>", "</code></pre>");
    let first = maker.paragraphs(&text.sentences[4..9], 2);
    let answer = maker.code(RUST, "<pre class=\"lang-rust s-code-block\"><code>", "</code></pre>");
    let second = maker.paragraphs(&text.sentences[9..], 2);
    let hot = maker.links(RELATED);
    let footer = footer(&mut maker);
    let body = format!(
        "<header><ul role=\"menubar\">{menu}</ul></header><div class=\"container\"><div id=\"mainbar\"><h1>{}</h1>\
         <div class=\"question\"><div class=\"votecell\"><span>12</span></div><div class=\"postcell\"><div class=\"s-prose\">{question}{code}</div></div></div>\
         <div class=\"answer accepted-answer\"><div class=\"votecell\">31</div><div class=\"answercell\"><div class=\"s-prose\">{first}{answer}</div></div></div>\
         <div class=\"answer\"><div class=\"votecell\">4</div><div class=\"answercell\"><div class=\"s-prose\">{second}</div></div></div></div>\
         <div id=\"sidebar\"><div class=\"module\"><ul>{hot}</ul></div></div></div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

pub(super) fn changelog(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&[
        "Code of the project",
        "Issues of the project",
        "Pull requests open",
        "Actions and runs",
        "Security advice",
    ]);
    let mut versions = String::new();
    for (number, heading) in text.headings.iter().enumerate() {
        let items = [
            text.items[number * 2],
            text.items[number * 2 + 1],
            text.sentences[number * 3],
            text.sentences[number * 3 + 1],
        ];
        versions.push_str(&format!("<h2>{}</h2>{}", maker.want(heading), maker.list(&items, "ul")));
    }
    let footer = footer(&mut maker);
    let body = format!(
        "<header><nav><ul>{menu}</ul></nav></header><div class=\"repository\"><div class=\"markdown-body\"><h1>{}</h1>{versions}</div></div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}
