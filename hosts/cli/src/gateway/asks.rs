//! `gateway asks`, `approve` and `deny`: the questions that wait for a person.

use super::reach::reach;
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::subcommand::Start;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use toolkit::PendingAsk;
use toolkit::text::{escape_block, escape_line};
use toolkit_gateway::client::path_part;

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum AsksRequest {
    List,
    Answer { code: String, answer: Value },
}

pub(super) fn commands() -> Vec<Command> {
    let code = || {
        Arg::new("code")
            .value_name("CODE")
            .required(true)
            .help("The question's code, as `gateway asks` shows it")
    };
    vec![
        Command::new("asks").about("Shows the questions that wait for an answer"),
        Command::new("approve")
            .about("Allows what a question asks for")
            .arg(code())
            .arg(
                Arg::new("for-session")
                    .long("for-session")
                    .action(ArgAction::SetTrue)
                    .help("Allows the same for the rest of the session"),
            )
            .arg(
                Arg::new("value")
                    .long("value")
                    .value_name("JSON")
                    .conflicts_with("for-session")
                    .help("The value, if the question asks for one"),
            ),
        Command::new("deny").about("Denies what a question asks for").arg(code()).arg(
            Arg::new("message").long("message").value_name("TEXT").help("The reason, which the model reads"),
        ),
    ]
}

pub(super) fn request(name: &str, matches: &mut ArgMatches) -> Result<AsksRequest, Stop> {
    let answer = match name {
        "approve" => match text(matches, "value") {
            Some(value) => {
                let value: Value = serde_json::from_str(&value)
                    .map_err(|error| Stop::usage(format!("the value is no JSON: {error}")))?;
                json!({ "type": "value", "value": value })
            }
            None if matches.get_flag("for-session") => json!({ "type": "allow", "scope": "session" }),
            None => json!({ "type": "allow" }),
        },
        "deny" => match text(matches, "message") {
            Some(message) => json!({ "type": "deny", "message": message }),
            None => json!({ "type": "deny" }),
        },
        _ => return Ok(AsksRequest::List),
    };
    Ok(AsksRequest::Answer { code: required(text(matches, "code"))?, answer })
}

pub(super) fn run(request: &AsksRequest, start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let reached = reach(start)?;
    match request {
        AsksRequest::List => {
            let asks = reached.get("/v1/asks")?;
            if start.format == Format::Json {
                print_json(&asks, console)?;
                return Ok(Exit::Success);
            }
            let asks = asks["asks"].as_array().cloned().unwrap_or_default();
            if asks.is_empty() {
                console.note("no question waits");
            }
            for ask in &asks {
                console.print(&shown(ask))?;
            }
        }
        AsksRequest::Answer { code, answer } => {
            let answered = reached.post(&format!("/v1/asks/{}", path_part(code)), answer)?;
            match start.format {
                Format::Json => print_json(&answered, console)?,
                Format::Text if reached.is_running() => console.note("answered"),
                Format::Text => console.note("answered; it counts once the gateway runs again"),
            }
        }
    }
    Ok(Exit::Success)
}

/// A question, for a person who decides: its code and session, then the whole of it.
pub(crate) fn shown(ask: &Value) -> String {
    let word = |value: &Value| escape_line(value.as_str().unwrap_or_default()).into_owned();
    let mut text = format!("{}  session {}\n", word(&ask["code"]), word(&ask["session"]));
    match serde_json::from_value::<PendingAsk>(ask["ask"].clone()) {
        Ok(pending) => text.push_str(&pending.to_text()),
        // One of a newer gateway: nothing of it is left out.
        Err(_) => {
            for line in escape_block(&format!("{:#}", ask["ask"])).lines() {
                text.push_str("  ");
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}
