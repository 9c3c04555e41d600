//! A strict reader of the HTML that Telegram takes. It shares nothing with the code under test, and takes less than Telegram does: each
//! tag in the one form that is expected, properly nested, around at least one character, and combined as Telegram's documentation allows.

/// A text that was read, with the elements that each character is in.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parsed {
    /// The text without tags.
    pub text: String,
    /// For each character, the elements that it is in, sorted. A link has its destination, and a code block its language.
    pub looks: Vec<Vec<String>>,
    /// The number of elements.
    pub elements: usize,
    /// The bytes of tags.
    pub tag_bytes: usize,
}

struct Open {
    name: String,
    attribute: String,
    /// The characters before it.
    start: usize,
}

/// Reads HTML, or says what is wrong with it.
pub(super) fn parse(html: &str) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    let mut open: Vec<Open> = Vec::new();
    let mut rest = html;
    while let Some(first) = rest.chars().next() {
        match first {
            '<' => {
                let (tag, after) =
                    rest[1..].split_once('>').ok_or_else(|| format!("no end of a tag in {rest:?}"))?;
                parsed.tag_bytes += tag.len() + 2;
                match tag.strip_prefix('/') {
                    Some(name) => end(name, &mut open, &mut parsed, after)?,
                    None => open.push(start(tag, &open, &mut parsed)?),
                }
                rest = after;
            }
            '&' => {
                let (name, after) =
                    rest[1..].split_once(';').ok_or_else(|| format!("a bare & in {rest:?}"))?;
                push(entity(name)?, &open, &mut parsed);
                rest = after;
            }
            '>' => return Err(format!("a bare > in {html:?}")),
            other => {
                push(other, &open, &mut parsed);
                rest = &rest[other.len_utf8()..];
            }
        }
    }
    match open.last() {
        Some(left) => Err(format!("<{}> is not closed in {html:?}", left.name)),
        None => Ok(parsed),
    }
}

fn push(character: char, open: &[Open], parsed: &mut Parsed) {
    let mut look: Vec<String> = open.iter().map(|open| format!("{}{}", open.name, open.attribute)).collect();
    look.sort();
    parsed.text.push(character);
    parsed.looks.push(look);
}

fn entity(name: &str) -> Result<char, String> {
    match name {
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "amp" => Ok('&'),
        "quot" => Ok('"'),
        other => other
            .strip_prefix('#')
            .and_then(|number| number.parse::<u32>().ok())
            .and_then(char::from_u32)
            .ok_or_else(|| format!("the entity &{other};")),
    }
}

fn start(tag: &str, open: &[Open], parsed: &mut Parsed) -> Result<Open, String> {
    let (name, attribute) = tag.split_once(' ').unwrap_or((tag, ""));
    let parent = open.last();
    let attribute = match (name, attribute) {
        ("b" | "i" | "u" | "s" | "code" | "pre" | "blockquote", "") => String::new(),
        ("a", attribute) => link(attribute)?,
        ("code", attribute) => {
            let is_first =
                parent.is_some_and(|parent| parent.name == "pre" && parent.start == parsed.looks.len());
            if !is_first {
                return Err(format!("<{tag}> is not the first in <pre>"));
            }
            value(attribute, "class")?
                .strip_prefix("language-")
                .filter(|name| !name.is_empty() && !name.contains(char::is_whitespace))
                .map(|name| format!(" {name}"))
                .ok_or_else(|| format!("the language of <{tag}>"))?
        }
        _ => return Err(format!("the tag <{tag}>")),
    };
    let is_of_block = name == "code" && !attribute.is_empty();
    for outer in open {
        let allowed = match outer.name.as_str() {
            "pre" => is_of_block,
            "code" => false,
            "blockquote" => name != "blockquote",
            outer_name => outer_name != name && matches!(name, "b" | "i" | "u" | "s" | "a"),
        };
        if !allowed {
            return Err(format!("<{name}> in <{}>", outer.name));
        }
    }
    parsed.elements += usize::from(!is_of_block);
    Ok(Open { name: name.to_owned(), attribute, start: parsed.looks.len() })
}

