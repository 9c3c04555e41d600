//! `explain`: why a tool is there for a caller, or isn't.

use crate::console::Console;
use crate::definitions::{find, print_json};
use crate::exit::{Exit, Stop};
use crate::options::Format;
use std::fmt::Write as _;
use toolkit::{Explanation, Toolbox, Toolkit, escape_line};

/// Prints what each layer of the policy says of the tool, and the rule that made it.
pub(crate) fn tool(
    toolkit: &Toolkit,
    toolbox: &Toolbox,
    name: &str,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let Some(explanation) = toolkit.explain(toolbox.caller(), name) else {
        find(toolbox, name)?;
        return Err(Stop::failed(format!("nothing is known of `{name}`; try again")));
    };
    match format {
        Format::Json => print_json(&serde_json::to_value(&explanation)?, console)?,
        Format::Text => {
            let text = page(&explanation, console);
            console.print(&text)?;
        }
    }
    Ok(match (explanation.exists, explanation.denied_by()) {
        (true, _) => Exit::Success,
        (false, None) if !explanation.present => Exit::UnknownTool,
        (false, _) => Exit::Denied,
    })
}

fn page(explanation: &Explanation, console: &Console<'_>) -> String {
    let name = console.out_paint.bold(&explanation.tool);
    let mut text = match (explanation.exists, explanation.denied_by()) {
        _ if !explanation.present => {
            let judged = match explanation.denied_by() {
                Some(layer) => format!("that name is denied by {}", escape_line(&layer.layer)),
                None => "nothing in the policy denies that name".to_owned(),
            };
            format!("{name} is not linked into this program; for this caller {judged}.\n\n")
        }
        (true, _) => format!("{name} is there for this caller.\n\n"),
        (false, Some(layer)) => {
            format!("{name} is not there for this caller: denied by {}.\n\n", escape_line(&layer.layer))
        }
        (false, None) => format!("{name} is not there for this caller.\n\n"),
    };
    for layer in &explanation.layers {
        let _ = writeln!(text, "{layer}");
    }
    text
}
