//! Changing a file of TOML: the lines of a table are put in or taken out, and the rest stays byte for byte.
//!
//! The text is parsed to locate its parts. The changed text is parsed again, and must have the same meaning as before, apart from the
//! entry.

use super::{Changed, line_end};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::ops::Range;
use toml_edit::{Document, Item, TableLike};

pub(super) fn entry(text: &str, keys: &[&str], name: &str) -> Result<Option<Value>, String> {
    let document = parse(text)?;
    let path = [keys, &[name]].concat();
    Ok(find(&document, &path)?.map(value))
}

pub(super) fn with(
    text: &str,
    keys: &[&str],
    name: &str,
    wanted: &Map<String, Value>,
) -> Result<Changed, String> {
    let before = entry(text, keys, name)?;
    let mut members = before.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
    members.extend(wanted.clone());
    let wanted = Value::Object(members.clone());
    if before.as_ref() == Some(&wanted) {
        return Ok(Changed { text: text.to_owned(), made: 0 });
    }
    let cleared = if before.is_some() { without(text, keys, name)? } else { text.to_owned() };
    let document = parse(&cleared)?;
    let line_end = line_end(&cleared);
    let after = match find(&document, keys)? {
        // Tables in braces have no lines of their own.
        Some(Item::Value(servers)) => {
            let Some(table) = servers.as_inline_table() else {
                return Err(format!("its `{}` is not a table", keys.join(".")));
            };
            let end = servers.span().ok_or("its place is not known")?.end - 1;
            let head = cleared[..end].trim_end();
            let comma = if table.is_empty() || head.ends_with(',') { "" } else { "," };
            let (head_end, tail) = (head.len(), &cleared[head.len()..]);
            let space = if table.is_empty() { "" } else { " " };
            format!("{}{comma}{space}{} = {}{tail}", &cleared[..head_end], key(name), inline(&wanted)?)
        }
        _ => {
            let mut after = cleared.clone();
            if !after.is_empty() && !after.ends_with('\n') {
                after.push_str(line_end);
            }
            // An empty line before the entry is removed with it.
            let space = if after.is_empty() { "" } else { "\n" };
            let path: Vec<String> = keys.iter().chain([&name]).map(|part| key(part)).collect();
            let lines = format!("{space}{}", table(&path.join("."), &members)?);
            after.push_str(&lines.replace('\n', line_end));
            after
        }
    };
    check(&cleared, &after, keys, name, Some(&wanted))?;
    Ok(Changed { text: after, made: 0 })
}

pub(super) fn without(text: &str, keys: &[&str], name: &str) -> Result<String, String> {
    let document = parse(text)?;
    let path = [keys, &[name]].concat();
    let Some(item) = find(&document, &path)? else { return Ok(text.to_owned()) };
    let above = find(&document, keys)?.and_then(Item::as_table_like).ok_or("it has no such entry")?;
    let mut ranges = Vec::new();
    match item {
        Item::Table(table) if !table.is_dotted() => {
            let mut heads = Vec::new();
            heads_of(document.as_table(), &mut heads);
            heads.sort_unstable();
            let mut own = Vec::new();
            own.extend(table.span().filter(|_| !table.is_implicit()).map(|head| head.start));
            heads_of(table, &mut own);
            for head in own {
                // Up to the next table, less the comments in front of that.
                let next = heads.iter().copied().find(|next| *next > head).unwrap_or(text.len());
                let from = line_start(text, head);
                ranges.push(from..from + last_line(&text[from..line_start(text, next)]));
            }
        }
        Item::Value(_) | Item::Table(_) => {
            let (place, _) = above.get_key_value(name).ok_or("it has no such entry")?;
            let start = place.span().ok_or("its place is not known")?.start;
            let end = item.span().ok_or("it is written with dots; remove it manually")?.end;
            ranges.push(member(text, start..end));
        }
        _ => return Err("it is written as a list; remove it manually".to_owned()),
    }
    ranges.sort_unstable_by_key(|range| range.start);
    let mut after = String::with_capacity(text.len());
    let mut place = 0;
    for range in ranges {
        after.push_str(&text[place..range.start]);
        // The empty line that was added with it.
        for blank in ["\r\n\r\n", "\n\n"] {
            if after.ends_with(blank) {
                after.truncate(after.len() - blank.len() / 2);
            }
        }
        place = range.end;
    }
    after.push_str(&text[place..]);
    check(text, &after, keys, name, None)?;
    Ok(after)
}

fn parse(text: &str) -> Result<Document<&str>, String> {
    Document::parse(text).map_err(|error| {
        let place = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let place = place.map(|line| format!(" in line {line}")).unwrap_or_default();
        format!("it is not valid TOML{place}: {}", error.message().trim())
    })
}

