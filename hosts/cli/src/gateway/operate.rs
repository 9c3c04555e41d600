//! `gateway status`, `open`, `stop`, `logs` and `doctor`.

use super::log;
use super::reach::{data_dir, reach_running, store_failed};
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::runtime;
use crate::subcommand::Start;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;
use toolkit::text::escape_line;
use toolkit_gateway::client::{ClientError, GatewayClient};
use toolkit_gateway::{Store, StoreOptions};

/// The time between two looks whether it has stopped, or at its log.
const INTERVAL: Duration = Duration::from_millis(200);

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum OperateRequest {
    Status,
    Open,
    Stop,
    Logs { lines: usize, follow: bool },
    Doctor,
}

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::new("status").about("Shows whether a gateway runs, and how it is; exit code 1 if none runs"),
        Command::new("open")
            .about("Prints an address of the web console; it counts once, for a minute")
            .long_about(
                "Prints an address of the web console, with a code that counts once, for a minute. The page that opens it gets a token of its own, with the rights of the owner, for 12 hours; `gateway token list` shows it, and `gateway token revoke` ends it.",
            ),
        Command::new("stop").about("Stops the gateway: runs under way have time to end"),
        Command::new("logs")
            .about("Shows the last lines of the gateway's log")
            .arg(
                Arg::new("lines")
                    .long("lines")
                    .value_name("COUNT")
                    .value_parser(value_parser!(u32).range(1..=100_000))
                    .default_value("50")
                    .help("The number of lines"),
            )
            .arg(
                Arg::new("follow")
                    .long("follow")
                    .action(ArgAction::SetTrue)
                    .help("Shows new lines as they come, until Ctrl-C"),
            ),
        Command::new("doctor")
            .about("Checks the data directory, the store and the configuration of the gateway"),
    ]
}

pub(super) fn request(name: &str, matches: &mut ArgMatches) -> OperateRequest {
    match name {
        "open" => OperateRequest::Open,
        "stop" => OperateRequest::Stop,
        "logs" => OperateRequest::Logs {
            lines: matches.remove_one::<u32>("lines").unwrap_or_default() as usize,
            follow: matches.get_flag("follow"),
        },
        "doctor" => OperateRequest::Doctor,
        _ => OperateRequest::Status,
    }
}

pub(super) fn run(
    request: &OperateRequest,
    start: &Start<'_>,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    match request {
        OperateRequest::Status => status(start, console),
        OperateRequest::Open => open(start, console),
        OperateRequest::Stop => stop(start, console),
        OperateRequest::Logs { lines, follow } => logs(start, *lines, *follow, console),
        OperateRequest::Doctor => doctor(start, console),
    }
}

fn status(start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let reached = match GatewayClient::of_data_dir(data_dir(start)?) {
        Err(error @ ClientError::NotRunning { .. }) => {
            match start.format {
                Format::Json => print_json(&json!({ "status": "stopped" }), console)?,
                Format::Text => console.note(&error.to_string()),
            }
            return Ok(Exit::Failed);
        }
        _ => reach_running(start)?,
    };
    let mut status = reached.get("/v1/status")?;
    status["address"] = reached.client.address().into();
    if start.format == Format::Json {
        print_json(&status, console)?;
        return Ok(Exit::Success);
    }
    console.print(&shown(&status))?;
    Ok(Exit::Success)
}

/// Prints an address of the web console.
fn open(start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let reached = reach_running(start)?;
    let made = reached.post("/v1/console", &json!({}))?;
    let path = made["path"].as_str().unwrap_or("/");
    let address = format!("http://{}{path}", reached.client.address());
    if start.format == Format::Json {
        let answer = json!({ "address": address, "expiresInSeconds": made["expiresInSeconds"] });
        print_json(&answer, console)?;
        return Ok(Exit::Success);
    }
    console.note("open it within a minute; it counts once:");
    console.print(&format!("{address}\n"))?;
    Ok(Exit::Success)
}

