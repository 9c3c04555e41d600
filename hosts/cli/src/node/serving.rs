//! `node run` and `node status`.

use super::{directory, failed};
use crate::config;
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::runtime;
use crate::signals::Watch;
use crate::subcommand::Start;
use serde_json::json;
use std::fs;
use std::time::Duration;
use tokio::runtime::Runtime;
use toolkit::approval::{Answer, Answering, DeniedBy, PendingAsk};
use toolkit::config::Configuration;
use toolkit::{Approver, Caller, CancellationToken};
use toolkit_host::{Host, HostBuilder, HostError};
use toolkit_node::{Commands, Device, DirectoryError, NodeDirectory, NodeSettings, Pin, Step};

/// The tool that runs commands.
const EXEC: &str = "exec";
/// The directory in which commands run, in that of the node.
const WORKSPACE: &str = "workspace";
/// The time for everything that is open to be closed at the end.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// Serves the gateway until Ctrl-C or SIGTERM.
pub(super) fn run(start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let directory = directory(&start)?;
    let pin = pin(&directory)?;
    let stop = CancellationToken::new();
    let watch = Watch::start(stop.clone())?;
    let runtime = runtime::new()?;
    let (device, host) = device(start, &directory, &pin, &runtime, console)?;
    console.note(&format!("this device is `{}`, a node of {}", pin.name, pin.address));
    let served = runtime.block_on(toolkit_node::run(&directory, device, stop, |step| match step {
        Step::Connected(id) => console.note(&format!("connected as {}", toolkit::text::escape_line(id))),
        Step::Waiting(error, pause) => {
            console.note(&format!("{error}; the next attempt comes in {} s", pause.as_secs().max(1)));
        }
        _ => {}
    }));
    if let Some(host) = host {
        runtime.block_on(host.shutdown(SHUTDOWN));
    }
    runtime.shutdown_background();
    // It was stopped in order, by whatever signal.
    watch.call_ended();
    served.map_err(failed)?;
    Ok(Exit::Success)
}

/// Shows the gateway, the keys, and what this device serves.
pub(super) fn status(start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let format = start.format;
    let directory = directory(&start)?;
    let pin = pin(&directory)?;
    let of_key = |error: DirectoryError| Stop::cannot_start(error.to_string());
    let fingerprint = directory.identity().map_err(of_key)?.public_key().fingerprint();
    let runtime = runtime::new()?;
    let (device, host) = device(start, &directory, &pin, &runtime, console)?;
    let toolkit = {
        let _entered = runtime.enter();
        device.toolkit().map_err(|error| Stop::failed(error.to_string()))?
    };
    let actions: Vec<String> = runtime
        .block_on(toolkit.toolbox(&Caller::new()))
        .definitions()
        .into_iter()
        .map(|tool| tool.name.clone())
        .collect();
    if let Some(host) = host {
        runtime.block_on(host.shutdown(SHUTDOWN));
    }
    if format == Format::Json {
        let shown = json!({
            "name": pin.name,
            "gateway": pin.address.to_string(),
            "fingerprint": fingerprint,
            "gatewayFingerprint": pin.gateway_key.fingerprint(),
            "actions": actions,
        });
        print_json(&shown, console)?;
        return Ok(Exit::Success);
    }
    console.print(&format!("name         {}\n", pin.name))?;
    console.print(&format!("gateway      {}\n", pin.address))?;
    console.print(&format!("this device  {fingerprint}\n"))?;
    console.print(&format!("the gateway  {}\n", pin.gateway_key.fingerprint()))?;
    console.print(&format!("serves       {}\n", actions.join(", ")))?;
    Ok(Exit::Success)
}

fn pin(directory: &NodeDirectory) -> Result<Pin, Stop> {
    let missing =
        |error: DirectoryError| Stop::Error { exit: Exit::Configuration, message: error.to_string() };
    directory.pin().map_err(missing)
}

/// Returns the device, as the configuration of this machine says, and the host of its commands, if it runs any.
fn device(
    start: Start<'_>,
    directory: &NodeDirectory,
    pin: &Pin,
    runtime: &Runtime,
    console: &mut Console<'_>,
) -> Result<(Device, Option<Host>), Stop> {
    // The directory in which it was started has no say.
    let workspace = directory.path().join(WORKSPACE);
    fs::create_dir_all(&workspace)?;
    let load = start.load.workspace(&workspace);
    let configuration = Configuration::load(load.clone()).map_err(HostError::Configuration)?;
    config::note(&configuration, console);
    let settings = NodeSettings::of(&configuration);
    if !settings.run {
        return Ok((Device::new(&*pin.name, settings, None), None));
    }
    let mut caller = Caller::new().with_workspace(&workspace);
    caller.unattended = Some("this device serves a gateway, and nobody approves its commands".to_owned());
    let host =
        Host::builder(load).toolkit(start.toolkit).caller(caller).approver(NobodyApproves).with_toolkit(
            |toolkit| {
                // Commands see neither the data of this machine's user nor the keys, wherever those are.
                let toolkit = toolkit.seal_data_dir().uses_section(NodeSettings::SECTION);
                directory.private_files().into_iter().fold(toolkit, toolkit::Builder::protect_path)
            },
        );
    let host = parts(host);
    let host = {
        let _entered = runtime.enter();
        host.build()
    }?;
    let has_exec = runtime.block_on(host.toolbox(host.caller())).tool(EXEC).is_some();
    if !has_exec {
        console.note(&format!(
            "warning: `node.run` has no effect: this configuration leaves the tool `{EXEC}` out; `toolkit explain tool {EXEC} --unattended` says why"
        ));
    }
    let commands = Commands { toolkit: host.toolkit().clone(), caller: host.caller().clone() };
    Ok((Device::new(&*pin.name, settings, has_exec.then_some(commands)), Some(host)))
}

/// Denies what asks: nobody watches the device.
struct NobodyApproves;

impl Approver for NobodyApproves {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        let mut reason =
            "nobody approves commands on this device; a rule of its configuration could".to_owned();
        if let Some(setting) = ask.question().setting() {
            reason.push_str(", such as ");
            reason.push_str(&setting);
        }
        Box::pin(std::future::ready(Some(Answer::denied_by(DeniedBy::NobodyThere, reason).into())))
    }
}

/// Switches off the parts of a host that commands do not need.
fn parts(host: HostBuilder) -> HostBuilder {
    let host = host.history(true).background_tasks(true);
    #[cfg(feature = "agent")]
    let host = host.agents(false);
    #[cfg(feature = "mcp")]
    let host = host.mcp_servers(toolkit_host::McpSelection::None);
    host
}