/// Returns the item at a path of keys.
fn find<'a>(document: &'a Document<&str>, path: &[&str]) -> Result<Option<&'a Item>, String> {
    let mut item = document.as_item();
    for (depth, key) in path.iter().enumerate() {
        let table = item
            .as_table_like()
            .ok_or_else(|| format!("its `{}` is not a table", path[..depth].join(".")))?;
        match table.get(key) {
            Some(next) => item = next,
            None => return Ok(None),
        }
    }
    Ok(Some(item))
}

/// Collects the offsets of the headers of all tables below a table.
fn heads_of(table: &dyn TableLike, heads: &mut Vec<usize>) {
    for (_, item) in table.iter() {
        match item {
            Item::Table(table) => {
                if !table.is_implicit() && !table.is_dotted() {
                    heads.extend(table.span().map(|head| head.start));
                }
                heads_of(table, heads);
            }
            Item::ArrayOfTables(tables) => {
                for table in tables {
                    heads.extend(table.span().map(|head| head.start));
                    heads_of(table, heads);
                }
            }
            _ => {}
        }
    }
}

/// Returns the length of the text up to the end of the last line that is neither empty nor a comment.
fn last_line(lines: &str) -> usize {
    let (mut kept, mut place) = (0, 0);
    for line in lines.split_inclusive('\n') {
        place += line.len();
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            kept = place;
        }
    }
    kept
}

/// A member with its comma, or with its line.
fn member(text: &str, range: Range<usize>) -> Range<usize> {
    let behind = text[range.end..].trim_start_matches([' ', '\t']);
    let before = text[..range.start].trim_end();
    if behind.starts_with(',') {
        let comma = text.len() - behind.len() + 1;
        let space = text[comma..].len() - text[comma..].trim_start_matches([' ', '\t']).len();
        return range.start..comma + space;
    }
    if before.ends_with(',') {
        return before.len() - 1..range.end;
    }
    if before.ends_with('{') {
        return before.len()..range.end;
    }
    let from = line_start(text, range.start);
    from..text[range.end..].find('\n').map_or(text.len(), |end| range.end + end + 1)
}

fn line_start(text: &str, at: usize) -> usize {
    if at == text.len() && !text.ends_with('\n') {
        return at;
    }
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

/// Checks that nothing else changed.
fn check(before: &str, after: &str, keys: &[&str], name: &str, wanted: Option<&Value>) -> Result<(), String> {
    let said = |text: &str| parse(text).map(|document| value(document.as_item()));
    let (mut before, mut after) = (said(before)?, said(after)?);
    let take = |whole: &mut Value| {
        let pointer = format!("/{}", keys.join("/"));
        let all = whole.pointer_mut(&pointer).and_then(Value::as_object_mut);
        all.and_then(|all| all.shift_remove(name))
    };
    take(&mut before);
    let found = take(&mut after);
    // A table that exists only as the parent of others vanishes with them.
    for whole in [&mut before, &mut after] {
        let is_empty = |all: &Value| all.as_object().is_some_and(Map::is_empty);
        if let (Some(whole), [key]) = (whole.as_object_mut(), keys)
            && whole.get(*key).is_some_and(is_empty)
        {
            whole.shift_remove(*key);
        }
    }
    if before == after && found.as_ref() == wanted {
        return Ok(());
    }
    Err("it is written in a way that cannot be changed without changing something else; edit it manually"
        .to_owned())
}

/// Converts an item to JSON. A value that JSON lacks becomes a string that no other value has.
fn value(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return table.iter().map(|(key, item)| (key.to_owned(), value(item))).collect::<Map<_, _>>().into();
    }
    match item {
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| value(&Item::Table(table.clone()))).collect()
        }
        Item::Value(toml_edit::Value::String(text)) => Value::from(text.value().as_str()),
        Item::Value(toml_edit::Value::Integer(number)) => Value::from(*number.value()),
        Item::Value(toml_edit::Value::Boolean(value)) => Value::from(*value.value()),
        Item::Value(toml_edit::Value::Array(items)) => {
            items.iter().map(|one| value(&Item::Value(one.clone()))).collect()
        }
        other => Value::from(format!("\u{0}{}", other.to_string().trim())),
    }
}

/// A table in lines.
fn table(path: &str, members: &Map<String, Value>) -> Result<String, String> {
    let mut text = format!("[{path}]\n");
    let (tables, values): (Vec<_>, Vec<_>) = members.iter().partition(|(_, value)| value.is_object());
    for (name, value) in values {
        let _ = writeln!(text, "{} = {}", key(name), inline(value)?);
    }
    for (name, value) in tables {
        let members = value.as_object().cloned().unwrap_or_default();
        let _ = write!(text, "\n{}", table(&format!("{path}.{}", key(name)), &members)?);
    }
    Ok(text)
}

