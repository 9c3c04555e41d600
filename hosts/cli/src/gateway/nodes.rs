//! `gateway nodes`: devices that serve the gateway.

use super::reach::reach;
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::subcommand::Start;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};
use toolkit::text::escape_line;
use toolkit_gateway::client::path_part;

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum NodesRequest {
    List,
    Approve { code: String, person: Option<String> },
    Revoke { id: String },
}

pub(super) fn command() -> Command {
    Command::new("nodes")
        .about("Lists devices that serve the gateway, approves and revokes them")
        .subcommand(
            Command::new("approve")
                .about("Approves the device that shows a code")
                .arg(Arg::new("code").value_name("CODE").required(true).help("The code"))
                .arg(
                    Arg::new("person")
                        .long("person")
                        .value_name("NAME")
                        .help("The person whose sessions may use it [default: the owner]"),
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
        NodesRequest::Approve { code, person } => {
            let mut wanted = json!({ "code": code });
            if let Some(person) = person {
                wanted["person"] = person.as_str().into();
            }
            let node = reached.post("/v1/nodes/approve", &wanted)?;
            if start.format == Format::Json {
                print_json(&node, console)?;
            } else {
                let word = |key: &str| escape_line(node[key].as_str().unwrap_or_default()).into_owned();
                console.print(&format!("approved {}  {}\n", word("id"), word("fingerprint")))?;
            }
        }
        NodesRequest::Revoke { id } => {
            reached.delete(&format!("/v1/nodes/{}", path_part(id)))?;
            console.note(&format!("The node `{}` was revoked", escape_line(id)));
        }
    }
    Ok(Exit::Success)
}

fn show(listed: &Value, console: &mut Console<'_>) -> Result<(), Stop> {
    let fingerprint = listed["gateway"]["fingerprint"].as_str().unwrap_or_default();
    console.note(&format!("the gateway: {}", escape_line(fingerprint)));
    for node in listed["nodes"].as_array().into_iter().flatten() {
        let word = |key: &str| escape_line(node[key].as_str().unwrap_or_default()).into_owned();
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
        let (id, platform, of_key) = (word("id"), word("platform"), word("fingerprint"));
        console.print(&format!("{id}  {platform}{person}  {of_key}  {state}\n"))?;
    }
    Ok(())
}
