//! `gateway token`: tokens of people and programs.

use super::reach::reach;
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::subcommand::Start;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};
use toolkit::text::escape_line;
use toolkit_gateway::client::path_part;
use toolkit_gateway::{Moment, Zone};

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum TokenRequest {
    Add(Value),
    List,
    Revoke { name: String },
}

pub(super) fn command() -> Command {
    let name = || Arg::new("name").value_name("NAME").required(true).help("The token's name");
    Command::new("token")
        .about("Manages tokens of people and programs")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("add")
                .about("Makes a token, and prints it once")
                .arg(name())
                .arg(
                    Arg::new("person")
                        .long("person")
                        .value_name("NAME")
                        .help("The person whom it belongs to; one who is not known is added [default: the token's name]"),
                )
                .arg(
                    Arg::new("role")
                        .long("role")
                        .value_name("ROLE")
                        .value_parser(PossibleValuesParser::new(["owner", "approver", "user"]))
                        .help("The rights, at most those of the person [default: user]"),
                )
                .arg(
                    Arg::new("expires")
                        .long("expires")
                        .value_name("TIME")
                        .value_parser(parse_expiry)
                        .help("A time such as 2027-01-31T00:00:00Z after which it counts no more, or a number of days such as 30d"),
                ),
        )
        .subcommand(Command::new("list").about("Lists the tokens"))
        .subcommand(
            Command::new("revoke")
                .about("Revokes a token, and ends its connections")
                .arg(name()),
        )
}

/// The key and the value with which an expiry is sent.
type Expiry = (&'static str, u64);

fn parse_expiry(text: &str) -> Result<Expiry, String> {
    if let Some(days) = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok()) {
        return Ok(("expiresInSeconds", u64::from(days) * 24 * 60 * 60));
    }
    let at: Moment = Zone::utc().read(text).map_err(|error| error.to_string())?;
    let at = u64::try_from(at.0).map_err(|_| "the time is before 1970".to_owned())?;
    Ok(("expiresAt", at))
}

pub(super) fn request(matches: &mut ArgMatches) -> Result<TokenRequest, Stop> {
    let Some((what, mut matches)) = matches.remove_subcommand() else {
        return Err(Stop::usage("a subcommand is missing; `gateway token --help` lists them"));
    };
    Ok(match what.as_str() {
        "add" => {
            let mut wanted = json!({ "name": required(text(&mut matches, "name"))? });
            for key in ["person", "role"] {
                if let Some(value) = text(&mut matches, key) {
                    wanted[key] = value.into();
                }
            }
            if let Some((key, value)) = matches.remove_one::<Expiry>("expires") {
                wanted[key] = value.into();
            }
            TokenRequest::Add(wanted)
        }
        "revoke" => TokenRequest::Revoke { name: required(text(&mut matches, "name"))? },
        _ => TokenRequest::List,
    })
}

pub(super) fn run(
    request: &TokenRequest,
    start: &Start<'_>,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let reached = reach(start)?;
    match request {
        TokenRequest::Add(wanted) => {
            let made = reached.post("/v1/tokens", wanted)?;
            match start.format {
                Format::Json => print_json(&made, console)?,
                Format::Text => {
                    let name = escape_line(made["name"].as_str().unwrap_or_default()).into_owned();
                    console.note(&format!("The token `{name}`. It is not shown again:"));
                    console.print(&format!("{}\n", made["token"].as_str().unwrap_or_default()))?;
                }
            }
        }
        TokenRequest::List => {
            let tokens = reached.get("/v1/tokens")?;
            if start.format == Format::Json {
                print_json(&tokens, console)?;
                return Ok(Exit::Success);
            }
            for token in tokens["tokens"].as_array().into_iter().flatten() {
                let word = |key: &str| escape_line(token[key].as_str().unwrap_or_default()).into_owned();
                console.print(&format!("{}  {} of {}\n", word("name"), word("role"), word("person")))?;
            }
        }
        TokenRequest::Revoke { name } => {
            reached.delete(&format!("/v1/tokens/{}", path_part(name)))?;
            console.note(&format!("The token `{}` counts no more", escape_line(name)));
        }
    }
    Ok(Exit::Success)
}
