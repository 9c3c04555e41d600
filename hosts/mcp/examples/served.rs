//! A server of tools for tests and for trying a client: `served` serves its standard streams; `served --older` knows the protocol up to
//! 2025-11-25 alone; `served --read-within SECONDS` leaves a client that reads nothing for this time.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it shows that printing does no harm")]

use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Content,
    events::{LogLevel, LogMessage, Progress},
};
use toolkit_mcp::ServerOptions;

/// Says it again.
#[tool(name = "echo", group = "served", read_only)]
async fn echo(
    /** The text to return. */
    message: String,
) -> String {
    message
}

/// The result of an addition.
#[toolkit::args]
#[derive(serde::Serialize)]
struct Sum {
    /// All of it.
    total: i64,
}

/// Adds numbers.
#[tool(name = "sum", group = "served", read_only)]
async fn sum(
    /** The numbers to add. */
    numbers: Vec<i64>,
) -> toolkit::Json<Sum> {
    toolkit::Json(Sum { total: numbers.iter().sum() })
}

/// Says where it works and what it was given.
#[tool(name = "place", group = "served", read_only)]
async fn place() -> String {
    let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
    let directory = std::env::current_dir().map(|directory| directory.display().to_string());
    format!("{}\n{}", directory.unwrap_or_default(), names.join(" "))
}

/// Answers with a picture and a text.
#[tool(name = "picture", group = "served", read_only)]
async fn picture() -> ToolOutput {
    ToolOutput::text("a picture").with_content(Content::image(*b"\x89PNG\r\n\x1a\n", "image/png"))
}

/// Counts slowly, and tells how far it is.
#[tool(name = "count", group = "served", read_only)]
async fn count(
    ctx: &ToolContext,
    /** How far. */
    to: u32,
    /** The pause between, in milliseconds. */
    pause: u64,
) -> String {
    ctx.log(LogMessage::new(LogLevel::Notice, "it begins").with_logger("count"));
    for number in 1..=to {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        ctx.progress(Progress::new(number).with_total(to).with_message(format!("number {number}")));
    }
    format!("counted to {to}")
}

/// Makes a file, and waits until it is gone.
#[tool(name = "hold", group = "served", auto_execute)]
async fn hold(
    /** The file. */
    file: String,
) -> Result<String, ToolError> {
    std::fs::write(&file, "").map_err(ToolError::wrap)?;
    while std::fs::exists(&file).map_err(ToolError::wrap)? {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok("held".to_owned())
}

/// Adds a line to a file, and answers with a long text.
#[tool(name = "note", group = "served", read_only)]
async fn note(
    /** The file. */
    file: String,
    /** The number of characters of the text. */
    length: usize,
) -> Result<String, ToolError> {
    let mut file =
        std::fs::OpenOptions::new().create(true).append(true).open(file).map_err(ToolError::wrap)?;
    file.write_all(b"noted\n").map_err(ToolError::wrap)?;
    Ok("x".repeat(length))
}

/// Fails.
#[tool(name = "fail", group = "served", read_only)]
async fn fail() -> Result<String, ToolError> {
    Err(ToolError::failed("it cannot be done on a Sunday"))
}

/// Ends the server at once.
#[tool(name = "die", group = "served", read_only)]
async fn die() -> String {
    std::process::abort()
}

/// Who greets.
#[toolkit::args]
struct Person {
    /// The name.
    name: String,
    /// How old.
    age: Option<u8>,
}

/// Greets somebody whose name it asks for.
#[tool(name = "greet", group = "served", read_only)]
async fn greet(ctx: &ToolContext) -> Result<String, ToolError> {
    match ctx.elicit::<Person>("Who are you?").await? {
        Some(Person { name, age }) => Ok(format!("hello {name}, {age:?}")),
        None => Ok("hello nobody".to_owned()),
    }
}

/// Brings another tool into being.
#[tool(name = "grow", group = "served", read_only)]
async fn grow(
    toolkit: State<std::sync::OnceLock<Toolkit>>,
    /** The description of the new tool. */
    about: String,
) -> Result<String, ToolError> {
    let toolkit = toolkit.get().ok_or_else(|| ToolError::failed("no toolkit"))?;
    let grown = toolkit::Tool::builder("grown").description(about).read_only();
    let grown = grown.build(|_, _| async { "it grew" }).map_err(ToolError::wrap)?;
    let _ = toolkit.unregister("grown");
    toolkit.register(grown).map_err(ToolError::wrap)?;
    Ok("done".to_owned())
}

/// Serves by another process, and knows nothing of what came with 2026-07-28.
fn older() -> std::io::Result<()> {
    let mut newer = Command::new(std::env::current_exe()?).stdin(Stdio::piped()).spawn()?;
    let mut to = newer.stdin.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    std::thread::spawn(move || {
        let _ = newer.wait();
        std::process::exit(0);
    });
    for line in std::io::stdin().lines() {
        let line = line?;
        let message: Value = serde_json::from_str(&line)?;
        if message["method"] == "server/discover" {
            let error = json!({"code": -32601, "message": "Method not found"});
            println!("{}", json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
        } else {
            writeln!(to, "{line}")?;
        }
    }
    drop(to);
    // The other thread ends this process.
    loop {
        std::thread::park();
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().any(|arg| arg == "--older") {
        return Ok(older()?);
    }
    eprintln!("served is there");
    let itself = std::sync::Arc::new(std::sync::OnceLock::new());
    let toolkit = Toolkit::builder().shared_service(std::sync::Arc::clone(&itself)).build()?;
    let _ = itself.set(toolkit.clone());
    // Printed text does not disturb the protocol.
    println!("served prints");
    let mut options = ServerOptions::new();
    if let Some(seconds) = std::env::args().skip_while(|arg| arg != "--read-within").nth(1) {
        options = options.read_within(Duration::from_secs(seconds.parse()?));
    }
    toolkit_mcp::serve_stdio_with(toolkit, Caller::new(), options).await?;
    Ok(())
}
