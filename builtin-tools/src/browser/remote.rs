//! A browser that runs already, by its debugging URL: `tools.browser.debuggingUrl`.
//!
//! Pages are opened in a context of their own, so they have nothing of what the browser knows, and are gone with the connection. The context
//! is told to use the proxy of the guard. What cannot be told to a context, and belongs to the browser as a whole, is said in the question
//! before the connection.

mod socket;

use super::arguments::invalid;
use crate::config::BrowserSettings;
use serde_json::Value;
use socket::Socket;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;
use tokio::time::timeout;
use toolkit::prelude::*;
use toolkit::{Ask, text::escape_line};
use toolkit_http::{AddressRange, Client, Guard, GuardSettings, Host, Limits, Request, Target};

/// Time for finding the browser, and for a connection to it.
const CONNECTING: Duration = Duration::from_secs(10);
/// Time for `doctor` to look whether something listens at an address.
const PROBING: Duration = Duration::from_secs(1);

/// A debugging address.
#[derive(Debug, Clone)]
pub(super) struct Remote {
    target: Target,
    /// True for the address of a socket; else the browser is asked for it.
    is_socket: bool,
    /// True if the traffic of its pages goes through the proxy of the guard.
    pub(super) is_proxied: bool,
}

impl Remote {
    /// The configured browser, if one is.
    ///
    /// # Errors
    ///
    /// The setting is no address of a browser.
    pub(super) fn of(settings: &BrowserSettings) -> Result<Option<Self>, ToolError> {
        let Some(url) = settings.debugging_url.as_deref().map(str::trim) else { return Ok(None) };
        let unusable = |why: &str| {
            ToolError::unavailable(format!(
                "`tools.browser.debuggingUrl` cannot be used: {why}; write it as \"http://127.0.0.1:9222\" or \"ws://127.0.0.1:9222/devtools/browser/…\""
            ))
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| unusable("it is not a URL"))?;
        let is_socket = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "ws" => true,
            // Nothing that encrypts is between this process and a debugging port by itself.
            _ => {
                return Err(unusable(
                    "its scheme is neither http nor ws; reach a browser on another machine through a tunnel to a local port",
                ));
            }
        };
        let target = guard().check_url(&format!("http://{rest}"));
        // The error would repeat a token in the URL.
        let target = target.map_err(|_| unusable("it is not an address with a host and a port"))?;
        Ok(Some(Self { target, is_socket, is_proxied: !settings.debugging_without_proxy }))
    }

    /// Scheme, host and port: what else the URL has may be a secret.
    pub(super) fn shown(&self) -> String {
        let scheme = if self.is_socket { "ws" } else { "http" };
        format!("{scheme}://{}:{}", self.target.host(), self.target.port())
    }

    /// Asks a person before the connection, each time unless the person said that it holds for longer. No rule allows it.
    pub(super) async fn ask(&self, ctx: &ToolContext) -> Result<(), ToolError> {
        let traffic = if self.is_proxied {
            "The traffic of its pages is checked as that of a browser that the tool starts. The browser's own \
             requests are not checked, such as DNS lookups."
        } else {
            "The traffic of its pages is not checked (`tools.browser.debuggingWithoutProxy`): they may reach private networks of the machine that it runs \
             on. Only addresses that a call names, and that a tab shows after it, are checked."
        };
        let title = format!("Connect to the browser at {} and let the model use it", self.shown());
        let ask = Ask::new("browser", title).with_pattern(self.shown()).with_text("traffic", traffic);
        ctx.ask_in_person(ask).await
    }

    /// Connects to the browser.
    ///
    /// # Errors
    ///
    /// The reason.
    pub(super) async fn connect(&self) -> Result<Socket, String> {
        let connecting = async {
            let path = if self.is_socket { path(self.target.url().as_str()) } else { self.socket().await? };
            let stream = guard().connect(&self.target).await.map_err(|error| error.to_string())?;
            let host = match self.target.host() {
                Host::Domain(name) => name.clone(),
                address @ Host::Address(_) => address.to_string(),
            };
            socket::open(stream, &format!("{host}:{}", self.target.port()), &path).await
        };
        let connected = timeout(CONNECTING, connecting).await;
        connected.unwrap_or_else(|_| Err(format!("it did not answer within {CONNECTING:?}")))
    }

    /// Asks the browser for the path of its socket.
    async fn socket(&self) -> Result<String, String> {
        let limits = Limits::default().with_total(CONNECTING).with_redirects(0).with_body_bytes(64 << 10);
        let base = self.target.url().as_str();
        let (base, query) = base.split_once('?').map_or((base, ""), |(base, query)| (base, query));
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        let url = format!("{}/json/version{query}", base.trim_end_matches('/'));
        let response = Client::new(guard(), limits).send(Request::get(url)).await;
        let response = response.map_err(|error| error.to_string())?;
        let about: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        match about["webSocketDebuggerUrl"].as_str() {
            // The port of the browser as this machine sees it is the configured one.
            Some(url) => Ok(path(url)),
            None => Err(format!(
                "it is not the debugging port of a browser (status {}); start the browser with --remote-debugging-port",
                response.status.as_u16()
            )),
        }
    }

    /// Says why nothing can be reached at the address. Blocks for a moment.
    pub(super) fn obstacle(&self) -> Option<String> {
        let host = match self.target.host() {
            Host::Domain(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        };
        let found = (host.as_str(), self.target.port()).to_socket_addrs();
        let is_open = |address| TcpStream::connect_timeout(&address, PROBING).is_ok();
        if found.is_ok_and(|mut addresses| addresses.any(is_open)) {
            return None;
        }
        Some(format!(
            "nothing answers at {}, which `tools.browser.debuggingUrl` names; start a browser there with --remote-debugging-port",
            self.shown()
        ))
    }
}

/// Path and query of a URL.
fn path(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |start| &rest[start..]).to_owned()
}

/// The address is a person's, so any is allowed.
fn guard() -> Guard {
    let mut settings = GuardSettings::default();
    let all =
        ["0.0.0.0/0", "::/0"].map(|range| range.parse::<AddressRange>().expect("a range of all addresses"));
    settings.allowed_ranges = all.to_vec();
    settings.connect_timeout = CONNECTING;
    Guard::new(settings)
}

/// The error of a browser that cannot be used.
pub(super) fn unusable(remote: &Remote, why: &str) -> ToolError {
    ToolError::unavailable(format!("the browser at {} cannot be used: {}", remote.shown(), escape_line(why)))
}

/// The error of an action that needs files of this machine.
pub(super) fn no_files() -> ToolError {
    invalid(
        "files cannot be given to a browser that does not use the proxy of this machine: it may run on another one",
    )
}
