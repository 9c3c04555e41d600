//! Text of PDF files, by `pdftotext` in a sandbox: a parser of a format like this is not run on files of strangers without one.

use std::env;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, output::Retry, text::escape_line};
use toolkit_sandbox::{Command, Limits, Mode, Output, Sandbox, Stdin};

/// Maximum number of bytes of text.
const MAX_TEXT_BYTES: u64 = 16 << 20;
/// Maximum memory of the program.
const MAX_MEMORY: u64 = 1 << 30;
/// The longest time.
const WITHIN: Duration = Duration::from_secs(30);

/// The text of a PDF file.
pub(super) async fn text(data: &[u8]) -> Result<String, ToolError> {
    let program = program().ok_or_else(|| {
        ToolError::unavailable(
            "this is a PDF file, and no program is installed that reads it: a person has to install `pdftotext` (the Debian package \
             poppler-utils)",
        )
    })?;
    let converted = tokio::time::timeout(WITHIN, converted(program, data)).await;
    converted.unwrap_or_else(|_| {
        Err(ToolError::new(
            ToolErrorKind::TimedOut,
            format!("the PDF file was not converted to text within {WITHIN:?}; use another source"),
        ))
    })
}

/// `pdftotext` in the `PATH` of this process.
fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join("pdftotext"))
        .find(|path| path.is_absolute() && path.is_file())
}

async fn converted(program: PathBuf, data: &[u8]) -> Result<String, ToolError> {
    let mut sandbox = Sandbox::new(Mode::ReadOnly, "/").required(true);
    if let Some(home) = env::home_dir().filter(|home| home.is_absolute() && !program.starts_with(home)) {
        sandbox = sandbox.with_hidden(home);
    }
    let command = Command::new(program)
        .args(["-q", "-enc", "UTF-8", "-", "-"])
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdin::Pipe)
        .output(Output::Pipes)
        .sandbox(sandbox)
        .limits(Limits::new().with_memory(MAX_MEMORY).with_processes(64));
    let job = command.spawn().await.map_err(|error| {
        ToolError::unavailable(format!(
            "this is a PDF file, and the program that reads it cannot be kept in a sandbox: {error}"
        ))
        .with_retry(Retry::Never)
    })?;
    let (Some(input), Some(mut out), Some(mut faults)) = (job.stdin(), job.take_stdout(), job.take_stderr())
    else {
        return Err(ToolError::failed("`pdftotext` has no pipes"));
    };
    let feed = async {
        // A program that has seen enough closes its input.
        let _ = input.write(data).await;
        let _ = input.close().await;
        std::future::pending::<()>().await;
    };
    let (mut text, mut said) = (Vec::new(), Vec::new());
    let (mut out, mut faults) = ((&mut out).take(MAX_TEXT_BYTES), (&mut faults).take(4096));
    let read = async {
        let read = out.read_to_end(&mut text).await;
        // A program whose output is not read does not exit.
        if out.limit() > 0 {
            let _ = faults.read_to_end(&mut said).await;
        }
        read
    };
    tokio::select! {
        () = feed => {}
        read = read => { read?; }
    }
    if out.limit() == 0 {
        return Err(ToolError::failed("the text of the PDF file is larger than 16 MiB; use another source"));
    }
    if !job.exited().await.success() {
        let said = String::from_utf8_lossy(&said);
        let said = escape_line(said.lines().next().unwrap_or("it did not say why")).into_owned();
        return Err(ToolError::failed(format!("the PDF file cannot be read: {said}; use another source")));
    }
    Ok(String::from_utf8_lossy(&text).replace('\u{c}', "\n\n"))
}
