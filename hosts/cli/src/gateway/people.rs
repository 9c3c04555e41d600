//! `gateway pair`, `gateway people` and `gateway channels`: who writes to the gateway, and by which accounts.

use super::reach::{Reached, reach, reach_running};
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::subcommand::Start;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use toolkit::text::escape_line;
use toolkit_gateway::client::path_part;

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum PeopleRequest {
    Pairings,
    Approve(Value),
    Deny { sender: String },
    List,
    Block { name: String, blocks: bool },
    Unlink { channel: String, sender: String },
    Channels,
    Test { channel: String, account: Option<String> },
}

pub(super) fn commands() -> Vec<Command> {
    let sender = || {
        Arg::new("sender")
            .value_name("CODE-OR-SENDER")
            .required(true)
            .help("The code that the sender got, CHANNEL:SENDER, or the platform's id of the sender")
    };
    let named = |id: &'static str, about: &'static str| {
        Arg::new(id).long(id).value_name(if id == "agent" { "ID" } else { "NAME" }).help(about)
    };
    vec![
        Command::new("pair")
            .about("Lists unknown senders of chat channels, lets them in, or turns them away")
            .subcommand(Command::new("list").about("Lists the unknown senders"))
            .subcommand(
                Command::new("approve")
                    .about("Lets a sender in, as a new person or as one who is there")
                    .arg(sender())
                    .arg(
                        Arg::new("owner")
                            .long("owner")
                            .action(ArgAction::SetTrue)
                            .conflicts_with_all(["person", "role", "agent", "name"])
                            .help("The sender is the owner"),
                    )
                    .arg(
                        named("person", "The person who is there already to whom the sender belongs")
                            .conflicts_with_all(["role", "agent", "name"]),
                    )
                    .arg(
                        Arg::new("role")
                            .long("role")
                            .value_name("ROLE")
                            .value_parser(PossibleValuesParser::new(["approver", "user"]))
                            .help("The role of a new person [default: user]"),
                    )
                    .arg(named("agent", "The agent that a new person talks to [default: the first one]"))
                    .arg(named(
                        "name",
                        "The name of a new person [default: made of the one that the platform shows]",
                    )),
            )
            .subcommand(Command::new("deny").about("Turns a sender away for good").arg(sender())),
        Command::new("people")
            .about("Lists people with their identities, blocks them, and lets them in again")
            .subcommand(
                Command::new("block")
                    .about("Blocks a person: all that they began ends")
                    .arg(Arg::new("name").value_name("NAME").required(true).help("The person's name")),
            )
            .subcommand(
                Command::new("unblock")
                    .about("Lets a person in again")
                    .arg(Arg::new("name").value_name("NAME").required(true).help("The person's name")),
            )
            .subcommand(
                Command::new("unlink")
                    .about("Takes an identity from its person: the sender is unknown from then on")
                    .arg(
                        Arg::new("identity").value_name("CHANNEL:SENDER").required(true).help("The identity"),
                    ),
            ),
        Command::new("channels").about("Lists the accounts of chat channels with their health").subcommand(
            Command::new("test")
                .about("Sends a message to oneself")
                .arg(
                    Arg::new("channel")
                        .value_name("CHANNEL")
                        .required(true)
                        .help("The channel, such as `telegram`"),
                )
                .arg(
                    Arg::new("account")
                        .long("account")
                        .value_name("ID")
                        .help("The account, if the channel has several"),
                ),
        ),
    ]
}

pub(super) fn request(name: &str, matches: &mut ArgMatches) -> Result<PeopleRequest, Stop> {
    let subcommand = matches.remove_subcommand();
    Ok(match (name, subcommand) {
        ("pair", Some((name, mut matches))) if name == "approve" => {
            let mut wanted = json!({ "sender": required(text(&mut matches, "sender"))? });
            if matches.get_flag("owner") {
                wanted["owner"] = true.into();
            }
            for key in ["person", "role", "agent", "name"] {
                if let Some(value) = text(&mut matches, key) {
                    wanted[key] = value.into();
                }
            }
            PeopleRequest::Approve(wanted)
        }
        ("pair", Some((name, mut matches))) if name == "deny" => {
            PeopleRequest::Deny { sender: required(text(&mut matches, "sender"))? }
        }
        ("pair", _) => PeopleRequest::Pairings,
        ("people", Some((name, mut matches))) if name == "unlink" => {
            let identity = required(text(&mut matches, "identity"))?;
            let (channel, sender) = identity
                .split_once(':')
                .ok_or_else(|| Stop::usage("an identity is CHANNEL:SENDER, such as telegram:123456"))?;
            PeopleRequest::Unlink { channel: channel.to_owned(), sender: sender.to_owned() }
        }
        ("people", Some((name, mut matches))) => {
            PeopleRequest::Block { blocks: name == "block", name: required(text(&mut matches, "name"))? }
        }
        ("people", None) => PeopleRequest::List,
        (_, Some((_, mut matches))) => PeopleRequest::Test {
            channel: required(text(&mut matches, "channel"))?,
            account: text(&mut matches, "account"),
        },
        _ => PeopleRequest::Channels,
    })
}

