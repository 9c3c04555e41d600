//! `history`: lists, filters and shows the recorded calls.

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::text;
use crate::subcommand::{RunAtOnce, Start};
use crate::utc::minute;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};
use toolkit::{
    config::LoadOptions,
    history::{CallStatus, HistoryEntry, HistoryItem, HistoryQuery, HistoryReader},
    text::{escape_line, escape_terminal},
};

/// The number of calls that are listed unless `--last` says another.
const LAST: &str = "20";
/// The most characters of a call's arguments in a list.
const MAX_ARGUMENT_CHARS: usize = 80;

/// Arguments of `history`.
#[derive(Debug, Clone)]
pub(crate) struct HistoryRequest {
    key: Option<String>,
    query: HistoryQuery,
    status: Option<CallStatus>,
    last: usize,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("history")
        .about("Lists recorded tool calls, or shows one of them")
        .long_about(
            "Lists recorded tool calls, or shows one of them.\n\nThe commands `call`, `mcp serve`, `agent`, `chat` and `acp` record each call in the file `history/calls.jsonl` of the data directory, without secrets: arguments, result, permission prompts and duration. The configuration limits their age and size (`history.maxDays`, `history.maxBytes`), or turns it off (`history.enabled: false`).",
        )
        .arg(Arg::new("key").value_name("KEY").help("Shows this call in full, by the key that the list shows"))
        .args([
            option("last", "NUMBER", "Only the last calls [default: 20]").value_parser(value_parser!(usize)),
            option("tool", "NAME", "Only calls of this tool"),
            option("of-session", "ID", "Only calls of this session"),
            option("since", "AGE", "Only calls that began at most this long ago, such as 90s, 30m, 12h or 7d"),
            option("status", "STATUS", "Only calls with this status")
                .value_parser(["ok", "error", "running", "interrupted"]),
        ])
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help).conflicts_with("key")
}

/// Returns the arguments of `history` in the matches.
pub(crate) fn request(matches: &mut ArgMatches) -> Result<HistoryRequest, Stop> {
    let mut query = HistoryQuery::new();
    query.tool = text(matches, "tool");
    query.session = text(matches, "of-session");
    if let Some(age) = text(matches, "since") {
        let age = parse_age(&age).ok_or_else(|| {
            Stop::usage(format!(
                "`--since {age}` is not an age: write a number and s, m, h or d, such as 12h"
            ))
        })?;
        query.since = SystemTime::now().checked_sub(age);
    }
    let status = text(matches, "status").map(|status| match status.as_str() {
        "ok" => CallStatus::Ok,
        "error" => CallStatus::Error,
        "running" => CallStatus::Running,
        _ => CallStatus::Interrupted,
    });
    let last = matches.remove_one("last").or_else(|| LAST.parse().ok()).unwrap_or_default();
    Ok(HistoryRequest { key: text(matches, "key"), query, status, last })
}

/// Parses a number with the unit `s`, `m`, `h` or `d`.
fn parse_age(text: &str) -> Option<Duration> {
    let split = text.len().checked_sub(1).filter(|split| text.is_char_boundary(*split))?;
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    // `parse` accepts a sign.
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
}

impl RunAtOnce for HistoryRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        run(self, &start.load, start.format, console)
    }
}

/// Runs `history`.
fn run(
    request: &HistoryRequest,
    load: &LoadOptions,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let data_dir = load.data_dir_path().ok_or_else(|| {
        Stop::failed("there is no data directory, so no calls are recorded: set TOOLKIT_DATA_DIR or HOME")
    })?;
    match &request.key {
        Some(key) => show(&find(data_dir, key, console)?, format, console)?,
        None => list(&selected(data_dir, request, console)?, format, console)?,
    }
    Ok(Exit::Success)
}

