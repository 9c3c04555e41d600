//! Changing a file of YAML: the lines of an entry are put in or taken out, and the rest stays byte for byte.
//!
//! The text is parsed to locate its parts. The changed text is parsed again, and must have the same meaning as before, apart from the
//! entry. A file with constructs that this code does not understand is left unchanged.

mod node;

use super::{Changed, line_end};
use node::{Node, Part};
use serde_json::{Map, Value};
use std::fmt::Write as _;

pub(super) fn entry(text: &str, keys: &[&str], name: &str) -> Result<Option<Value>, String> {
    let Some(root) = node::parse(text)? else { return Ok(None) };
    let mut above = &root;
    for key in keys {
        match above.member(key)? {
            Some(part) if matches!(part.value, Node::Map { .. }) => above = &part.value,
            Some(part) if !part.value.is_null() => {
                return Err(format!("its `{key}` in line {} is not a mapping", line(text, part.start)));
            }
            _ => return Ok(None),
        }
    }
    Ok(above.get(name)?.map(Node::value))
}

pub(super) fn with(
    text: &str,
    keys: &[&str],
    name: &str,
    value: &Map<String, Value>,
) -> Result<Changed, String> {
    let [key] = keys else { return Err("entries this deep are not written".to_owned()) };
    let before = entry(text, keys, name)?;
    let mut wanted = before.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
    wanted.extend(value.clone());
    let wanted = Value::Object(wanted);
    if before.as_ref() == Some(&wanted) {
        return Ok(Changed { text: text.to_owned(), made: 0 });
    }
    let is_made = node::parse(text)?.is_none_or(|root| !matches!(root.get(key), Ok(Some(_))));
    let cleared = if before.is_some() { without(text, keys, name, 0)? } else { text.to_owned() };
    let text = put(&cleared, key, name, &wanted)?;
    check(&cleared, &text, key, name, Some(&wanted))?;
    Ok(Changed { text, made: usize::from(is_made) })
}

pub(super) fn without(text: &str, keys: &[&str], name: &str, made: usize) -> Result<String, String> {
    let [key] = keys else { return Err("entries this deep are not written".to_owned()) };
    if entry(text, keys, name)?.is_none() {
        return Ok(text.to_owned());
    }
    let without = take(text, &[key, name])?;
    check(text, &without, key, name, None)?;
    let is_empty = |text: &str| {
        let root = node::parse(text).ok().flatten();
        root.is_some_and(|root| matches!(root.get(key), Ok(Some(left)) if left.is_empty()))
    };
    if made > 0 && is_empty(&without) { take(&without, &[key]) } else { Ok(without) }
}

/// Puts an entry behind the others.
fn put(text: &str, key: &str, name: &str, value: &Value) -> Result<String, String> {
    let root = node::parse(text)?;
    let members = match &root {
        Some(root) => root.member(key)?,
        None => None,
    };
    let (at, added) = match members {
        Some(Part { value: Node::Map { is_flow: true, pairs, end, .. }, .. }) => {
            // Right behind the last: a comment may follow before the brace.
            let at = pairs.last().map_or(end - 1, Part::end);
            let comma = if pairs.is_empty() { "" } else { ", " };
            (at, format!("{comma}{}: {value}", Value::from(name)))
        }
        Some(Part { value: Node::Map { pairs, end, .. }, .. }) => {
            let indent = pairs.first().map_or(2, |part| column(text, part.start));
            (line_after(text, *end), lines(name, value, indent))
        }
        Some(part) if part.value.is_null() => (line_after(text, part.end()), lines(name, value, 2)),
        Some(part) => return Err(format!("its `{key}` in line {} is not a mapping", line(text, part.start))),
        None => {
            let at = match &root {
                Some(Node::Map { is_flow: true, .. }) => {
                    return Err("it is in braces; write it in block style".to_owned());
                }
                Some(root) => line_after(text, root.end()),
                None => text.len(),
            };
            (at, format!("{key}:\n{}", lines(name, value, 2)))
        }
    };
    let is_line = added.ends_with('\n');
    let line_end = line_end(&text[..at]);
    let added = added.replace('\n', line_end);
    let mut whole = text[..at].to_owned();
    if is_line && !whole.is_empty() && !whole.ends_with('\n') {
        whole.push_str(line_end);
    }
    whole.push_str(&added);
    whole.push_str(&text[at..]);
    Ok(whole)
}

