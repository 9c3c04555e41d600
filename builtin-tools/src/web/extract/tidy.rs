//! Removal of elements that are not text, and normalisation of code.

use dom_query::{Document, NodeRef};

/// Elements without text for a reader.
const REMOVED: &str = "script, style, template, svg, canvas, iframe, object, embed, audio, video, map, select, option, datalist, \
                       button, input, textarea, dialog:not([open]), noscript, link, math annotation, [hidden], [aria-hidden='true'], \
                       .sr-only, .visually-hidden, .screen-reader-text, [style*='display:none'], [style*='display: none']";

/// Elements that end a line of plain text.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "tr",
    "ul",
];

/// Returns true if a page exceeds the maximum number of elements or the maximum nesting.
pub(super) fn is_too_large(document: &Document, max_elements: usize, max_depth: usize) -> bool {
    let (mut elements, mut open) = (0, vec![(document.root(), 0)]);
    while let Some((node, depth)) = open.pop() {
        elements += 1;
        if depth > max_depth || elements > max_elements {
            return true;
        }
        open.extend(node.children_it(false).filter(NodeRef::is_element).map(|child| (child, depth + 1)));
    }
    false
}

/// Maximum number of bytes of a part that asks for an address or for consent.
const MAX_ASKING_BYTES: usize = 600;
/// Maximum number of nodes of such a part.
const MAX_ASKING_NODES: usize = 100;

/// Removes parts that ask the reader for a mail address or for consent to cookies: small ones around a field or a button.
fn remove_askings(document: &Document) {
    for field in document.select("input[type='email']").nodes() {
        remove_around(field, |_| true);
    }
    for button in document.select("button, input[type='submit'], input[type='button']").nodes() {
        remove_around(button, |text| text.to_lowercase().contains("cookie"));
    }
}

/// Removes the largest small part around an element, if its text is as wanted.
fn remove_around(element: &NodeRef<'_>, is_wanted: impl Fn(&str) -> bool) {
    let part = element.ancestors_it(None).take_while(is_small_part).last();
    if let Some(part) = part.filter(|part| is_wanted(&part.text())) {
        part.remove_from_parent();
    }
}

/// Returns true for a part of a page with a little text and few elements. It looks at few nodes, however large the part is.
fn is_small_part(node: &NodeRef<'_>) -> bool {
    if ["article", "body", "html", "main", "td", "tr"].iter().any(|name| node.has_name(name)) {
        return false;
    }
    let mut bytes = 0;
    for (number, inner) in node.descendants_it().enumerate() {
        if inner.is_text() {
            bytes += inner.text().len();
        }
        if number > MAX_ASKING_NODES
            || bytes > MAX_ASKING_BYTES
            || inner.has_name("h1")
            || inner.has_name("pre")
        {
            return false;
        }
    }
    true
}

/// Removes elements that are not text, and converts code to the form that the Markdown conversion expects.
pub(super) fn tidy(document: &Document) {
    remove_askings(document);
    // MathJax and KaTeX formulas are hidden from screen readers, and MathML formulas from everybody else.
    document.select(REMOVED).remove();
    for node in document.select("pre").nodes() {
        tidy_code(node);
    }
}

/// Turns tables with blocks of code into plain groups: a cell of a Markdown table is one line, and its `|` are escaped.
pub(super) fn unfold_tables(document: &Document) {
    for table in document.select("table").nodes() {
        let parts = table.descendants();
        if parts.iter().any(|part| part.has_name("pre")) {
            let is_part = |part: &&NodeRef<'_>| {
                ["caption", "tbody", "td", "tfoot", "th", "thead", "tr"]
                    .iter()
                    .any(|name| part.has_name(name))
            };
            parts.iter().filter(is_part).for_each(|part| part.rename("div"));
            table.rename("div");
        }
    }
}

/// A block of code: line breaks become characters, and its language a class that is known.
fn tidy_code(pre: &NodeRef<'_>) {
    // Numbers of lines.
    for gutter in pre.descendants() {
        let is_gutter = gutter.class().is_some_and(|class| {
            class.split_ascii_whitespace().any(|name| {
                matches!(
                    name,
                    "line-number"
                        | "line-numbers"
                        | "linenumber"
                        | "lineno"
                        | "linenos"
                        | "ln"
                        | "gutter"
                        | "line-numbers-rows"
                )
            })
        });
        if is_gutter && gutter.id != pre.id && !gutter.has_name("code") {
            gutter.remove_from_parent();
        }
    }
    let language = language_of(pre);
    let mut text = String::new();
    collect_code(pre, &mut text);
    let text = text.trim_matches('\n').to_owned();
    pre.set_html(format!("<code>{}</code>", escaped(&text)));
    if let (Some(language), Some(code)) = (language, pre.first_element_child()) {
        code.set_attr("class", &format!("language-{language}"));
    }
}

/// The text of a block of code, in which elements that are blocks are lines.
fn collect_code(pre: &NodeRef<'_>, text: &mut String) {
    for node in pre.descendants_it() {
        if node.is_text() {
            text.push_str(&node.text());
            continue;
        }
        let is_block = node.has_name("div") || node.has_name("li") || node.has_name("tr");
        if node.has_name("br") || is_block && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
}

/// The language of a block of code, from the classes and attributes that highlighters use.
fn language_of(pre: &NodeRef<'_>) -> Option<String> {
    let around = pre.ancestors(Some(2));
    let inner = pre.first_element_child();
    let near = inner.iter().chain(std::iter::once(pre)).chain(&around);
    for node in near {
        for name in ["data-lang", "data-language"] {
            if let Some(language) = node.attr(name).and_then(|value| plain(&value)) {
                return Some(language);
            }
        }
        let Some(class) = node.class() else { continue };
        let classes: Vec<&str> = class.split_ascii_whitespace().collect();
        let prefixes = ["language-", "lang-", "highlight-source-", "highlight-", "sourceCode-"];
        let by_prefix =
            classes.iter().find_map(|class| prefixes.iter().find_map(|prefix| class.strip_prefix(prefix)));
        let by_pair = || {
            let at = classes.iter().position(|class| matches!(*class, "brush:" | "sourceCode" | "hljs"))?;
            classes.get(at + 1).copied()
        };
        if let Some(language) = by_prefix.or_else(by_pair).and_then(plain) {
            return Some(language);
        }
    }
    None
}

fn plain(language: &str) -> Option<String> {
    let language = language.trim().trim_end_matches(';').to_ascii_lowercase();
    let is_one = (1..=20).contains(&language.len())
        && language
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || matches!(char, '+' | '#' | '-' | '_' | '.'));
    let is_nothing = matches!(&*language, "none" | "text-only" | "default" | "wrapper" | "source");
    (is_one && !is_nothing).then_some(language)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns all text of a page, in lines, for a page of any size.
pub(super) fn plain_text(document: &Document) -> String {
    let mut text = String::new();
    let mut open = vec![document.root()];
    while let Some(node) = open.pop() {
        if node.is_text() {
            let words = node.text();
            let mut words = words.split_whitespace().peekable();
            if words.peek().is_some() && !text.is_empty() && !text.ends_with(char::is_whitespace) {
                text.push(' ');
            }
            for (number, word) in words.enumerate() {
                if number > 0 {
                    text.push(' ');
                }
                text.push_str(word);
            }
            continue;
        }
        let name = node.node_name();
        let name = name.as_deref().unwrap_or_default();
        if matches!(name, "script" | "style" | "template" | "svg" | "noscript" | "head") {
            continue;
        }
        if BLOCKS.contains(&name) && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        open.extend(node.children_it(true));
    }
    text
}