/// Calls `each` with every recorded call, and notes what cannot be read.
fn read(
    data_dir: &Path,
    console: &mut Console<'_>,
    mut each: impl FnMut(HistoryEntry) -> bool,
) -> Result<(), Stop> {
    let fault = |error: std::io::Error| {
        Stop::failed(format!("the history in {} cannot be read: {error}", data_dir.join("history").display()))
    };
    for item in HistoryReader::of_data_dir(data_dir).map_err(fault)? {
        let item = item.map_err(fault)?;
        if let HistoryItem::Call(entry) = item {
            if !each(*entry) {
                break;
            }
            continue;
        }
        match item {
            HistoryItem::Lost { time, count, .. } => {
                console.note(&format!("warning: {count} calls before {} were not recorded", minute(time)));
            }
            HistoryItem::Corrupt(line) => console.note(&format!(
                "warning: {}:{}: a line that cannot be read: {}",
                line.path.display(),
                line.line,
                escape_line(&line.why)
            )),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the last calls that the request selects, the oldest first.
fn selected(
    data_dir: &Path,
    request: &HistoryRequest,
    console: &mut Console<'_>,
) -> Result<VecDeque<HistoryEntry>, Stop> {
    let mut found = VecDeque::new();
    read(data_dir, console, |entry| {
        if request.query.matches(&entry) && request.status.is_none_or(|status| status == entry.status) {
            if found.len() >= request.last {
                found.pop_front();
            }
            if request.last > 0 {
                found.push_back(entry);
            }
        }
        true
    })?;
    Ok(found)
}

fn find(data_dir: &Path, key: &str, console: &mut Console<'_>) -> Result<HistoryEntry, Stop> {
    let mut found = None;
    read(data_dir, console, |entry| {
        let is_it = entry.key == key;
        if is_it {
            found = Some(entry);
        }
        !is_it
    })?;
    found.ok_or_else(|| {
        Stop::failed(format!("no recorded call has the key `{}`; `history` lists the keys", escape_line(key)))
    })
}

fn list(calls: &VecDeque<HistoryEntry>, format: Format, console: &mut Console<'_>) -> Result<(), Stop> {
    if format == Format::Json {
        return print_json(&serde_json::to_value(calls)?, console);
    }
    if calls.is_empty() {
        console.note("No calls are recorded, or none match.");
    }
    let mut text = String::new();
    for call in calls {
        let _ = writeln!(text, "{}", line(call));
    }
    console.print(&text)
}

/// Formats a call in one line.
fn line(call: &HistoryEntry) -> String {
    let arguments = call.arguments.to_string();
    let mut shown: String = arguments.chars().take(MAX_ARGUMENT_CHARS).collect();
    if shown.len() < arguments.len() {
        shown.push('…');
    }
    format!(
        "{}  {}  {} {}  {}{}",
        minute(call.time),
        escape_line(&call.key),
        escape_line(&call.tool),
        escape_line(&shown),
        words(call.status),
        call.duration.map(|duration| format!(" ({duration:.1?})")).unwrap_or_default(),
    )
}

fn words(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Ok => "ok",
        CallStatus::Error => "error",
        CallStatus::Running => "running",
        _ => "interrupted",
    }
}

/// Prints a call in full.
fn show(call: &HistoryEntry, format: Format, console: &mut Console<'_>) -> Result<(), Stop> {
    if format == Format::Json {
        return print_json(&serde_json::to_value(call)?, console);
    }
    let mut text = format!("{}\n", line(call));
    let caller = serde_json::to_value(&call.caller)?;
    for (name, value) in caller.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(text, "{name}: {}", escape_line(&value));
    }
    let _ = writeln!(text, "arguments: {}", escape_terminal(&format!("{:#}", call.arguments)));
    for ask in &call.asks {
        let _ = writeln!(text, "permission: {}", escape_line(&serde_json::to_string(ask)?));
    }
    if call.cut {
        text.push_str("Some of these were too long to be recorded whole.\n");
    }
    let label = if call.error.is_some() { "error" } else { "result" };
    let _ = writeln!(text, "{label}:\n{}", escape_terminal(&call.text()));
    console.print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        for (text, seconds) in [
            ("90s", Some(90)),
            ("30m", Some(1_800)),
            ("12h", Some(43_200)),
            ("7d", Some(604_800)),
            ("0s", Some(0)),
            ("", None),
            ("s", None),
            ("7", None),
            ("-1h", None),
            ("+1h", None),
            ("1.5h", None),
            ("7w", None),
            ("7µ", None),
            ("99999999999999999999d", None),
            ("9999999999999999999d", None),
        ] {
            assert_eq!(parse_age(text), seconds.map(Duration::from_secs), "{text:?}");
        }
    }
}
