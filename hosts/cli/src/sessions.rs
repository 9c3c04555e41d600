//! `sessions`: the sessions of the gateway.

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::gateway::{Reached, reach};
use crate::matched::{required, text};
use crate::subcommand::{RunAtOnce, Start};
use crate::utc;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use std::time::{Duration, UNIX_EPOCH};
use toolkit::text::{escape_block, escape_line};
use toolkit_gateway::client::path_part;

/// The seconds for which one request waits for an answer.
const WAIT_SECONDS: u64 = 50;

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum SessionsRequest {
    List { archived: bool, limit: u32 },
    Show { session: String, limit: u32, tools: bool },
    Send { session: String, text: String, id: Option<String>, no_wait: bool },
}

pub(crate) fn command() -> Command {
    let session = || {
        Arg::new("session")
            .value_name("SESSION")
            .required(true)
            .help("The session: its key, the short form of a key, or `main` for your own")
    };
    let limit = |default: &'static str, help: &'static str| {
        Arg::new("limit")
            .long("limit")
            .value_name("COUNT")
            .value_parser(value_parser!(u32).range(1..=500))
            .default_value(default)
            .help(help)
    };
    Command::new("sessions")
        .about("Lists the sessions of the gateway, shows their messages, and sends to them")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("list")
                .about("Lists sessions, the one that was active last first")
                .arg(limit("50", "The most sessions"))
                .arg(
                    Arg::new("archived")
                        .long("archived")
                        .action(ArgAction::SetTrue)
                        .help("Lists archived sessions, too"),
                ),
        )
        .subcommand(
            Command::new("show")
                .about("Shows the last messages of a session")
                .arg(session())
                .arg(limit("20", "The most messages"))
                .arg(
                    Arg::new("tools")
                        .long("tools")
                        .action(ArgAction::SetTrue)
                        .help("Shows calls of tools and their results, too"),
                ),
        )
        .subcommand(
            Command::new("send")
                .about("Sends a message to a session, and prints its answer")
                .arg(session())
                .arg(Arg::new("text").value_name("TEXT").required(true).help("The message"))
                .arg(
                    Arg::new("id")
                        .long("id")
                        .value_name("ID")
                        .help("An id of your own: sent again with it, it is the same message"),
                )
                .arg(
                    Arg::new("no-wait")
                        .long("no-wait")
                        .action(ArgAction::SetTrue)
                        .help("Does not wait for the answer: the message is accepted, and the run goes on"),
                ),
        )
}

pub(crate) fn request(matches: &mut ArgMatches) -> Result<SessionsRequest, Stop> {
    let (name, mut matches) = required(matches.remove_subcommand())?;
    let session = |matches: &mut ArgMatches| required(text(matches, "session"));
    Ok(match name.as_str() {
        "show" => SessionsRequest::Show {
            session: session(&mut matches)?,
            limit: required(matches.remove_one("limit"))?,
            tools: matches.get_flag("tools"),
        },
        "send" => SessionsRequest::Send {
            session: session(&mut matches)?,
            text: required(text(&mut matches, "text"))?,
            id: text(&mut matches, "id"),
            no_wait: matches.get_flag("no-wait"),
        },
        _ => SessionsRequest::List {
            archived: matches.get_flag("archived"),
            limit: required(matches.remove_one("limit"))?,
        },
    })
}

impl RunAtOnce for SessionsRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let reached = reach(&start)?;
        match self {
            Self::List { archived, limit } => {
                list(&reached, *archived, *limit, start.format, console)?;
                Ok(Exit::Success)
            }
            Self::Show { session, limit, tools } => {
                show(&reached, session, (*limit, *tools), start.format, console)?;
                Ok(Exit::Success)
            }
            Self::Send { session, text, id, no_wait } => {
                let mut body = json!({ "text": text });
                if let Some(id) = id {
                    body["id"] = id.as_str().into();
                }
                let path = format!("/v1/sessions/{}/messages", path_part(session));
                let accepted = reached.post(&path, &body)?;
                if *no_wait || !reached.is_running() {
                    return told(&accepted, start.format, reached.is_running(), console);
                }
                answer(&reached, &accepted, start.format, console)
            }
        }
    }
}

