//! Kinds of pages, as sites build them.

#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "pages are put together piece by piece"
)]

use super::Page;
use super::texts::Text;

/// Makes a page of a kind from a text.
type Make = fn(&str, &Text) -> Page;

/// All kinds.
pub const KINDS: &[(&str, Make)] = &[
    ("news", news),
    ("blog", blog),
    ("docs", docs),
    ("reference", reference),
    ("forum", forum),
    ("answers", answers),
    ("landing", landing),
    ("wiki", wiki),
    ("recipe", recipe),
    ("product", product),
    ("tables", tables),
    ("mail", mail),
    ("index", index),
    ("changelog", changelog),
    ("terms", terms),
];

/// A page in the making.
struct Maker {
    page: Page,
    title: &'static str,
}

impl Maker {
    fn new(kind: &str, text: &Text) -> Self {
        let page = Page {
            name: format!("{kind}-{}-{}", text.language, text.title.len()),
            html: String::new(),
            wanted: Vec::new(),
            code: Vec::new(),
            around: Vec::new(),
        };
        Self { page, title: text.title }
    }

    /// A piece of text that is wanted.
    fn want(&mut self, text: &str) -> String {
        self.page.wanted.push(text.to_owned());
        text.to_owned()
    }

    /// Sentences in paragraphs.
    fn paragraphs(&mut self, sentences: &[&str], each: usize) -> String {
        let paragraph = |chunk: &[&str]| format!("<p>{}</p>\n", chunk.join(" "));
        self.page.wanted.extend(sentences.iter().map(|sentence| (*sentence).to_owned()));
        sentences.chunks(each).map(paragraph).collect()
    }

    fn list(&mut self, items: &[&str], tag: &str) -> String {
        let items: String = items.iter().map(|item| format!("<li>{}</li>\n", self.want(item))).collect();
        format!("<{tag}>\n{items}</{tag}>\n")
    }

    /// A piece of text that is around the content.
    fn around(&mut self, text: &str) -> String {
        self.page.around.push(text.to_owned());
        text.to_owned()
    }

    fn links(&mut self, texts: &[&str]) -> String {
        texts
            .iter()
            .enumerate()
            .map(|(number, text)| format!("<li><a href=\"/section/{number}\">{}</a></li>", self.around(text)))
            .collect()
    }

    fn code(&mut self, code: &str, before: &str, after: &str) -> String {
        self.page.code.push(code.to_owned());
        let escaped = code.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("{before}{escaped}{after}\n")
    }

    fn done(mut self, language: &str, head: &str, body: &str) -> Page {
        self.page.html = format!(
            "<!doctype html>\n<html lang=\"{language}\"><head><meta charset=\"utf-8\"><title>{}</title>{head}\
             <script>var tracking = 'scriptedtext';</script><style>.x {{ color: red }}</style></head>\n<body>{body}\
             <script>document.write('scriptedtext')</script></body></html>",
            self.title
        );
        self.page
    }
}

const MENU: &[&str] = &[
    "Front page now",
    "World reports",
    "Opinion columns",
    "Sports results",
    "Weather charts",
    "Contact our desk",
];
const RELATED: &[&str] = &[
    "Ten gardens that you should visit this spring",
    "The minister answers questions about the new railway",
    "Why the old cinema closes its doors in autumn",
];
const COOKIES: &str =
    "We use cookies to improve your experience on our site and to show you personalised advertising.";
const NEWSLETTER: &str = "Sign up for our newsletter and never miss a story from our reporters.";
const COPYRIGHT: &str = "Copyright 2026 Example Media Group. All rights reserved worldwide.";

fn footer(maker: &mut Maker) -> String {
    let links = maker.links(&["Imprint and legal notice", "Privacy statement page", "Jobs at our company"]);
    format!("<footer><ul>{links}</ul><p>{}</p></footer>", maker.around(COPYRIGHT))
}

