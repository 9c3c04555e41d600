//! The HTML of the Bot API, read strictly: what its documentation does not allow is an error, also where its servers are lenient.

use serde_json::{Value, json};

/// A text without its markup.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parsed {
    /// The text.
    pub(super) text: String,
    /// The entities in it, in the form of the Bot API.
    pub(super) entities: Vec<Value>,
}

/// A tag that is open.
struct Open {
    /// Its name as it is written.
    tag: String,
    /// The kind of its entity.
    kind: &'static str,
    /// Fields of the entity.
    more: Value,
    /// The UTF-16 unit at which it begins.
    offset: usize,
    /// The place of its entity, so that outer ones stand before inner ones.
    place: usize,
}

/// Parses a text.
pub(super) fn parse(html: &str) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    let mut open: Vec<Open> = Vec::new();
    let mut units = 0;
    let mut rest = html;
    while let Some(char) = rest.chars().next() {
        let at = html.len() - rest.len();
        match char {
            '<' => {
                let end = rest.find('>').ok_or_else(|| format!("Unclosed start tag at byte offset {at}"))?;
                let tag = &rest[1..end];
                rest = &rest[end + 1..];
                if let Some(name) = tag.strip_prefix('/') {
                    close(name, at, &mut open, units, &mut parsed)?;
                } else {
                    begin(tag, at, &mut open, units, &mut parsed)?;
                }
            }
            '>' => return Err(format!("Unescaped \">\" at byte offset {at}")),
            '&' => {
                let (char, length) =
                    character(rest).ok_or_else(|| format!("Unescaped \"&\" at byte offset {at}"))?;
                parsed.text.push(char);
                units += char.len_utf16();
                rest = &rest[length..];
            }
            char => {
                parsed.text.push(char);
                units += char.len_utf16();
                rest = &rest[char.len_utf8()..];
            }
        }
    }
    match open.pop() {
        Some(open) => Err(format!("Can't find end tag corresponding to start tag \"{}\"", open.tag)),
        None => {
            parsed.entities.retain(|entity| entity["length"] != 0);
            Ok(parsed)
        }
    }
}

fn begin(
    tag: &str,
    at: usize,
    open: &mut Vec<Open>,
    offset: usize,
    parsed: &mut Parsed,
) -> Result<(), String> {
    let (name, attribute) = match tag.split_once(' ') {
        Some((name, attribute)) => (name, Some(attribute.trim())),
        None => (tag, None),
    };
    let unsupported = || format!("Unsupported start tag \"{name}\" at byte offset {at}");
    let value = |expected: &str| {
        let quoted = attribute?.strip_prefix(expected)?.strip_prefix('=')?;
        let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
        unescape(inner)
    };
    let plain = |kind: &'static str| attribute.is_none().then_some((kind, json!({})));
    let is_in_pre = open.last().is_some_and(|open| open.kind == "pre");
    let (kind, more) = match name {
        "b" | "strong" => plain("bold"),
        "i" | "em" => plain("italic"),
        "u" | "ins" => plain("underline"),
        "s" | "strike" | "del" => plain("strikethrough"),
        "tg-spoiler" => plain("spoiler"),
        "span" => (value("class").as_deref() == Some("tg-spoiler")).then(|| ("spoiler", json!({}))),
        "a" => value("href").filter(|url| !url.is_empty()).map(|url| ("text_link", json!({ "url": url }))),
        "tg-emoji" => value("emoji-id").map(|id| ("custom_emoji", json!({ "custom_emoji_id": id }))),
        "pre" => plain("pre"),
        "code" if attribute.is_none() => Some(("code", json!({}))),
        "code" if is_in_pre => value("class")
            .and_then(|class| class.strip_prefix("language-").map(str::to_owned))
            .map(|language| ("language", json!({ "language": language }))),
        "blockquote" if attribute == Some("expandable") => Some(("expandable_blockquote", json!({}))),
        "blockquote" => plain("blockquote"),
        _ => None,
    }
    .ok_or_else(unsupported)?;
    if let Some(outer) = open.iter().find(|outer| !may_contain(outer.kind, kind)) {
        return Err(format!("Entity \"{kind}\" in \"{}\" at byte offset {at}", outer.kind));
    }
    let place = parsed.entities.len();
    parsed.entities.push(Value::Null);
    open.push(Open { tag: name.to_owned(), kind, more, offset, place });
    Ok(())
}

