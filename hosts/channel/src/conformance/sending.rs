//! Checks of texts that are sent.

use super::bench::{ADA, BERT, Bench, plain};
use super::double::{Fault, Operation};
use super::report::{Checked, Stop, ensure, equal, shown};
use crate::error::SendError;
use crate::outgoing::Action;
use crate::text::{self, Markup, Style};

/// The longest text whose limit is checked, in units. A platform with a higher limit has none in practice.
const MAX_LIMIT: usize = 1 << 20;

/// Texts that look like markup, commands, JSON or an end.
const TEXTS: &[&str] = &[
    "Hello",
    "two\nlines\n\nand a paragraph",
    "<b>no markup</b> &amp; *no* _markup_ `here` [a](b) \\n ~x~ ||y||",
    "{\"text\": \"\\u0041\"} %20 ${env:HOME} $(id)",
    "Ünï̈cödé, नमस्ते, שלום, 👩‍👩‍👧‍👦, e\u{301}",
    "/start @somebody #tag",
    "\u{200b}after something invisible",
];

pub(super) async fn texts(bench: &mut Bench<'_>) -> Checked {
    for person in [ADA, BERT] {
        for text in TEXTS {
            let outgoing = bench.outgoing(person, plain(*text));
            let sent = bench.deliver_new(&outgoing).await?;
            equal("the text", sent.text.as_str(), text)?;
        }
    }
    let before = bench.double.sent().len();
    let mut texts = Vec::new();
    for _ in 0..5 {
        texts.push(bench.text("In order"));
        let outgoing = bench.outgoing(ADA, plain(texts.last().cloned().unwrap_or_default()));
        bench.deliver(&outgoing).await?;
    }
    let sent: Vec<String> = bench.sent_since(before).into_iter().map(|sent| sent.text).collect();
    equal("the texts in order", &sent, &texts)
}

/// Returns an answer in Markdown with everything that a model writes, of several parts.
fn markdown(max: usize) -> String {
    let paragraphs = [
        "# A *heading* & `code`\n\nA paragraph with a [link](https://example.org/a?b=c&d=%22e%22), **bold**, _italic_, ~~struck~~ and \
         `a <b> & c`. 👩‍👩‍👧‍👦 e\u{301}\u{302} नमस्ते\n",
        "```rust\nfn main() {\n    println!(\"<&>\"); // 😀\n}\n```\n",
        "* one\n  * two & <three>\n    1. four\n\n> a quote\n> of two lines\n",
        "| a | b |\n|---|---|\n| 😀 | <x> |\n",
        "averylongwordwithoutanybreak😀e\u{301}averylongwordwithoutanybreak &amp; \\* 1 < 2 > 0\n",
    ];
    // Three parts, but not without end where the limit is large.
    let length = max.saturating_mul(3).min(40_000);
    let mut answer = String::new();
    for paragraph in paragraphs.iter().cycle() {
        if answer.len() >= length {
            break;
        }
        answer.extend([paragraph, "\n"]);
    }
    // One code block that is longer than a part.
    answer.push_str("```text\n");
    while answer.len() < length.saturating_mul(2) {
        answer.push_str("a line of code with <tags> & 😀\n");
    }
    answer.push_str("```\n");
    answer
}

pub(super) async fn parts(bench: &mut Bench<'_>) -> Checked {
    let style = bench.channel.style();
    let markdown = markdown(style.max);
    let whole = text::plain(&markdown, style.markup);
    let mut rest = whole.as_str();
    for part in text::split(&markdown, &style) {
        let action = Action::Text { plain: part.plain.clone(), markup: part.markup, buttons: Vec::new() };
        let outgoing = bench.outgoing(ADA, action);
        let sent = bench.deliver_new(&outgoing).await?;
        equal("the text of a part", &sent.text, &part.plain)?;
        let found = rest.split_once(sent.text.as_str()).filter(|(gap, _)| is_blank(gap));
        let (_, after) =
            found.ok_or_else(|| Stop::failed(format!("a part of {}", shown(rest)), shown(&sent.text)))?;
        rest = after;
    }
    ensure(is_blank(rest), "the whole answer", || format!("without {}", shown(rest)))
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|char| char.is_whitespace() || text::is_blank(char))
}

pub(super) async fn limit(bench: &mut Bench<'_>) -> Checked {
    let style = bench.channel.style();
    equal("the maximum of the style", &style.max, &bench.channel.limits().text)?;
    if style.max > MAX_LIMIT {
        return Err(Stop::LeftOut("the limit of texts is too high to reach".to_owned()));
    }
    for filler in ["x", "é", "😀", "字"] {
        let text = filled(filler, style.max, |text| style.unit.count(text));
        equal("the units of the text", &style.unit.count(&text), &style.max)?;
        let outgoing = bench.outgoing(ADA, plain(text.clone()));
        let sent = bench.deliver_new(&outgoing).await?;
        equal("the text at the limit", &sent.text, &text)?;
        let outgoing = bench.outgoing(ADA, plain(format!("{text}x")));
        bench.expect_refused("a text of one unit more than the limit", &outgoing).await?;
    }
    Ok(())
}

/// Returns a text of exactly this many units: one character repeated, and `x` for the rest.
pub(super) fn filled(filler: &str, units: usize, count: impl Fn(&str) -> usize) -> String {
    let size = count(filler).max(1);
    let mut text = filler.repeat(units / size);
    text.push_str(&"x".repeat(units % size));
    text
}

/// Returns a short text in the markup of the platform, which shows the same text; `None` if it has no markup.
pub(super) fn markup_of(style: &Style, text: &str) -> Option<String> {
    let part = text::split(text, style).into_iter().next()?;
    part.markup.filter(|_| part.plain == text)
}

pub(super) async fn markup(bench: &mut Bench<'_>) -> Checked {
    if bench.channel.style().markup == Markup::Plain {
        return Err(Stop::LeftOut("the texts of the platform have no markup".to_owned()));
    }
    let text = bench.text("Markup & text");
    let markup = markup_of(&bench.channel.style(), &text);
    let before = bench.double.sent();
    bench.inject(Operation::Send, Fault::Markup)?;
    let outgoing = bench.outgoing(ADA, Action::Text { plain: text.clone(), markup, buttons: Vec::new() });
    let refused = bench.send(&outgoing).await?;
    ensure(matches!(refused, Err(SendError::Markup { .. })), "markup that is refused is Markup", || {
        shown(&refused)
    })?;
    equal("the messages after markup that is refused", &bench.double.sent(), &before)?;
    let outgoing = bench.outgoing(ADA, plain(text.clone()));
    equal("the plain text", &bench.deliver_new(&outgoing).await?.text, &text)
}
