//! The text around JSON: a code fence, a byte order mark.

/// Returns the text within a Markdown code fence or after a byte order mark; `None` if there is neither.
pub(in super::super) fn without_wrapping(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    let marked = trimmed.strip_prefix('\u{FEFF}').map(str::trim);
    let body = marked.unwrap_or(trimmed);
    fenced(body).or(marked)
}

fn fenced(text: &str) -> Option<&str> {
    let within = text.strip_prefix("```")?.strip_suffix("```")?;
    // The language, if it is given: a fence of another language may contain anything.
    let body = match within.get(..4) {
        Some(language) if language.eq_ignore_ascii_case("json") => &within[4..],
        _ => within,
    };
    let body = body.trim();
    (body.starts_with(['{', '[', '"']) && !body.contains("```")).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_around_a_fence_is_left_out() {
        for (text, expected) in [
            ("```json\n{}\n```", Some("{}")),
            ("\n```JSON\r\n{}\r\n```\n", Some("{}")),
            ("```\n[1]\n```", Some("[1]")),
            ("```{}```", Some("{}")),
            ("\u{FEFF}{}", Some("{}")),
            ("\u{FEFF} ```json\n{}\n```", Some("{}")),
            ("{}", None),
            ("```json\n{}", None),
            ("```python\n{}\n```", None),
            ("```json5\n{}\n```", None),
            ("```json\n{}\n```\n```json\n{}\n```", None),
            ("```json {} ``` and more", None),
            ("``````", None),
            ("`````", None),
        ] {
            assert_eq!(without_wrapping(text), expected, "{text:?}");
        }
    }
}
