//! Parser of a configuration file.

/// The callback for each key: a section, its own name, a key and its value in the first line.
pub(super) type EachKey<'a> = dyn FnMut(&str, Option<&str>, &str, &str) -> Result<(), String> + 'a;

/// Passes each key of a configuration, with its section, to `each`. An empty error means that the text cannot be parsed.
pub(super) fn each_key(text: &str, each: &mut EachKey<'_>) -> Result<(), String> {
    let mut section: Option<(String, Option<String>)> = None;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let end = section_end(rest).ok_or_else(String::new)?;
            section = Some(header(&rest[..end]).ok_or_else(String::new)?);
            line = rest[end + 1..].trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (section, name) = section.as_ref().ok_or_else(String::new)?;
        let key: String = line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        if key.is_empty() {
            return Err(String::new());
        }
        let value = line[key.len()..].trim_start().trim_start_matches('=').trim();
        each(section, name.as_deref(), &key.to_ascii_lowercase(), value)?;
        // A value continues on the next line after a backslash, but a comment does not.
        if line.contains(['#', ';']) && line.ends_with('\\') {
            return Err(String::new());
        }
        let mut value = line;
        let goes_on =
            |value: &str| !value.bytes().rev().take_while(|byte| *byte == b'\\').count().is_multiple_of(2);
        while goes_on(value) {
            value = lines.next().ok_or_else(String::new)?.trim_end();
            if value.contains(['#', ';']) {
                return Err(String::new());
            }
        }
    }
    Ok(())
}

/// Returns the end of a section header, whose name may contain brackets.
fn section_end(rest: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in rest.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return Some(at),
            _ => {}
        }
    }
    None
}

fn header(text: &str) -> Option<(String, Option<String>)> {
    let text = text.trim();
    if let Some((section, name)) = text.split_once('"') {
        return Some((section.trim().to_ascii_lowercase(), Some(name.strip_suffix('"')?.to_owned())));
    }
    // The old way of naming one.
    if let Some((section, name)) = text.split_once('.') {
        return Some((section.to_ascii_lowercase(), Some(name.to_owned())));
    }
    Some((text.to_ascii_lowercase(), None))
}
