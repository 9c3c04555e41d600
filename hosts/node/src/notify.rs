//! Notifications of the desktop, by the program `notify-send`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;
use toolkit::ToolError;

/// The program.
const PROGRAM: &str = "notify-send";
/// Time for the program.
const WITHIN: Duration = Duration::from_secs(10);
/// The longest complaint of the program that is shown, in characters.
const MAX_COMPLAINT_CHARS: usize = 500;

/// A notification.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notification<'a> {
    pub(crate) title: &'a str,
    pub(crate) text: Option<&'a str>,
}

/// The program that shows notifications.
#[derive(Debug, Clone)]
pub(crate) struct Notifier(PathBuf);

impl Notifier {
    /// Finds the program, if there is a session bus that it can use.
    pub(crate) fn find() -> Option<Self> {
        let has_address = env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
        let socket = || Some(Path::new(&env::var_os("XDG_RUNTIME_DIR")?).join("bus").exists());
        if !has_address && socket() != Some(true) {
            return None;
        }
        let paths = env::var_os("PATH")?;
        let found = env::split_paths(&paths).filter(|path| path.is_absolute()).map(|path| path.join(PROGRAM));
        found.into_iter().find(|path| path.is_file()).map(Self)
    }

    /// Shows a notification.
    ///
    /// # Errors
    ///
    /// `Failed` if nobody shows it.
    pub(crate) async fn show(&self, notification: &Notification<'_>) -> Result<(), ToolError> {
        let mut command = Command::new(&self.0);
        // Each text is one argument, and none is an option.
        command.args(["--app-name=toolkit", "--", &plain(notification.title)]);
        if let Some(text) = notification.text {
            command.arg(escaped(&plain(text)));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let failed = |why: String| ToolError::failed(format!("the notification was not shown: {why}"));
        let ended = timeout(WITHIN, command.output()).await;
        let ended = ended.map_err(|_| failed(format!("`{PROGRAM}` did not end within {WITHIN:?}")))?;
        let ended = ended.map_err(|error| failed(error.to_string()))?;
        if ended.status.success() {
            return Ok(());
        }
        let complaint = String::from_utf8_lossy(&ended.stderr);
        let complaint: String = complaint.trim().chars().take(MAX_COMPLAINT_CHARS).collect();
        Err(failed(format!("`{PROGRAM}` ended with {}: {complaint}", ended.status)))
    }
}

/// A text without control characters but for line breaks: an argument has no zero byte.
fn plain(text: &str) -> String {
    text.chars().filter(|char| *char == '\n' || !char.is_control()).collect()
}

/// A text in which no server of notifications finds markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_neither_markup_nor_control_characters() {
        assert_eq!(escaped(&plain("a\u{0}b\u{1b}[1m\n<b>&</b>")), "ab[1m\n&lt;b&gt;&amp;&lt;/b&gt;");
    }
}
