//! `explain command`: the verdict on a shell command.

use crate::console::Console;
use crate::definitions::print_in_order;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use builtin_tools::runtime::{ExplainedCommand, ExplainedPart};
use std::fmt::Write as _;
use tokio::runtime::Runtime;
use toolkit::{Toolbox, text::escape_line};

/// Prints the verdict on the command and on each part of it.
pub(super) fn run(
    command: &str,
    toolbox: &Toolbox,
    runtime: &Runtime,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let stopped = |error| Stop::from(&error);
    let context = toolbox.context("exec").map_err(stopped)?;
    let explained = builtin_tools::runtime::explain(&context, command);
    let explained = runtime.block_on(explained).map_err(stopped)?;
    match format {
        Format::Json => print_in_order(&explained, console)?,
        Format::Text => {
            let text = page(&explained, console);
            console.print(&text)?;
        }
    }
    Ok(if explained.verdict == "deny" { Exit::Denied } else { Exit::Success })
}

fn page(explained: &ExplainedCommand, console: &Console<'_>) -> String {
    let becomes = match explained.verdict {
        "allow" => "it runs without a prompt",
        "ask" => "it needs approval before it runs",
        _ => "it does not run",
    };
    let verdict = console.out_paint.bold(explained.verdict);
    let mut text = format!("{verdict}: {becomes} ({})\n", explained.class);
    for why in &explained.why {
        let _ = writeln!(text, "  {}", escape_line(why));
    }
    if explained.verdict != "deny" {
        let _ = writeln!(text, "  runs in {}", escape_line(&explained.runs_in));
    }
    if !explained.environment.is_empty() {
        let names: Vec<&str> = explained.environment.keys().map(String::as_str).collect();
        let _ = writeln!(text, "  with environment variables that enforce this: {}", names.join(" "));
    }
    if let Some(guarded) = &explained.guarded {
        let _ = writeln!(text, "  and arguments, run as: {}", escape_line(guarded));
    }
    text.push('\n');
    for part in &explained.parts {
        tree(part, 0, console, &mut text);
    }
    text
}

fn tree(part: &ExplainedPart, depth: usize, console: &Console<'_>, text: &mut String) {
    let indent = "  ".repeat(depth);
    let verdict = console.out_paint.bold(&format!("{:5}", part.verdict));
    let _ = writeln!(text, "{indent}{verdict}  {}  ({})", escape_line(&part.text), part.class);
    let is_of_path =
        |reason: &str| part.paths.iter().any(|path| reason.ends_with(&*path.path.to_string_lossy()));
    for reason in part.reasons.iter().filter(|reason| !is_of_path(&reason.text)) {
        let answered =
            if reason.verdict == "allow" && reason.class != "read-only" && reason.class != "git-read" {
                ", which is allowed"
            } else {
                ""
            };
        let _ = writeln!(text, "{indent}         {}{answered}", escape_line(&reason.text));
    }
    for path in &part.paths {
        let shown = path.path.to_string_lossy();
        let asked = path.asked.as_ref().map(|asked| format!("  asked: {asked}")).unwrap_or_default();
        let _ =
            writeln!(text, "{indent}         {} {}{}", path.access, escape_line(&shown), escape_line(&asked));
    }
    for within in &part.parts {
        tree(within, depth + 1, console, text);
    }
}