/// A value in one line.
fn inline(value: &Value) -> Result<String, String> {
    Ok(match value {
        Value::String(text) if text.starts_with('\u{0}') => text[1..].to_owned(),
        Value::String(text) => toml_edit::Value::from(&**text).to_string(),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect::<Result<_, _>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members =
                members.iter().map(|(name, value)| Ok(format!("{} = {}", key(name), inline(value)?)));
            format!("{{ {} }}", members.collect::<Result<Vec<_>, String>>()?.join(", "))
        }
        Value::Null => return Err("TOML has no null".to_owned()),
    })
}

fn key(name: &str) -> String {
    toml_edit::Key::new(name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEYS: &[&str] = &["mcp_servers"];

    fn wanted() -> Map<String, Value> {
        json!({"command": "/a \"b\"/c", "args": ["mcp", "x"]}).as_object().unwrap().clone()
    }

    const LINES: &str = "[mcp_servers.toolkit]\ncommand = '/a \"b\"/c'\nargs = [\"mcp\", \"x\"]\n";

    #[test]
    fn an_entry_comes_at_the_end_and_goes_again() {
        for (before, after) in [
            ("", LINES.to_owned()),
            ("# Mine.\n", format!("# Mine.\n\n{LINES}")),
            ("model = \"x\" # that\n", format!("model = \"x\" # that\n\n{LINES}")),
            (
                "a = 1\n\n[mcp_servers.other] # it\ncommand = \"x\"\n\n[mcp_servers.other.env]\nA = \"1\"\n\n# Of z.\n[z]\nb = 2024-01-01\n",
                format!(
                    "a = 1\n\n[mcp_servers.other] # it\ncommand = \"x\"\n\n[mcp_servers.other.env]\nA = \"1\"\n\n# Of z.\n[z]\nb = 2024-01-01\n\n{LINES}"
                ),
            ),
            ("a = 1\n\n\n", format!("a = 1\n\n\n\n{LINES}")),
            (
                "[mcp_servers]\nother.command = \"x\"\n",
                format!("[mcp_servers]\nother.command = \"x\"\n\n{LINES}"),
            ),
        ] {
            let changed = with(before, KEYS, "toolkit", &wanted()).unwrap();
            assert_eq!(changed.text, after, "{before:?}");
            assert_eq!(entry(&after, KEYS, "toolkit").unwrap(), Some(Value::Object(wanted())));
            assert_eq!(with(&after, KEYS, "toolkit", &wanted()).unwrap().text, after);
            assert_eq!(without(&after, KEYS, "toolkit").unwrap(), before);
            assert_eq!(without(before, KEYS, "toolkit").unwrap(), before);
        }
    }

    #[test]
    fn what_comes_behind_an_entry_stays_and_so_do_line_ends_and_braces() {
        let before =
            format!("a = 1\n\n{LINES}\n[mcp_servers.toolkit.env]\nA = \"1\"\n\n# Of z.\n[z]\nb = 1\n");
        assert_eq!(without(&before, KEYS, "toolkit").unwrap(), "a = 1\n\n# Of z.\n[z]\nb = 1\n");
        for before in [
            "a = 1\r\n[z]\r\nb = 2\r\n",
            "mcp_servers = { other = { command = \"x\" } }\nb = 1\n",
            "mcp_servers = {}\n",
            "\"é\" = \"日本\"\n[[many]]\nx = 1\n[[many]]\nx = 2\n",
        ] {
            let changed = with(before, KEYS, "toolkit", &wanted()).unwrap();
            assert_eq!(entry(&changed.text, KEYS, "toolkit").unwrap(), Some(Value::Object(wanted())));
            let lone = changed.text.replace("\r\n", "").contains('\n');
            assert_eq!(lone, !before.contains("\r\n"), "{:?}", changed.text);
            assert_eq!(without(&changed.text, KEYS, "toolkit").unwrap(), before, "{}", changed.text);
        }
    }

    #[test]
    fn what_somebody_added_to_an_entry_stays() {
        let before = "[mcp_servers.toolkit]\ncommand = \"old\"\nstartup_timeout_sec = 2.5\n\n[mcp_servers.toolkit.env]\nA = \"1\"\n\n[z]\n";
        let changed = with(before, KEYS, "toolkit", &wanted()).unwrap().text;
        let found = entry(&changed, KEYS, "toolkit").unwrap().unwrap();
        assert_eq!((&found["env"], &found["args"]), (&json!({"A": "1"}), &json!(["mcp", "x"])));
        assert!(changed.contains("startup_timeout_sec = 2.5\n") && changed.contains("[z]\n"), "{changed}");
    }

    #[test]
    fn what_is_not_understood_is_left() {
        for (text, expected) in [
            ("a = 1\nb = [\n", "it is not valid TOML in line"),
            ("a = 1\na = 2\n", "in line 2"),
            ("mcp_servers = 1\n", "its `mcp_servers` is not a table"),
            ("[[mcp_servers]]\nx = 1\n", "its `mcp_servers` is not a table"),
        ] {
            let error = with(text, KEYS, "toolkit", &wanted()).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