fn list(
    reached: &Reached,
    archived: bool,
    limit: u32,
    format: Format,
    console: &mut Console<'_>,
) -> Result<(), Stop> {
    let listed = reached.get(&format!("/v1/sessions?limit={limit}&archived={archived}"))?;
    if format == Format::Json {
        return print_json(&listed, console);
    }
    let sessions = listed["sessions"].as_array().cloned().unwrap_or_default();
    if sessions.is_empty() {
        console.note("there is no session yet; `toolkit sessions send main \"…\"` begins yours");
    }
    for session in &sessions {
        let word = |key: &str| escape_line(session[key].as_str().unwrap_or_default()).into_owned();
        let mut marks = Vec::new();
        if session["isRunning"] == true {
            marks.push("running".to_owned());
        }
        match session["queued"].as_u64().unwrap_or_default() {
            0 => {}
            queued => marks.push(format!("{queued} waiting")),
        }
        if !session["archivedAt"].is_null() {
            marks.push("archived".to_owned());
        }
        let label = session["label"].as_str().map(|label| format!("  “{}”", escape_line(label)));
        let marks = if marks.is_empty() { String::new() } else { format!("  ({})", marks.join(", ")) };
        let at = minute(&session["activeAt"]);
        console.print(&format!("{}  {at}{}{marks}\n", word("key"), label.unwrap_or_default()))?;
    }
    if listed["nextCursor"].is_string() {
        console.note("there are more; `--limit` shows up to 500");
    }
    Ok(())
}

fn show(
    reached: &Reached,
    session: &str,
    (limit, tools): (u32, bool),
    format: Format,
    console: &mut Console<'_>,
) -> Result<(), Stop> {
    let path = format!("/v1/sessions/{}/messages?limit={limit}&includeTools={tools}", path_part(session));
    let shown = reached.get(&path)?;
    if format == Format::Json {
        return print_json(&shown, console);
    }
    for message in shown["messages"].as_array().into_iter().flatten() {
        let kind = escape_line(message["kind"].as_str().unwrap_or_default()).into_owned();
        let text = escape_block(message["text"].as_str().unwrap_or_default());
        console.print(&format!("{kind}:\n"))?;
        for line in text.lines() {
            console.print(&format!("  {line}\n"))?;
        }
        for (key, name) in [("toolCalls", "call"), ("toolResults", "result")] {
            for part in message[key].as_array().into_iter().flatten() {
                console.print(&format!("  {name}: {}\n", escape_line(&part.to_string())))?;
            }
        }
    }
    Ok(())
}

/// Says that a message was accepted.
fn told(accepted: &Value, format: Format, is_running: bool, console: &mut Console<'_>) -> Result<Exit, Stop> {
    match format {
        Format::Json => print_json(accepted, console)?,
        Format::Text if is_running => console.note(&format!("accepted as message {}", accepted["id"])),
        Format::Text => console.note(&format!(
            "accepted as message {}; no gateway runs, so it waits for the next start of one",
            accepted["id"]
        )),
    }
    Ok(Exit::Success)
}

/// Waits for the answer of an accepted message, and prints it.
fn answer(
    reached: &Reached,
    accepted: &Value,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let session = accepted["session"].as_str().unwrap_or_default();
    let path =
        format!("/v1/sessions/{}/inbox/{}?waitSeconds={WAIT_SECONDS}", path_part(session), accepted["id"]);
    let mut has_told = false;
    loop {
        let outcome = reached.get(&path)?;
        let state = outcome["state"].as_str().unwrap_or_default();
        if state == "waiting" && !has_told {
            has_told = true;
            console.note("the run waits for an answer to a question; `toolkit gateway asks` shows it");
        }
        if !matches!(state, "answered" | "failed" | "cancelled") {
            continue;
        }
        if format == Format::Json {
            print_json(&outcome, console)?;
        } else if state == "answered" {
            let text = outcome["text"].as_str().unwrap_or_default();
            console.print_said(&format!("{}\n", text.trim_end()))?;
        } else {
            let reason = outcome["reason"].as_str().unwrap_or("no reason was given");
            console.error(&format!("the run {state}: {}", escape_line(reason)));
        }
        return Ok(if state == "answered" { Exit::Success } else { Exit::Failed });
    }
}

fn minute(at: &Value) -> String {
    utc::minute(UNIX_EPOCH + Duration::from_millis(at.as_u64().unwrap_or_default()))
}
