//! Questions of the command that a person answers with yes or no.

use crate::console::Console;
use crate::exit::Stop;
use std::io::{self, BufRead as _, IsTerminal as _};

/// Asks a question on the terminal. Returns true if the answer confirms, and `None` if standard input is no terminal.
#[cfg_attr(not(any(feature = "gateway", feature = "mcp")), allow(dead_code, reason = "nothing asks"))]
pub(crate) fn ask(question: &str, console: &mut Console<'_>) -> Result<Option<bool>, Stop> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    discard_typed()?;
    console.note(question);
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(Some(is_yes(&line)))
}

/// Returns true if a line confirms: exactly `y` or `yes`, ended by Enter. Every other line declines, and so does the end of input.
pub(crate) fn is_yes(line: &str) -> bool {
    line.ends_with('\n') && matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Discards the lines that were typed on the terminal before a question appeared, so that they do not answer it.
///
/// # Errors
///
/// If the terminal cannot be read.
#[cfg(unix)]
pub(crate) fn discard_typed() -> io::Result<()> {
    use std::io::Read as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    // The flag belongs only to this open file: the shell's own is unchanged.
    let mut terminal = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open("/dev/tty")?;
    let mut typed = [0; 4096];
    // Bounded, since a writer may never stop.
    for _ in 0..1_000 {
        match terminal.read(&mut typed) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn discard_typed() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_line_with_an_explicit_yes_confirms() {
        for line in ["y\n", "Y\r\n", "yes\n", " YES \n"] {
            assert!(is_yes(line), "{line:?}");
        }
        for line in [
            "",
            "y",
            "yes",
            "\n",
            "n\n",
            "no!\n",
            "decline\n",
            "yy\n",
            "yes!\n",
            "ok\n",
            "true\n",
            "1\n",
            "ｙ\n",
        ] {
            assert!(!is_yes(line), "{line:?}");
        }
    }
}
