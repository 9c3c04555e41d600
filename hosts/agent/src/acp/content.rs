//! Texts, as the editor shows them.

use serde_json::{Value, json};
use toolkit::views::{StepStatus, StepType};

/// The most bytes of a text of a tool call.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// A piece of a message of the model or of the user.
pub(super) fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

/// Text of a tool, which is shown as it is and not as Markdown.
pub(super) fn verbatim(text: &str) -> Value {
    let text = bounded(text);
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    plain(&format!("{fence}\n{text}{end}{fence}"))
}

/// Text that is Markdown.
pub(super) fn plain(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

/// The end of a text that is too long.
fn bounded(text: &str) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    let at = text.ceil_char_boundary(text.len() - MAX_TEXT_BYTES);
    format!("[… {at} bytes are left out …]\n{}", &text[at..])
}

/// The kind of a tool call.
pub(super) fn kind(kind: StepType, tool: &str) -> &'static str {
    match kind {
        StepType::Bash | StepType::BashConfirm => "execute",
        StepType::Read => "read",
        StepType::Write | StepType::Edit => "edit",
        StepType::Glob | StepType::Grep => "search",
        StepType::Delegate => "think",
        _ if tool == "web_fetch" => "fetch",
        _ if tool.ends_with("search") => "search",
        _ => "other",
    }
}

pub(super) fn status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Running => "in_progress",
        StepStatus::Completed => "completed",
        StepStatus::Failed => "failed",
        _ => "pending",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbatim_text_cannot_end_its_block() {
        let text = |value: Value| value["content"]["text"].as_str().unwrap().to_owned();
        assert_eq!(text(verbatim("a\n")), "```\na\n```");
        assert_eq!(text(verbatim("````\nx")), "`````\n````\nx\n`````");
        let long = text(verbatim(&"ä".repeat(MAX_TEXT_BYTES)));
        assert!(long.contains("bytes are left out") && long.len() < MAX_TEXT_BYTES + 100);
    }
}