/// Returns true if entities of these kinds may be within each other, by the documentation of formatting.
fn may_contain(outer: &str, inner: &str) -> bool {
    const STYLES: &[&str] = &["bold", "italic", "underline", "strikethrough", "spoiler"];
    const QUOTES: &[&str] = &["blockquote", "expandable_blockquote"];
    const CODE: &[&str] = &["pre", "code", "language"];
    match (outer, inner) {
        ("pre", "language") => true,
        (outer, inner) if QUOTES.contains(&outer) => !QUOTES.contains(&inner),
        (outer, _) if CODE.contains(&outer) => false,
        (outer, inner) if STYLES.contains(&outer) => !CODE.contains(&inner),
        (_, inner) => STYLES.contains(&inner),
    }
}

fn close(name: &str, at: usize, open: &mut Vec<Open>, end: usize, parsed: &mut Parsed) -> Result<(), String> {
    let Some(last) = open.pop() else { return Err(format!("Unexpected end tag at byte offset {at}")) };
    if last.tag != name {
        let expected = last.tag;
        return Err(format!(
            "Unmatched end tag at byte offset {at}, expected \"</{expected}>\", found \"</{name}>\""
        ));
    }
    if last.kind == "language" {
        // It is a part of the block around it.
        if let Some(outer) = open.last_mut() {
            outer.more = last.more;
        }
        parsed.entities[last.place] = json!({ "length": 0 });
        return Ok(());
    }
    let mut entity = json!({ "type": last.kind, "offset": last.offset, "length": end - last.offset });
    if let (Some(entity), Value::Object(more)) = (entity.as_object_mut(), last.more) {
        entity.extend(more);
    }
    parsed.entities[last.place] = entity;
    Ok(())
}

fn unescape(text: &str) -> Option<String> {
    let mut unescaped = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let (char, length) = match char {
            '&' => character(rest)?,
            '<' | '>' | '"' => return None,
            char => (char, char.len_utf8()),
        };
        unescaped.push(char);
        rest = &rest[length..];
    }
    Some(unescaped)
}

/// Returns the character for which a reference such as `&lt;` stands, and the reference's length.
fn character(text: &str) -> Option<(char, usize)> {
    let end = text.find(';').filter(|end| *end < 12)?;
    let char = match &text[1..end] {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        number => {
            let number = number.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|char| *char != '\0')?
        }
    };
    Some((char, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_entities() {
        let parsed = parse(
            "<b>😀 a<i>b</i></b> &lt;&#38;&#x41; <a href=\"https://x.test/?a&amp;b\">l</a>\
             <pre><code class=\"language-rust\">fn</code></pre><blockquote expandable><code>q</code></blockquote>",
        );
        let parsed = parsed.unwrap();
        assert_eq!(parsed.text, "😀 ab <&A lfnq");
        let expected = json!([
            { "type": "bold", "offset": 0, "length": 5 },
            { "type": "italic", "offset": 4, "length": 1 },
            { "type": "text_link", "offset": 10, "length": 1, "url": "https://x.test/?a&b" },
            { "type": "pre", "offset": 11, "length": 2, "language": "rust" },
            { "type": "expandable_blockquote", "offset": 13, "length": 1 },
            { "type": "code", "offset": 13, "length": 1 },
        ]);
        assert_eq!(Value::from(parsed.entities), expected);
    }

    #[test]
    fn errors() {
        for (html, expected) in [
            ("<b>a", "Can't find end tag corresponding to start tag \"b\""),
            ("a</b>", "Unexpected end tag at byte offset 1"),
            ("<b>a</i>", "expected \"</b>\", found \"</i>\""),
            ("<b><i>a</b></i>", "Unmatched end tag at byte offset 7"),
            ("<h1>a</h1>", "Unsupported start tag \"h1\" at byte offset 0"),
            ("<b class=\"x\">a</b>", "Unsupported start tag \"b\""),
            ("<a>a</a>", "Unsupported start tag \"a\""),
            ("<a href=x>a</a>", "Unsupported start tag \"a\""),
            ("<code class=\"language-c\">a</code>", "Unsupported start tag \"code\""),
            ("a < b", "Unclosed start tag at byte offset 2"),
            ("a > b", "Unescaped \">\" at byte offset 2"),
            ("a & b; c", "Unescaped \"&\" at byte offset 2"),
            ("&nbsp;", "Unescaped \"&\""),
            ("&#55296;", "Unescaped \"&\""),
            ("<code><b>a</b></code>", "Entity \"bold\" in \"code\""),
            ("<b><code>a</code></b>", "Entity \"code\" in \"bold\""),
            ("<a href=\"x\"><a href=\"y\">a</a></a>", "Entity \"text_link\" in \"text_link\""),
            ("<blockquote><b><blockquote>a</blockquote></b></blockquote>", "in \"blockquote\""),
        ] {
            let error = parse(html).unwrap_err();
            assert!(error.contains(expected), "{html}: {error}");
        }
    }
}