fn shown(status: &Value) -> String {
    let number = |pointer: &str| status.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let mut text = String::new();
    let line = |text: &mut String, name: &str, value: String| {
        let _ = writeln!(text, "{name:<9} {value}");
    };
    let word = |key: &str| escape_line(status[key].as_str().unwrap_or_default()).into_owned();
    line(&mut text, "status", word("status"));
    line(&mut text, "address", format!("http://{}", word("address")));
    line(&mut text, "version", word("version"));
    let sessions = status["sessions"].as_u64().unwrap_or_else(|| number("/sessions/total"));
    line(&mut text, "sessions", sessions.to_string());
    line(
        &mut text,
        "runs",
        format!("{} under way, {} waiting", number("/runs/running"), number("/runs/waiting")),
    );
    line(&mut text, "queue", format!("{} messages", number("/queued")));
    line(
        &mut text,
        "outbox",
        format!(
            "{} waiting, {} unknown, {} dead",
            number("/outbox/prepared") + number("/outbox/sending"),
            number("/outbox/unknown"),
            number("/outbox/dead")
        ),
    );
    for problem in status["problems"].as_array().into_iter().flatten() {
        line(&mut text, "problem", escape_line(problem.as_str().unwrap_or_default()).into_owned());
    }
    text
}

fn stop(start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let data_dir = data_dir(start)?;
    let reached = reach_running(start)?;
    reached.post("/v1/stop", &json!({}))?;
    console.note("stopping");
    // It has given its lock back once everything is closed.
    while Store::is_in_use(data_dir) {
        std::thread::sleep(INTERVAL);
    }
    console.note("stopped");
    Ok(Exit::Success)
}

fn logs(start: &Start<'_>, lines: usize, follow: bool, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let data_dir = data_dir(start)?;
    let (text, mut place) = log::last(data_dir, lines)?;
    if text.is_empty() && !follow {
        console.note("the log has no lines");
    }
    console.print(&text)?;
    if !follow {
        return Ok(Exit::Success);
    }
    loop {
        std::thread::sleep(INTERVAL);
        let (text, end) = log::after(data_dir, place)?;
        console.print(&text)?;
        place = end;
    }
}

fn doctor(start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let data_dir = data_dir(start)?;
    let mut findings: Vec<(bool, String)> = Vec::new();
    match toolkit::config::Configuration::load(start.load.clone()) {
        Ok(_) => findings.push((true, "the configuration can be used".to_owned())),
        Err(error) => findings.push((false, format!("the configuration cannot be used: {error}"))),
    }
    if Store::is_in_use(data_dir) {
        match reach_running(start).and_then(|reached| reached.get("/v1/status")) {
            Ok(status) => {
                let problems: Vec<&str> =
                    status["problems"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                findings.push((true, "a gateway runs, and answers".to_owned()));
                findings.extend(problems.into_iter().map(|problem| (false, problem.to_owned())));
            }
            Err(Stop::Error { message, .. }) => {
                findings.push((
                    false,
                    format!("a gateway has the data directory, and does not answer: {message}"),
                ));
            }
            Err(error) => return Err(error),
        }
    } else {
        let runtime = runtime::new()?;
        findings.push((true, "no gateway runs".to_owned()));
        let checked = runtime.block_on(async {
            let store = Store::open(data_dir, StoreOptions::new()).await?;
            let wrong = store.check().await;
            store.close().await;
            wrong
        });
        match checked.map_err(|error| store_failed(&error)) {
            Ok(wrong) if wrong.is_empty() => findings.push((true, "the store is sound".to_owned())),
            Ok(wrong) => {
                findings.extend(wrong.into_iter().map(|wrong| (false, format!("the store: {wrong}"))));
            }
            Err(Stop::Error { message, .. }) => findings.push((false, message)),
            Err(error) => return Err(error),
        }
    }
    let is_sound = findings.iter().all(|(is_fine, _)| *is_fine);
    match start.format {
        Format::Json => {
            let findings: Vec<Value> =
                findings.iter().map(|(is_fine, text)| json!({ "ok": is_fine, "text": text })).collect();
            print_json(&json!({ "ok": is_sound, "findings": findings }), console)?;
        }
        Format::Text => {
            for (is_fine, text) in &findings {
                let mark = if *is_fine { "ok     " } else { "problem" };
                console.print(&format!("{mark}  {}\n", escape_line(text)))?;
            }
        }
    }
    Ok(if is_sound { Exit::Success } else { Exit::Failed })
}
