//! `gateway nodes`: devices that serve the gateway.

use super::reach::{Reached, reach};
use crate::confirm::ask;
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::subcommand::Start;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use toolkit::text::escape_line;
use toolkit_gateway::client::path_part;

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum NodesRequest {
    List,
    Approve { code: String, person: Option<String>, is_confirmed: bool },
    Revoke { id: String },
}

pub(super) fn command() -> Command {
    Command::new("nodes")
        .about("Lists devices that serve the gateway, approves and revokes them")
        .subcommand(
            Command::new("approve")
                .about("Approves the device that shows a code, once you have compared its key and that of the gateway")
                .arg(Arg::new("code").value_name("CODE").required(true).help("The code"))
                .arg(
                    Arg::new("person")
                        .long("person")
                        .value_name("NAME")
                        .help("The person whose sessions may use it [default: the owner]"),
                )
                .arg(
                    Arg::new("yes")
                        .long("yes")
                        .action(ArgAction::SetTrue)
                        .help("Approves it without a question, as a script does"),
                ),
        )
        .subcommand(
            Command::new("revoke")
                .about("Revokes a device, and ends its connection and the calls that wait for it")
                .arg(Arg::new("id").value_name("ID").required(true).help("The id of the device")),
        )
}

pub(super) fn request(matches: &mut ArgMatches) -> Result<NodesRequest, Stop> {
    let Some((name, mut matches)) = matches.remove_subcommand() else { return Ok(NodesRequest::List) };
    Ok(match name.as_str() {
        "approve" => NodesRequest::Approve {
            code: required(text(&mut matches, "code"))?,
            person: text(&mut matches, "person"),
            is_confirmed: matches.get_flag("yes"),
        },
        _ => NodesRequest::Revoke { id: required(text(&mut matches, "id"))? },
    })
}

pub(super) fn run(
    request: &NodesRequest,
    start: &Start<'_>,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let reached = reach(start)?;
    match request {
        NodesRequest::List => {
            let listed = reached.get("/v1/nodes")?;
            if start.format == Format::Json {
                print_json(&listed, console)?;
            } else {
                show(&listed, console)?;
            }
        }
        NodesRequest::Approve { code, person, is_confirmed } => {
            let node = approve(&reached, code, person.as_deref(), *is_confirmed, console)?;
            if start.format == Format::Json {
                print_json(&node, console)?;
            } else {
                console.print(&format!(
                    "approved {}  {}\n",
                    word(&node, "id"),
                    word(&node, "fingerprint")
                ))?;
            }
        }
        NodesRequest::Revoke { id } => {
            reached.delete(&format!("/v1/nodes/{}", path_part(id)))?;
            console.note(&format!("The node `{}` was revoked", escape_line(id)));
        }
    }
    Ok(Exit::Success)
}

/// Shows the keys of the device and of the gateway, and approves the device once a person has confirmed them. Returns it.
fn approve(
    reached: &Reached,
    code: &str,
    person: Option<&str>,
    is_confirmed: bool,
    console: &mut Console<'_>,
) -> Result<Value, Stop> {
    let found = reached.post("/v1/nodes/pending", &json!({ "code": code }))?;
    let (node, gateway) = (&found["node"], &found["gateway"]);
    console.note(&format!("the device `{}`, {}", word(node, "name"), word(node, "platform")));
    console.note(&format!("this device: {}", word(node, "fingerprint")));
    console.note(&format!("the gateway: {}", word(gateway, "fingerprint")));
    if !is_confirmed {
        let question =
            "Does `toolkit node pair` show both on the device? y = yes, approve it, anything else = no";
        match ask(question, console)? {
            Some(true) => {}
            Some(false) => return Err(Stop::failed("the device was not approved")),
            None => {
                return Err(Stop::failed(
                    "the device was not approved: a person has to compare the fingerprints, and standard input is not a terminal; use `--yes` once they are \
                     compared",
                ));
            }
        }
    }
    let mut wanted = json!({ "code": code, "fingerprint": node["fingerprint"] });
    if let Some(person) = person {
        wanted["person"] = person.into();
    }
    reached.post("/v1/nodes/approve", &wanted)
}

/// A text of a record, for a line.
fn word(record: &Value, key: &str) -> String {
    escape_line(record[key].as_str().unwrap_or_default()).into_owned()
}

fn show(listed: &Value, console: &mut Console<'_>) -> Result<(), Stop> {
    let fingerprint = listed["gateway"]["fingerprint"].as_str().unwrap_or_default();
    console.note(&format!("the gateway: {}", escape_line(fingerprint)));
    for node in listed["nodes"].as_array().into_iter().flatten() {
        let person =
            node["person"].as_str().map_or_else(String::new, |person| format!(" of {}", escape_line(person)));
        let state = match (node["connected"].as_bool(), node["state"].as_str()) {
            (Some(true), _) => {
                let actions = node["actions"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let actions: Vec<_> = actions.map(escape_line).collect();
                format!("connected, serves {}", actions.join(", "))
            }
            (_, Some("pending")) => "waits for approval".to_owned(),
            (_, Some("approved")) => "not connected".to_owned(),
            _ => "revoked".to_owned(),
        };
        let (id, platform, of_key) = (word(node, "id"), word(node, "platform"), word(node, "fingerprint"));
        console.print(&format!("{id}  {platform}{person}  {of_key}  {state}\n"))?;
    }
    Ok(())
}