fn news(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(MENU);
    let first = maker.paragraphs(&text.sentences[..6], 2);
    let advert = maker.around("Advertisement: the new electric bicycle, now with two years of warranty.");
    let second = maker.paragraphs(&text.sentences[6..], 3);
    let related = maker.links(RELATED);
    let newsletter = maker.around(NEWSLETTER);
    let comment =
        maker.around("User anna91 wrote: I have been there last year and it was raining all the time!");
    let cookies = maker.around(COOKIES);
    let footer = footer(&mut maker);
    let body = format!(
        "<div id=\"cookie-banner\" class=\"cookie-consent\"><p>{cookies}</p><button>Accept</button></div>\
         <header class=\"site-header\"><a href=\"/\"><img src=\"/logo.png\" alt=\"Logo\"></a><nav><ul>{menu}</ul></nav></header>\
         <main><article><h1>{}</h1><p class=\"byline\">By Jane Doe</p>\
         <div class=\"share-bar\"><a href=\"#\">Share</a> <a href=\"#\">Tweet</a></div>{first}\
         <div class=\"ad-slot\"><p>{advert}</p></div>{second}</article>\
         <aside class=\"related\"><h2>Related</h2><ul>{related}</ul></aside>\
         <div class=\"newsletter-signup\"><p>{newsletter}</p><form><input type=\"email\"></form></div>\
         <section class=\"comments\" id=\"comments\"><h2>Comments</h2><div class=\"comment\"><p>{comment}</p></div></section></main>{footer}",
        text.title
    );
    maker.done(text.language, "<meta property=\"og:type\" content=\"article\">", &body)
}

