//! A page in the making.

#![expect(clippy::format_collect, reason = "pages are put together piece by piece")]

use super::Page;
use super::texts::Text;

/// A page in the making.
pub(super) struct Maker {
    pub(super) page: Page,
    title: &'static str,
}

impl Maker {
    pub(super) fn new(kind: &str, text: &Text) -> Self {
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
    pub(super) fn want(&mut self, text: &str) -> String {
        self.page.wanted.push(text.to_owned());
        text.to_owned()
    }

    /// Sentences in paragraphs.
    pub(super) fn paragraphs(&mut self, sentences: &[&str], each: usize) -> String {
        let paragraph = |chunk: &[&str]| format!("<p>{}</p>\n", chunk.join(" "));
        self.page.wanted.extend(sentences.iter().map(|sentence| (*sentence).to_owned()));
        sentences.chunks(each).map(paragraph).collect()
    }

    pub(super) fn list(&mut self, items: &[&str], tag: &str) -> String {
        let items: String = items.iter().map(|item| format!("<li>{}</li>\n", self.want(item))).collect();
        format!("<{tag}>\n{items}</{tag}>\n")
    }

    /// A piece of text that is around the content.
    pub(super) fn around(&mut self, text: &str) -> String {
        self.page.around.push(text.to_owned());
        text.to_owned()
    }

    pub(super) fn links(&mut self, texts: &[&str]) -> String {
        texts
            .iter()
            .enumerate()
            .map(|(number, text)| format!("<li><a href=\"/section/{number}\">{}</a></li>", self.around(text)))
            .collect()
    }

    pub(super) fn code(&mut self, code: &str, before: &str, after: &str) -> String {
        self.page.code.push(code.to_owned());
        let escaped = code.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("{before}{escaped}{after}\n")
    }

    pub(super) fn done(mut self, language: &str, head: &str, body: &str) -> Page {
        self.page.html = format!(
            "<!doctype html>\n<html lang=\"{language}\"><head><meta charset=\"utf-8\"><title>{}</title>{head}\
             <script>var tracking = 'scriptedtext';</script><style>.x {{ color: red }}</style></head>\n<body>{body}\
             <script>document.write('scriptedtext')</script></body></html>",
            self.title
        );
        self.page
    }
}

pub(super) const MENU: &[&str] = &[
    "Front page now",
    "World reports",
    "Opinion columns",
    "Sports results",
    "Weather charts",
    "Contact our desk",
];
pub(super) const RELATED: &[&str] = &[
    "Ten gardens that you should visit this spring",
    "The minister answers questions about the new railway",
    "Why the old cinema closes its doors in autumn",
];
pub(super) const COOKIES: &str =
    "We use cookies to improve your experience on our site and to show you personalised advertising.";
pub(super) const NEWSLETTER: &str = "Sign up for our newsletter and never miss a story from our reporters.";
const COPYRIGHT: &str = "Copyright 2026 Example Media Group. All rights reserved worldwide.";

pub(super) fn footer(maker: &mut Maker) -> String {
    let links = maker.links(&["Imprint and legal notice", "Privacy statement page", "Jobs at our company"]);
    format!("<footer><ul>{links}</ul><p>{}</p></footer>", maker.around(COPYRIGHT))
}
