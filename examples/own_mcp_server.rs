//! A server of the Model Context Protocol with three functions for its tools. An editor or chat app starts it; to look at it:
//!
//! ```sh
//! toolkit mcp add mine -- target/debug/own-mcp-server
//! toolkit call mine__round --value 2.4681 --digits 2
//! ```

use toolkit::prelude::*;

/// Rounds a number.
#[tool(group = "numbers", read_only)]
async fn round(
    /** The number. */
    value: f64,
    /** How many digits stay behind the point. */
    #[arg(default = 0)]
    digits: u8,
) -> String {
    let shift = 10_f64.powi(digits.into());
    ((value * shift).round() / shift).to_string()
}

/// Counts words, lines and characters of a text.
#[tool(group = "texts", read_only)]
async fn count(
    /** The text. */
    text: String,
) -> String {
    let (words, lines) = (text.split_whitespace().count(), text.lines().count());
    format!("{words} words, {lines} lines, {} characters", text.chars().count())
}

/// Takes a note, once a person agrees.
#[tool(group = "texts", asks)]
async fn note(
    ctx: &ToolContext,
    /** The note. */
    text: String,
) -> Result<String, ToolError> {
    ctx.ask(toolkit::Ask::new("note", format!("take the note {text:?}"))).await?;
    Ok(format!("noted: {text}"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolkit = Toolkit::builder().build()?;
    Ok(toolkit_mcp::serve_stdio(toolkit, Caller::new()).await?)
}
