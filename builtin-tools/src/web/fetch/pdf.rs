//! Text of PDF files, by `pdftotext` in a sandbox: a parser of a format like this is not run on files of strangers without one.

use crate::program::{self, Fault};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, output::Retry};

/// Maximum number of bytes of text.
const MAX_TEXT_BYTES: u64 = 16 << 20;
/// The longest time.
const WITHIN: Duration = Duration::from_secs(30);

/// The text of a PDF file.
pub(super) async fn text(data: &[u8]) -> Result<String, ToolError> {
    let program = program::find("pdftotext").ok_or_else(|| {
        ToolError::unavailable(
            "this is a PDF file, and no program is installed that reads it: a person has to install `pdftotext` (the Debian package \
             poppler-utils)",
        )
    })?;
    let arguments = ["-q", "-enc", "UTF-8", "-", "-"];
    let text = program::run(program, &arguments, data, MAX_TEXT_BYTES, WITHIN).await.map_err(fault)?;
    Ok(String::from_utf8_lossy(&text).replace('\u{c}', "\n\n"))
}

fn fault(fault: Fault) -> ToolError {
    match fault {
        Fault::NotStarted(why) => ToolError::unavailable(format!(
            "this is a PDF file, and the program that reads it cannot run in a sandbox: {why}"
        ))
        .with_retry(Retry::Never),
        Fault::Failed(said) => {
            ToolError::failed(format!("the PDF file cannot be read: {said}; use another source"))
        }
        Fault::TooMuch => {
            ToolError::failed("the text of the PDF file is larger than 16 MiB; use another source")
        }
        Fault::TimedOut => ToolError::new(
            ToolErrorKind::TimedOut,
            format!("the PDF file was not converted to text within {WITHIN:?}; use another source"),
        ),
    }
}
