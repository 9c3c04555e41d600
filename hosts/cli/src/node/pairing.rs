//! `node pair`: asks a gateway for approval.

use super::{directory, failed};
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::runtime;
use crate::subcommand::Start;
use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use serde_json::json;
use std::path::PathBuf;
use toolkit_node::handshake::{MAX_NAME_BYTES, check_name};
use toolkit_node::{Address, Paired};

/// The name of a device whose host name is none.
const NAME: &str = "node";

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) struct PairRequest {
    address: Address,
    name: Option<String>,
    ca: Option<PathBuf>,
}

pub(super) fn command() -> Command {
    Command::new("pair")
        .about("Asks a gateway for approval, and shows the code for its owner")
        .arg(
            Arg::new("address")
                .value_name("ADDRESS")
                .required(true)
                .value_parser(value_parser!(Address))
                .help("The address of the gateway: https://HOST, wss://HOST, or HOST:PORT of this machine"),
        )
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("NAME")
                .value_parser(|name: &str| check_name(name).map(|()| name.to_owned()))
                .help("The name of this device: letters, digits, - and _ [default: its host name]"),
        )
        .arg(
            Arg::new("ca")
                .long("ca")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("A file with certificates of authorities (PEM), in place of those of the system"),
        )
}

pub(super) fn request(matches: &mut ArgMatches) -> Result<PairRequest, Stop> {
    Ok(PairRequest {
        address: required(matches.remove_one("address"))?,
        name: text(matches, "name"),
        ca: matches.remove_one("ca"),
    })
}

pub(super) fn run(request: &PairRequest, start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let directory = directory(start)?;
    let name = request.name.clone().unwrap_or_else(host_name);
    let ca = request.ca.as_ref().map(std::path::absolute).transpose()?;
    let pairing = toolkit_node::pair(&directory, request.address.clone(), name, ca);
    let paired = runtime::new()?.block_on(pairing).map_err(failed)?;
    show(&paired, start.format, console)?;
    Ok(Exit::Success)
}

fn show(paired: &Paired, format: Format, console: &mut Console<'_>) -> Result<(), Stop> {
    let Paired { code, fingerprint, gateway_fingerprint, .. } = paired;
    if format == Format::Json {
        let shown = json!({
            "code": code.as_ref().map(|(code, _)| code),
            "expiresSeconds": code.as_ref().map(|(_, seconds)| seconds),
            "fingerprint": fingerprint,
            "gatewayFingerprint": gateway_fingerprint,
        });
        return print_json(&shown, console);
    }
    console.note(&format!("this device: {fingerprint}"));
    console.note(&format!("the gateway: {gateway_fingerprint}"));
    match code {
        Some((code, seconds)) => {
            console.note(&format!(
                "On the machine of the gateway, approve the code within {} minutes, and compare both there:",
                seconds / 60
            ));
            console.print(&format!("toolkit gateway nodes approve {code}\n"))?;
            console.note("Then `toolkit node run` serves the gateway");
        }
        None => console.note("This device is approved already; `toolkit node run` serves the gateway"),
    }
    Ok(())
}

/// The name of this machine, in the letters of names.
fn host_name() -> String {
    #[cfg(unix)]
    let text = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let text = std::env::var("COMPUTERNAME").unwrap_or_default();
    let short = text.split('.').next().unwrap_or_default();
    let is_of_name = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    let name: String = short.chars().filter(is_of_name).take(MAX_NAME_BYTES).collect();
    if name.is_empty() { NAME.to_owned() } else { name }
}