fn blog(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&MENU[..4]);
    let mut parts = String::new();
    for (number, heading) in text.headings.iter().enumerate() {
        let sentences = &text.sentences[number * 4..number * 4 + 4];
        parts.push_str(&format!("<div class=\"h\"><h2>{}</h2></div>", maker.want(heading)));
        for sentence in sentences {
            parts.push_str(&format!("<div class=\"txt\"><span>{}</span></div><br>", maker.want(sentence)));
        }
    }
    let archive = maker.links(&[
        "Posts from January 2026",
        "Posts from February 2026",
        "Posts from March 2026",
        "Posts about travel",
    ]);
    let about = maker.around("About me: I write about everything that I see on my walks.");
    let footer = footer(&mut maker);
    let body = format!(
        "<div id=\"wrap\"><div id=\"top\"><ul id=\"menu\">{menu}</ul></div><div id=\"main\"><div class=\"post\">\
         <div class=\"post-title\"><h1>{}</h1></div><div class=\"post-body entry-content\">{parts}</div></div></div>\
         <div id=\"sidebar\"><div class=\"widget\"><p>{about}</p></div><div class=\"widget\"><ul>{archive}</ul></div></div></div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

const RUST: &str = "fn main() -> Result<(), Error> {\n    let pool = Pool::new(16)?;\n    for row in pool.get()?.query(\"SELECT 1 < 2\") {\n        println!(\"{row:?}\");\n    }\n    Ok(())\n}";
const SHELL: &str = "$ cargo run --release -- --size 16\nserver listens on 127.0.0.1:5432";
const JSON: &str = "{\n  \"pool\": { \"size\": 16, \"wait\": \"5s\" }\n}";

fn docs(kind: &str, text: &Text) -> Page {
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

fn reference(kind: &str, text: &Text) -> Page {
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

fn forum(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&[
        "Forum home board",
        "Members of the board",
        "Calendar of events",
        "Search the board",
        "Frequently asked questions",
    ]);
    let mut posts = String::new();
    for (number, sentences) in text.sentences.chunks(3).enumerate() {
        let quote =
            if number == 0 { String::new() } else { "<blockquote><p>…</p></blockquote>".to_owned() };
        posts.push_str(&format!(
            "<div class=\"post\" id=\"p{number}\"><div class=\"author\"><img src=\"/a{number}.png\" alt=\"\"><span>user{number}</span>\
             <span>Posts: {}</span></div><div class=\"postbody\">{quote}{}</div><div class=\"postlinks\"><a href=\"#\">Reply</a> \
             <a href=\"#\">Quote</a></div></div>",
            number * 17,
            maker.paragraphs(sentences, 2)
        ));
    }
    let similar = maker.links(RELATED);
    let footer = footer(&mut maker);
    let body = format!(
        "<div id=\"header\"><ul class=\"navbar\">{menu}</ul></div><div id=\"content\"><h1>{}</h1>{posts}</div>\
         <div class=\"similar-threads related\"><ul>{similar}</ul></div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn answers(kind: &str, text: &Text) -> Page {
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

fn landing(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&["Product overview", "Pricing for teams", "Customer stories", "Sign in here"]);
    let lead = maker.want(text.sentences[0]);
    let mut cards = String::new();
    for (number, item) in text.items.iter().enumerate() {
        cards.push_str(&format!(
            "<div class=\"card\"><svg><path d=\"M0 0\"/></svg><h3>{}</h3><p>{}</p></div>",
            maker.want(item),
            maker.want(text.sentences[number + 1])
        ));
    }
    let quote = maker.want(text.sentences[8]);
    let closing = maker.want(text.sentences[13]);
    let footer = footer(&mut maker);
    let body = format!(
        "<header class=\"topbar\"><nav><ul>{menu}</ul></nav></header><section class=\"hero\"><h1>{}</h1><p class=\"lead\">{lead}</p>\
         <a class=\"btn\" href=\"/start\">Start</a></section><section class=\"features\"><div class=\"grid\">{cards}</div></section>\
         <section class=\"testimonials\"><blockquote>{quote}</blockquote></section><section class=\"cta\"><p>{closing}</p></section>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn wiki(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&[
        "Main page of the wiki",
        "Random article link",
        "Recent changes list",
        "Upload a file here",
        "Community portal page",
    ]);
    let lead = maker.paragraphs(&text.sentences[..3], 3);
    let mut parts = String::new();
    for (number, heading) in text.headings.iter().enumerate() {
        let sentences = &text.sentences[3 + number * 3..6 + number * 3];
        parts.push_str(&format!(
            "<div class=\"mw-heading mw-heading2\"><h2>{}</h2><span class=\"mw-editsection\">[<a href=\"/edit\">edit</a>]</span></div>{}",
            maker.want(heading),
            maker.paragraphs(sentences, 3)
        ));
    }
    let facts: String = text.items[..3]
        .iter()
        .enumerate()
        .map(|(number, item)| format!("<tr><th>No. {number}</th><td>{}</td></tr>", maker.want(item)))
        .collect();
    let last =
        maker.around("This page was last edited on 3 March 2026 and is available under a free licence.");
    let body = format!(
        "<div class=\"mw-page-container\"><nav class=\"vector-menu\"><ul>{menu}</ul></nav><main id=\"content\" class=\"mw-body\"><h1>{}</h1>\
         <div class=\"mw-parser-output\"><table class=\"infobox\"><tbody>{facts}</tbody></table>{lead}{parts}</div></main></div>\
         <footer><p>{last}</p></footer>",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn recipe(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&["Breakfast ideas", "Quick dinners", "Cakes and pies", "Seasonal cooking"]);
    let story = maker.paragraphs(&text.sentences[..5], 2);
    let list = maker.list(&text.items, "ul");
    let steps = maker.list(&text.sentences[5..11], "ol");
    let more = maker.links(RELATED);
    let newsletter = maker.around(NEWSLETTER);
    let footer = footer(&mut maker);
    let body = format!(
        "<header><nav><ul>{menu}</ul></nav></header><main><article class=\"recipe\"><h1>{}</h1><div class=\"intro\">{story}</div>\
         <div class=\"ingredients\"><h2>1</h2>{list}</div><div class=\"instructions\"><h2>2</h2>{steps}</div></article>\
         <aside><ul>{more}</ul><p class=\"subscribe\">{newsletter}</p></aside></main>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn product(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&[
        "Home and garden",
        "Tools and machines",
        "Your shopping basket",
        "Gift cards for friends",
    ]);
    let description = maker.paragraphs(&text.sentences[..4], 4);
    let specs: String = text
        .items
        .iter()
        .enumerate()
        .map(|(number, item)| format!("<tr><td>{number}</td><td>{}</td></tr>", maker.want(item)))
        .collect();
    let reviews: String = text.sentences[4..9]
        .iter()
        .map(|sentence| {
            format!("<div class=\"review\"><span>★★★★</span><p>{}</p></div>", maker.want(sentence))
        })
        .collect();
    let others = maker.links(&[
        "Customers also bought: garden hose",
        "Customers also bought: watering can",
        "Customers also bought: spade",
    ]);
    let footer = footer(&mut maker);
    let body = format!(
        "<header><nav class=\"nav\"><ul>{menu}</ul></nav></header><div class=\"product\"><h1>{}</h1><div class=\"price\">€ 49</div>\
         <div class=\"description\">{description}</div><table class=\"specs\">{specs}</table><div class=\"customer-voices\">{reviews}</div></div>\
         <div class=\"recommended\"><ul>{others}</ul></div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn tables(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu: String = MENU
        .iter()
        .map(|item| {
            format!("<tr><td><a href=\"/x\"><font size=2>{}</font></a></td></tr>", maker.around(item))
        })
        .collect();
    let content: String = text
        .sentences
        .chunks(3)
        .map(|chunk| {
            let joined: Vec<String> = chunk.iter().map(|sentence| maker.want(sentence)).collect();
            format!("<font face=\"Times\">{}</font><br><br>\n", joined.join(" "))
        })
        .collect();
    let counter = maker.around("You are visitor number 48213 since 1998");
    let body = format!(
        "<center><table width=800><tr><td valign=top width=150><table>{menu}</table></td><td valign=top><h1>{}</h1>{content}</td></tr></table>\
         <hr><small>{counter}</small></center>",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn mail(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let lines: String = text
        .sentences
        .chunks(2)
        .map(|chunk| {
            format!(
                "{}\n\n",
                chunk.iter().map(|sentence| maker.want(sentence)).collect::<Vec<_>>().join("\n")
            )
        })
        .collect();
    let body = format!(
        "<h1>{}</h1><b>Jane Doe</b> <a href=\"mailto:jane@example.com\">jane at example.com</a><br><i>Mon Mar 2 10:00:00 2026</i><hr>\
         <ul><li>Previous message: <a href=\"1.html\">one</a></li><li>Next message: <a href=\"3.html\">three</a></li></ul><hr><pre>{lines}</pre><hr>",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn index(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(MENU);
    let teasers: String = text
        .items
        .iter()
        .enumerate()
        .map(|(number, item)| {
            format!(
                "<article class=\"teaser\"><a href=\"/story/{number}\"><h2>{}</h2></a><p>{}</p></article>",
                maker.want(item),
                maker.want(text.sentences[number * 2])
            )
        })
        .collect();
    let footer = footer(&mut maker);
    let body = format!(
        "<header><nav><ul>{menu}</ul></nav></header><main><h1>{}</h1><div class=\"teasers\">{teasers}</div></main>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}

fn changelog(kind: &str, text: &Text) -> Page {
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

fn terms(kind: &str, text: &Text) -> Page {
    let mut maker = Maker::new(kind, text);
    let menu = maker.links(&MENU[..3]);
    let sections: String = text
        .sentences
        .chunks(4)
        .enumerate()
        .map(|(number, chunk)| {
            format!("<section><h2>§ {}</h2>{}</section>", number + 1, maker.list(chunk, "ol"))
        })
        .collect();
    let footer = footer(&mut maker);
    let body = format!(
        "<nav><ul>{menu}</ul></nav><div role=\"main\"><h1>{}</h1>{sections}</div>{footer}",
        text.title
    );
    maker.done(text.language, "", &body)
}
