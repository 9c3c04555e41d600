//! `cron add`, `update`, `remove` and `run`.

use super::lines;
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::gateway::{Reached, reach};
use crate::matched::{required, text};
use crate::subcommand::Start;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, value_parser};
use serde_json::{Map, Value, json};
use toolkit::text::escape_line;
use toolkit_gateway::client::path_part;

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum ChangeRequest {
    /// The fields of the new job.
    Add(Map<String, Value>),
    /// The fields that change.
    Update {
        id: String,
        fields: Map<String, Value>,
    },
    Remove {
        id: String,
    },
    Run {
        id: String,
    },
}

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::new("add")
            .about("Adds a job: a schedule, and a prompt or a tool")
            .long_about(
                "Adds a job: a schedule, and a prompt or a tool. Unless `--session-key` names another session, it runs in one of its own, with the agent of `--agent` and the model of `--model`.",
            )
            .args(fields())
            .arg(
                Arg::new("session-key")
                    .long("session-key")
                    .value_name("SESSION")
                    .help("The session in which the job runs, such as `main` [default: one of its own]"),
            )
            .arg(disabled())
            .group(ArgGroup::new("when").args(["schedule", "every", "at"]).required(true))
            .group(ArgGroup::new("work").args(["prompt", "tool"]).required(true)),
        Command::new("update")
            .about("Changes the given fields of a job")
            .long_about(
                "Changes the given fields of a job. Its session stays. `--model \"\"` is the model of its agent, and `--timeout 0` takes the time-out away.",
            )
            .arg(id())
            .args(fields())
            .arg(disabled())
            .arg(
                Arg::new("enabled")
                    .long("enabled")
                    .action(ArgAction::SetTrue)
                    .conflicts_with("disabled")
                    .help("Lets a job that is paused go on, counted from now"),
            )
            .group(ArgGroup::new("when").args(["schedule", "every", "at"]))
            .group(ArgGroup::new("work").args(["prompt", "tool"])),
        Command::new("remove").about("Removes a job; a run of it that is under way goes on").arg(id()),
        Command::new("run").about("Runs a job once now, beside its schedule").arg(id()),
    ]
}

pub(super) fn id() -> Arg {
    Arg::new("id").value_name("JOB").required(true).help("The job's id, as `cron list` shows it")
}

fn fields() -> Vec<Arg> {
    let field = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    vec![
        field("schedule", "EXPRESSION", "The times of a cron expression, such as \"0 9 * * mon-fri\""),
        field(
            "timezone",
            "ZONE",
            "The time zone of --schedule and --at, such as Europe/Berlin [default: UTC]",
        )
        .conflicts_with("every"),
        field("every", "INTERVAL", "Again and again after an interval, such as 1h30m"),
        field(
            "at",
            "TIME",
            "Once, at a time such as 2027-03-01T09:00:00+01:00, or without an offset in the time zone",
        ),
        field("prompt", "TEXT", "The message that the agent gets each time"),
        field("tool", "NAME", "A tool to call in place of a prompt, without a model"),
        field("arguments", "JSON", "The arguments of the tool, as a JSON object")
            .requires("tool")
            .value_parser(parse_arguments),
        field("timeout", "SECONDS", "Cancels a run that takes longer").value_parser(value_parser!(u64)),
        field("missed", "POLICY", "The policy for times at which the job could not begin [default: once]")
            .value_parser(PossibleValuesParser::new(["skip", "once", "all"])),
    ]
}

fn disabled() -> Arg {
    Arg::new("disabled").long("disabled").action(ArgAction::SetTrue).help("Pauses the job")
}

fn parse_arguments(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("it is no JSON object: {error}"))
}

pub(super) fn request(name: &str, matches: &mut ArgMatches) -> Result<ChangeRequest, Stop> {
    let id = |matches: &mut ArgMatches| required(text(matches, "id"));
    Ok(match name {
        "update" => {
            let id = id(matches)?;
            let mut fields = values(matches);
            if matches.get_flag("enabled") {
                fields.insert("enabled".to_owned(), true.into());
            }
            if fields.get("timeoutSeconds") == Some(&json!(0)) {
                fields.insert("timeoutSeconds".to_owned(), Value::Null);
            }
            ChangeRequest::Update { id, fields }
        }
        "remove" => ChangeRequest::Remove { id: id(matches)? },
        "run" => ChangeRequest::Run { id: id(matches)? },
        _ => {
            let session = text(matches, "session-key");
            let mut fields = values(matches);
            fields.extend(session.map(|session| ("sessionKey".to_owned(), session.into())));
            ChangeRequest::Add(fields)
        }
    })
}

/// Returns the values of the flags, under the field names of the gateway.
fn values(matches: &mut ArgMatches) -> Map<String, Value> {
    let mut fields = Map::new();
    for name in ["schedule", "timezone", "every", "at", "prompt", "tool", "missed"] {
        fields.extend(text(matches, name).map(|value| (name.to_owned(), value.into())));
    }
    if let Some(arguments) = matches.remove_one::<Map<String, Value>>("arguments") {
        fields.insert("arguments".to_owned(), arguments.into());
    }
    if let Some(seconds) = matches.remove_one::<u64>("timeout") {
        fields.insert("timeoutSeconds".to_owned(), seconds.into());
    }
    if matches.get_flag("disabled") {
        fields.insert("enabled".to_owned(), false.into());
    }
    fields
}

pub(super) fn run(
    request: &ChangeRequest,
    start: &Start<'_>,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let reached = reach(start)?;
    match request {
        ChangeRequest::Add(fields) => {
            let mut body = with_model(fields, start);
            // A session that is named has its agent in its key.
            if let Some(agent) = &start.caller.agent {
                body["agent"] = agent.as_str().into();
            }
            let job = reached.post("/v1/schedules", &body)?;
            print_job("added", &job, start.format, &reached, console)?;
        }
        ChangeRequest::Update { id, fields } => {
            let job = reached.patch(&path(id), &with_model(fields, start))?;
            print_job("changed", &job, start.format, &reached, console)?;
        }
        ChangeRequest::Remove { id } => {
            reached.delete(&path(id))?;
            match start.format {
                Format::Json => print_json(&json!({ "removed": id }), console)?,
                Format::Text => console.note(&format!("removed the job {}", escape_line(id))),
            }
        }
        ChangeRequest::Run { id } => {
            let requested = reached.post(&format!("{}/run", path(id)), &Value::Null)?;
            match start.format {
                Format::Json => print_json(&requested, console)?,
                Format::Text if reached.is_running() => {
                    console.note("the job runs now, or once its run under way has ended");
                }
                Format::Text => console.note("no gateway runs, so the job runs with the next start of one"),
            }
        }
    }
    Ok(Exit::Success)
}

pub(super) fn path(id: &str) -> String {
    format!("/v1/schedules/{}", path_part(id))
}

/// The fields, with the model of the shared option.
fn with_model(fields: &Map<String, Value>, start: &Start<'_>) -> Value {
    let mut body = Value::Object(fields.clone());
    if let Some(model) = &start.caller.model {
        body["model"] = model.as_str().into();
    }
    body
}

/// Prints an added or changed job.
fn print_job(
    verb: &str,
    job: &Value,
    format: Format,
    reached: &Reached,
    console: &mut Console<'_>,
) -> Result<(), Stop> {
    if format == Format::Json {
        return print_json(job, console);
    }
    let without = if reached.is_running() { "" } else { "; no gateway runs, so it is due once one does" };
    console.note(&format!("{verb}{without}"));
    console.print(&lines::job(job))
}