fn link(attribute: &str) -> Result<String, String> {
    let href = value(attribute, "href")?;
    let mut destination = String::new();
    let mut rest = href;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        if first == '&' {
            let (name, after) = rest.split_once(';').ok_or_else(|| format!("a bare & in {href:?}"))?;
            destination.push(entity(name)?);
            rest = after;
        } else if matches!(first, '<' | '>') || first.is_whitespace() {
            return Err(format!("{first:?} in {href:?}"));
        } else {
            destination.push(first);
        }
    }
    let lower = destination.to_ascii_lowercase();
    if !["http://", "https://", "tg://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme)) {
        return Err(format!("the scheme of {destination:?}"));
    }
    Ok(format!(" {destination}"))
}

fn value<'a>(attribute: &'a str, name: &str) -> Result<&'a str, String> {
    attribute
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix("=\""))
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|value| !value.contains('"'))
        .ok_or_else(|| format!("the attribute {attribute:?}"))
}

fn end(name: &str, open: &mut Vec<Open>, parsed: &mut Parsed, after: &str) -> Result<(), String> {
    let last = open.pop().ok_or_else(|| format!("</{name}> closes nothing"))?;
    if last.name != name {
        return Err(format!("</{name}> closes <{}>", last.name));
    }
    if last.start == parsed.looks.len() {
        return Err(format!("<{name}> is empty"));
    }
    if name == "code" && !last.attribute.is_empty() && !after.starts_with("</pre>") {
        return Err("the language of a code block ends before it".to_owned());
    }
    Ok(())
}

#[test]
fn the_strict_reader_takes_the_html_of_telegram_alone() {
    let html = "<blockquote>a <b>b<i>c</i></b></blockquote>\n<pre><code class=\"language-rust\">&lt;x&gt;</code></pre><pre>y</pre>";
    let parsed = parse(html).expect("is good");
    assert_eq!(parsed.text, "a bc\n<x>y");
    assert_eq!(parsed.looks[0], ["blockquote"]);
    assert_eq!(parsed.looks[3], ["b", "blockquote", "i"]);
    assert_eq!(parsed.looks[5], ["code rust", "pre"]);
    assert_eq!(parsed.looks[8], ["pre"]);
    assert_eq!(parsed.elements, 5);
    let link = parse("<a href=\"https://a.b/?x=1&amp;y=&quot;\">t</a>&#65;").expect("is good");
    assert_eq!(link.looks[0], ["a https://a.b/?x=1&y=\""]);
    assert_eq!(link.text, "tA");
    for wrong in [
        "<b>a",
        "a</b>",
        "<b><i>a</b></i>",
        "<b></b>",
        "<b>a<b>b</b></b>",
        "<em>a</em>",
        "<b class=\"x\">a</b>",
        "a < b",
        "a > b",
        "a & b",
        "&nbsp;",
        "&copy;",
        "<a>t</a>",
        "<a href=\"javascript:x\">t</a>",
        "<a href='https://a'>t</a>",
        "<a href=\"https://a?b&c\">t</a>",
        "<a href=\"https://a\"b\">t</a>",
        "<code class=\"language-x\">a</code>",
        "<pre>a<code class=\"language-x\">b</code></pre>",
        "<pre><code class=\"language-x\">b</code>a</pre>",
        "<pre><code class=\"x\">b</code></pre>",
        "<pre><b>a</b></pre>",
        "<code><i>a</i></code>",
        "<b><code>a</code></b>",
        "<a href=\"https://a\"><code>a</code></a>",
        "<blockquote><blockquote>a</blockquote></blockquote>",
        "<b><blockquote>a</blockquote></b>",
        "<b",
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}