pub(super) fn run(
    request: &PeopleRequest,
    start: &Start<'_>,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let needs_running = matches!(request, PeopleRequest::Channels | PeopleRequest::Test { .. });
    let reached = if needs_running { reach_running(start)? } else { reach(start)? };
    let answer = answer(request, &reached)?;
    match (start.format, request) {
        (Format::Json, _) => print_json(&answer, console)?,
        (_, PeopleRequest::Pairings) => show_pairings(&answer, console)?,
        (_, PeopleRequest::Approve(_)) => {
            console.print(&format!(
                "{} is let in, as {}\n",
                word(&answer["identity"], "name"),
                word(&answer["person"], "name")
            ))?;
        }
        (_, PeopleRequest::Deny { .. }) => console.note(&format!("{} is turned away", word(&answer, "name"))),
        (_, PeopleRequest::List) => show_people(&answer, console)?,
        (_, PeopleRequest::Block { blocks, name }) => {
            console.note(&format!(
                "{} is {}",
                escape_line(name),
                if *blocks { "blocked" } else { "let in again" }
            ));
        }
        (_, PeopleRequest::Unlink { .. }) => console.note("the identity was removed"),
        (_, PeopleRequest::Channels) => show_channels(&answer, console)?,
        (_, PeopleRequest::Test { .. }) => {
            for delivery in answer["deliveries"].as_array().into_iter().flatten() {
                console.note(&format!(
                    "the message {} is on its way to {}; `toolkit gateway channels` shows what waits",
                    delivery["id"],
                    word(&delivery["target"], "conversation")
                ));
            }
        }
    }
    Ok(Exit::Success)
}

fn answer(request: &PeopleRequest, reached: &Reached) -> Result<Value, Stop> {
    match request {
        PeopleRequest::Pairings => reached.get("/v1/pairings"),
        PeopleRequest::Approve(wanted) => reached.post("/v1/pairings/approve", wanted),
        PeopleRequest::Deny { sender } => reached.post("/v1/pairings/deny", &json!({ "sender": sender })),
        PeopleRequest::List => reached.get("/v1/people"),
        PeopleRequest::Block { name, blocks } => {
            let action = if *blocks { "block" } else { "unblock" };
            reached.post(&format!("/v1/people/{}/{action}", path_part(name)), &json!({}))
        }
        PeopleRequest::Unlink { channel, sender } => reached
            .delete(&format!("/v1/identities/{}/{}", path_part(channel), path_part(sender)))
            .map(|_| json!({})),
        PeopleRequest::Channels => reached.get("/v1/channels"),
        PeopleRequest::Test { channel, account } => {
            reached.post("/v1/channels/test", &json!({ "channel": channel, "account": account }))
        }
    }
}

fn word(value: &Value, key: &str) -> String {
    escape_line(value[key].as_str().unwrap_or_default()).into_owned()
}

fn show_pairings(answer: &Value, console: &mut Console<'_>) -> Result<(), Stop> {
    let pairings = answer["pairings"].as_array().map(Vec::as_slice).unwrap_or_default();
    if pairings.is_empty() {
        console.note("no unknown sender has written");
    }
    for pairing in pairings {
        let state = match (pairing["expiresAt"].is_i64(), pairing["deniedAt"].is_i64()) {
            (true, _) => "has a code",
            (false, true) => "denied",
            (false, false) => "was turned away",
        };
        console.print(&format!(
            "{}:{}  \"{}\"  at the account {}  {} messages  {state}\n",
            word(pairing, "channel"),
            word(pairing, "sender"),
            word(pairing, "name"),
            word(pairing, "account"),
            pairing["messages"]
        ))?;
    }
    Ok(())
}

fn show_people(answer: &Value, console: &mut Console<'_>) -> Result<(), Stop> {
    for person in answer["people"].as_array().into_iter().flatten() {
        let identities = person["identities"].as_array().into_iter().flatten();
        let identities: Vec<String> = identities
            .map(|identity| format!("{}:{}", word(identity, "channel"), word(identity, "sender")))
            .collect();
        let blocked = if person["blockedAt"].is_i64() { "  blocked" } else { "" };
        console.print(&format!(
            "{}  {}  agent {}  {}{blocked}\n",
            word(person, "name"),
            word(person, "role"),
            word(person, "agent"),
            if identities.is_empty() { "no identity".to_owned() } else { identities.join(", ") }
        ))?;
    }
    Ok(())
}

fn show_channels(answer: &Value, console: &mut Console<'_>) -> Result<(), Stop> {
    let channels = answer["channels"].as_array().map(Vec::as_slice).unwrap_or_default();
    if channels.is_empty() {
        console.note("no channel is configured; docs/channels.md says how");
    }
    for channel in channels {
        let health = if channel["degradedSince"].is_i64() {
            format!("degraded ({}): {}", channel["failures"], word(channel, "reason"))
        } else {
            "ok".to_owned()
        };
        let name = channel["identity"]["name"]
            .as_str()
            .map_or_else(|| "unknown".to_owned(), |name| escape_line(name).into_owned());
        console.print(&format!(
            "{}  {}  {name}  {} to send  {health}\n",
            word(channel, "channel"),
            word(channel, "account"),
            channel["waiting"]
        ))?;
    }
    Ok(())
}
