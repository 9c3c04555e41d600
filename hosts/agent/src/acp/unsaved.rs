//! Text that an editor has not saved: it is not overwritten.

use super::{Link, SharedLink};
use serde_json::{Value, json};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use toolkit::{ToolError, files::FileChange, text::escape_line};

/// How long an editor may take to show its text of a file.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time between two looks for its answer.
const PAUSE: Duration = Duration::from_millis(2);

/// Returns a hook for the agent of a session: before a file changes, it asks the editor for its text of the file, and fails if that is not
/// what is on the disk. It allows all changes where the editor does not show its text.
pub(super) fn guard(
    link: SharedLink,
) -> impl Fn(&FileChange<'_>) -> Result<(), ToolError> + Send + Sync + 'static {
    move |change| link.check_saved(change)
}

impl Link {
    /// Fails if the editor has another text of the file than the disk. Blocks.
    fn check_saved(&self, change: &FileChange<'_>) -> Result<(), ToolError> {
        let Some(session) = self.session.get().filter(|_| self.client.abilities().read_text_file) else {
            return Ok(());
        };
        let on_disk = change.before.map(|content| content.bytes);
        let Some(Ok(on_disk)) = on_disk.map(std::str::from_utf8) else { return Ok(()) };
        match self.text_of(session, change.path) {
            Some(text) if !is_same(&text, on_disk) => Err(ToolError::failed(format!(
                "{} was not changed: the editor has unsaved changes to it; ask the user to save or revert the file, \
                 then read it again",
                escape_line(&change.path.display().to_string())
            ))),
            _ => Ok(()),
        }
    }

    /// The editor's text of a file; `None` if it shows none in time.
    fn text_of(&self, session: &str, path: &Path) -> Option<String> {
        let params = json!({"sessionId": session, "path": path.to_str()?});
        let mut waiting = self.client.request("fs/read_text_file", &params);
        let until = Instant::now() + PATIENCE;
        let answer = loop {
            if let Some(answer) = waiting.try_answer() {
                break answer.ok()?;
            }
            if Instant::now() >= until || self.client.outbox().closed().is_cancelled() {
                return None;
            }
            thread::sleep(PAUSE);
        };
        answer.get("content").and_then(Value::as_str).map(str::to_owned)
    }
}

/// Compares texts as editors keep them: without a byte order mark, with any kind of line end.
fn is_same(one: &str, other: &str) -> bool {
    let lines = |text: &str| text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    lines(one) == lines(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_and_byte_order_marks_are_no_changes() {
        assert!(is_same("a\nb\n", "\u{feff}a\r\nb\r\n"));
        assert!(!is_same("a\nb\n", "a\nb"));
    }
}