/// Takes a member out, with its lines.
fn take(text: &str, path: &[&str]) -> Result<String, String> {
    let root = node::parse(text)?.ok_or("it is empty")?;
    let (name, above) = path.split_last().ok_or("nothing is named")?;
    let mut map = &root;
    for key in above {
        map = map.get(key)?.ok_or_else(|| format!("it has no `{key}`"))?;
    }
    let Node::Map { is_flow, pairs, .. } = map else { return Err("it is not a mapping".to_owned()) };
    let place = pairs.iter().position(|part| part.key == *name).ok_or("it has no such entry")?;
    let part = &pairs[place];
    let (mut from, mut to) = (part.start, part.end());
    if *is_flow {
        match (pairs.get(place + 1), place.checked_sub(1).map(|before| &pairs[before])) {
            (Some(next), _) => to = next.start,
            (None, Some(before)) => from = before.end(),
            (None, None) => {}
        }
    } else {
        from = text[..from].rfind('\n').map_or(0, |before| before + 1);
        to = line_after(text, to);
        if !text[from..part.start].trim().is_empty() {
            return Err(format!("line {} has something before `{name}`", line(text, part.start)));
        }
    }
    Ok(format!("{}{}", &text[..from], &text[to..]))
}

/// Checks that nothing else changed.
fn check(before: &str, after: &str, key: &str, name: &str, value: Option<&Value>) -> Result<(), String> {
    let said = |text: &str| Ok::<_, String>(node::parse(text)?.map_or(Value::Null, |root| root.value()));
    let (mut before, mut after) = (said(before)?, said(after)?);
    let taken = after.get_mut(key).and_then(Value::as_object_mut).and_then(|all| all.shift_remove(name));
    if let Some(all) = before.get_mut(key).and_then(Value::as_object_mut) {
        all.shift_remove(name);
    }
    // Without members the map is empty, or absent.
    for whole in [&mut before, &mut after] {
        let is_empty = whole.get(key).is_some_and(|all| all.is_null() || *all == Value::Object(Map::new()));
        if is_empty && let Some(whole) = whole.as_object_mut() {
            whole.shift_remove(key);
        }
        if whole.is_null() {
            *whole = Value::Object(Map::new());
        }
    }
    if before == after && taken.as_ref() == value {
        return Ok(());
    }
    Err("it is written in a way that cannot be changed without changing something else; edit it manually"
        .to_owned())
}

/// An entry in lines.
fn lines(name: &str, value: &Value, indent: usize) -> String {
    let mut text = format!("{}{}:\n", " ".repeat(indent), scalar(name));
    for (key, value) in value.as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => scalar(text),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        };
        let _ = writeln!(text, "{}{}: {value}", " ".repeat(indent + 2), scalar(key));
    }
    text
}

/// Formats a text as a scalar, unquoted if it cannot be read as anything else.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || "/_".contains(first))
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "/_-.@+".contains(character));
    let is_word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    if is_plain && !is_word { text.to_owned() } else { Value::from(text).to_string() }
}

/// Returns the line of an offset, counted from 1.
fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Returns the distance in bytes from the beginning of the line to an offset.
fn column(text: &str, at: usize) -> usize {
    at - text[..at].rfind('\n').map_or(0, |before| before + 1)
}

