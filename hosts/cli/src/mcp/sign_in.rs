//! `mcp login` and `logout`: signing in to servers that require it.

use crate::config;
use crate::console::Console;
use crate::exit::{Exit, Stop};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Builder;
use toolkit::{Toolkit, config::LoadOptions, text::escape_line};
use toolkit_mcp::{
    ClientOptions, Loopback, McpGrant, McpServerSettings, McpServers, McpUrl, ServerState, forget_sign_ins,
};

/// Time limit for the user to sign in.
const PATIENCE: Duration = Duration::from_mins(10);

/// Arguments of `mcp login`.
#[derive(Debug, Clone)]
pub(crate) struct LoginRequest {
    name: String,
    scopes: Vec<String>,
}

pub(super) fn commands() -> [Command; 2] {
    let name =
        || Arg::new("name").value_name("NAME").required(true).help("The server's name in the configuration");
    [
        Command::new("login").about("Signs in to a server by OAuth").arg(name()).arg(
            Arg::new("scope")
                .long("scope")
                .value_name("SCOPE")
                .action(ArgAction::Append)
                .help("A scope to request in addition to the server's"),
        ),
        Command::new("logout").about("Removes the stored tokens of a server").arg(name()),
    ]
}

pub(super) fn request(matches: &mut ArgMatches) -> LoginRequest {
    LoginRequest {
        name: matches.remove_one("name").unwrap_or_default(),
        scopes: matches.remove_many("scope").into_iter().flatten().collect(),
    }
}

/// Returns the server of this name, which must be one that supports signing in.
fn server(name: &str, load: &LoadOptions) -> Result<McpUrl, Stop> {
    let shown = escape_line(name);
    let configuration = config::load(load.clone())?;
    let url = match McpServerSettings::of(&configuration).remove(name) {
        Some(McpServerSettings::Url(url)) if url.enabled => url,
        Some(McpServerSettings::Command(_)) => {
            return Err(Stop::failed(format!("`{shown}` is a command, which has no sign-in")));
        }
        Some(McpServerSettings::Unavailable(unavailable)) => {
            let reason = escape_line(&unavailable.reason);
            return Err(Stop::failed(format!("`{shown}` cannot be used: {reason}")));
        }
        Some(_) => return Err(Stop::failed(format!("`{shown}` is switched off"))),
        None => {
            return Err(Stop::failed(format!(
                "there is no server `{shown}`; `mcp list` lists those that are configured"
            )));
        }
    };
    if url.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
        return Err(Stop::failed(format!(
            "`{shown}` has a header `Authorization` in its `headers`; remove it to sign in"
        )));
    }
    if !url.oauth.enabled {
        return Err(Stop::failed(format!("`{shown}` has `oauth.enabled: false`, so sign-in is disabled")));
    }
    Ok(url)
}

fn data_dir(load: &LoadOptions) -> Result<PathBuf, Stop> {
    load.data_dir_path().map(std::path::Path::to_path_buf).ok_or_else(|| {
        Stop::cannot_start(
            "there is no directory for data to keep tokens in; set TOOLKIT_DATA_DIR".to_owned(),
        )
    })
}

fn only(name: &str, url: McpUrl, options: ClientOptions) -> McpServers {
    McpServers::new(&BTreeMap::from([(name.to_owned(), McpServerSettings::Url(url))]), options)
}

pub(super) fn login(
    request: &LoginRequest,
    load: &LoadOptions,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let name = escape_line(&request.name).into_owned();
    let url = server(&request.name, load)?;
    let port = url.oauth.redirect_port;
    let is_program = url.oauth.grant == McpGrant::ClientCredentials;
    let failed = |error: &dyn std::fmt::Display| Stop::failed(format!("cannot sign in to `{name}`: {error}"));
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))?;
    let was_shown = Arc::new(AtomicBool::new(is_program));
    let state: Result<_, Stop> = runtime.block_on(async {
        let sign_in = {
            let was_shown = Arc::clone(&was_shown);
            Loopback::bind(port, move |server, url| {
                was_shown.store(true, Ordering::Relaxed);
                let (server, url) = (escape_line(server), escape_line(url));
                // Standard output is reserved for the result.
                let _ = writeln!(
                    std::io::stderr(),
                    "To sign in to `{server}`, open this in a browser:\n\n  {url}\n"
                );
            })
            .await
            .map_err(|error| match port {
                Some(port) => failed(&format!("port {port} (`oauth.redirectPort`) is unavailable: {error}")),
                None => failed(&error),
            })?
        };
        let options = ClientOptions::new().data_dir(data_dir(load)?).start_within(PATIENCE);
        let options = options.sign_in(Arc::new(sign_in)).scopes(request.scopes.clone());
        let servers = only(&request.name, url, options);
        // A stored token would suffice, but a user who runs this command wants a new one.
        servers.sign_in_again(&request.name);
        let toolkit =
            Toolkit::empty().tool_source(servers.clone()).build().map_err(|error| failed(&error))?;
        servers.start(&toolkit).await;
        let state = servers.status().pop().map(|status| status.state);
        servers.stop().await;
        Ok(state)
    });
    runtime.shutdown_background();
    match state? {
        Some(ServerState::Ready { tools, about }) => {
            let what =
                if was_shown.load(Ordering::Relaxed) { "Signed in to" } else { "No sign-in is needed for" };
            console.print(&format!("{what} `{name}`: {tools} tools ({about})\n"))?;
            Ok(Exit::Success)
        }
        Some(ServerState::Failed { why }) => Err(Stop::failed(format!("`{name}` cannot be reached: {why}"))),
        _ => Err(Stop::failed(format!("`{name}` is not there"))),
    }
}

pub(super) fn logout(name: &str, load: &LoadOptions, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let shown = escape_line(name).into_owned();
    let directory = data_dir(load)?;
    let failed =
        |error: std::io::Error| Stop::failed(format!("the tokens for `{shown}` cannot be removed: {error}"));
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    // The stored tokens count, not the present configuration: a server that was removed from it leaves its tokens
    // behind.
    let mut was_in = runtime.block_on(forget_sign_ins(&directory, name)).map_err(failed)?;
    let configured = server(name, load);
    if let Ok(url) = &configured {
        let servers = only(name, url.clone(), ClientOptions::new().data_dir(directory));
        was_in |= runtime.block_on(servers.sign_out(name)).map_err(failed)?;
    }
    if was_in {
        console.print(&format!(
            "Removed the tokens for `{shown}`; the server may accept them until they expire\n"
        ))?;
    } else {
        configured?;
        console.print(&format!("No tokens are stored for `{shown}`\n"))?;
    }
    Ok(Exit::Success)
}