/// Returns the offset at which the next line begins.
fn line_after(text: &str, at: usize) -> usize {
    // A text in several lines ends where the next line begins.
    if at > 0 && text.as_bytes()[at - 1] == b'\n' {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value() -> Map<String, Value> {
        let value =
            json!({"enabled": true, "cmd": "/a b/c", "args": ["mcp", "x: y"], "envs": {}, "timeout": 300});
        value.as_object().unwrap().clone()
    }

    const LINES: &str = "toolkit:\n    enabled: true\n    cmd: \"/a b/c\"\n    args: [\"mcp\", \"x: y\"]\n    envs: {}\n    timeout: 300\n";

    #[test]
    fn an_entry_comes_behind_the_others_and_goes_again() {
        for (before, after) in [
            ("", format!("extensions:\n  {LINES}")),
            ("# Mine.\n", format!("# Mine.\nextensions:\n  {LINES}")),
            ("a: 1\n", format!("a: 1\nextensions:\n  {LINES}")),
            ("extensions:\n", format!("extensions:\n  {LINES}")),
            (
                "extensions:\n  other: # that\n    cmd: x\n    args:\n    - 1\n\n# End.\nb: |\n  x\n",
                format!(
                    "extensions:\n  other: # that\n    cmd: x\n    args:\n    - 1\n  {LINES}\n# End.\nb: |\n  x\n"
                ),
            ),
            (
                "a: 1\nextensions:\n    other:\n        text: |\n            one\n\n            two\n",
                format!(
                    "a: 1\nextensions:\n    other:\n        text: |\n            one\n\n            two\n    {}",
                    LINES.replace("    ", "      ")
                ),
            ),
        ] {
            let changed = with(before, &["extensions"], "toolkit", &value()).unwrap();
            assert_eq!(changed.text, after, "{before:?}");
            assert_eq!(entry(&after, &["extensions"], "toolkit").unwrap(), Some(Value::Object(value())));
            let again = with(&after, &["extensions"], "toolkit", &value()).unwrap();
            assert_eq!(again, Changed { text: after.clone(), made: 0 });
            assert_eq!(without(&after, &["extensions"], "toolkit", changed.made).unwrap(), before);
            assert_eq!(without(before, &["extensions"], "toolkit", 1).unwrap(), before);
        }
    }

    #[test]
    fn braces_and_other_line_ends_stay() {
        for before in [
            "extensions: {}\n",
            "extensions: { other: {cmd: x} }\nb: 1\n",
            "extensions: {other: {cmd: x},\n  more: 2 # that\n}\n",
            "a: 1\r\nextensions:\r\n  other:\r\n    cmd: x\r\n\r\nb: 2\r\n",
            "---\na: 1\nextensions:\n  other: {}\n...\n",
            "é: ü # 日本\nextensions:\n  \"ö\": {cmd: ä}\n",
        ] {
            let changed = with(before, &["extensions"], "toolkit", &value()).unwrap();
            assert_eq!(
                entry(&changed.text, &["extensions"], "toolkit").unwrap(),
                Some(Value::Object(value()))
            );
            let lone = changed.text.replace("\r\n", "").contains('\n');
            assert_eq!(lone, !before.contains("\r\n"), "{:?}", changed.text);
            assert_eq!(
                without(&changed.text, &["extensions"], "toolkit", changed.made).unwrap(),
                before,
                "{}",
                changed.text
            );
        }
    }

    #[test]
    fn what_somebody_added_to_an_entry_stays() {
        let before =
            "extensions:\n  toolkit:\n    cmd: old\n    available_tools: [read]\n  other:\n    cmd: x\n";
        let changed = with(before, &["extensions"], "toolkit", &value()).unwrap();
        let found = entry(&changed.text, &["extensions"], "toolkit").unwrap().unwrap();
        assert_eq!((&found["available_tools"], &found["cmd"]), (&json!(["read"]), &json!("/a b/c")));
        assert!(changed.text.contains("  other:\n    cmd: x\n"), "{}", changed.text);
    }

    #[test]
    fn what_cannot_be_changed_safely_is_left() {
        for (text, expected) in [
            ("a: [1\nb: 2\n", "line"),
            ("extensions: text\n", "its `extensions` in line 1 is not a mapping"),
            ("a: 1\nextensions:\n- x\n", "its `extensions` in line"),
            ("- a\n", "is not a mapping"),
            ("a: 1\n---\nb: 2\n", "several documents"),
            ("extensions: &e\n  a: {cmd: x}\nb: *e\n", ""),
            ("extensions:\n  a: 1\n  a: 2\n", "has `a` twice"),
            ("{a: 1}\n", "braces"),
        ] {
            match with(text, &["extensions"], "toolkit", &value()) {
                Err(error) => assert!(error.contains(expected), "{text}: {error}"),
                // References to it would change with it.
                Ok(changed) => panic!("{text}: {}", changed.text),
            }
        }
    }
}
