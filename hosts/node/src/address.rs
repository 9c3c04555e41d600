//! The address of a gateway.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::{Host, Url};

/// The path of the sockets of a gateway.
const PATH: &str = "/ws";
/// The port of a gateway on this machine.
const GATEWAY_PORT: u16 = 4170;

/// The address of a gateway: encrypted, or on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    host: Host<String>,
    port: u16,
    is_encrypted: bool,
}

/// The reason why a text is no address of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The text cannot be read.
    #[error("`{0}` is no address of a gateway: write https://HOST, wss://HOST, or HOST:PORT of this machine")]
    Unreadable(String),
    /// Messages would cross a network in plain text.
    #[error(
        "`{0}` is on another machine, and everything would cross the network in plain text: use https:// or wss://, with a proxy that does TLS \
         before the gateway, or a tunnel to this machine"
    )]
    Plain(String),
}

impl Address {
    /// The host to connect to.
    pub(crate) fn host(&self) -> &Host<String> {
        &self.host
    }

    /// The port to connect to.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns true if the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// The server name: the value of `Host`, which the node signs.
    pub(crate) fn server(&self) -> String {
        let default = if self.is_encrypted { 443 } else { 80 };
        if self.port == default { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }

    /// The address of the socket.
    pub(crate) fn socket(&self) -> String {
        let scheme = if self.is_encrypted { "wss" } else { "ws" };
        format!("{scheme}://{}{PATH}", self.server())
    }
}

/// Returns true for a host that is this machine, whatever a name service says.
fn is_loopback(host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => IpAddr::from(*address).is_loopback(),
        Host::Ipv6(address) => IpAddr::from(*address).is_loopback(),
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let unreadable = || AddressError::Unreadable(text.escape_debug().to_string());
        let has_scheme = text.contains("://");
        // `url` would read `host:port` as a scheme.
        let whole = if has_scheme { text.to_owned() } else { format!("ws://{text}") };
        let url = Url::parse(&whole).map_err(|_| unreadable())?;
        let is_encrypted = match url.scheme() {
            "https" | "wss" => true,
            "http" | "ws" => false,
            _ => return Err(unreadable()),
        };
        let is_bare = url.username().is_empty() && url.password().is_none();
        let is_root = ["", "/", PATH].contains(&url.path());
        if !is_bare || !is_root || url.query().is_some() || url.fragment().is_some() {
            return Err(unreadable());
        }
        let host = url.host().ok_or_else(unreadable)?.to_owned();
        if !is_encrypted && !is_loopback(&host) {
            return Err(AddressError::Plain(text.escape_debug().to_string()));
        }
        let of_scheme = if has_scheme { url.port_or_known_default() } else { url.port() };
        Ok(Self { host, port: of_scheme.unwrap_or(GATEWAY_PORT), is_encrypted })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.server())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_encrypted_or_on_this_machine() {
        for (text, socket) in [
            ("127.0.0.1:4170", "ws://127.0.0.1:4170/ws"),
            ("localhost", "ws://localhost:4170/ws"),
            ("http://127.0.0.1:4170/", "ws://127.0.0.1:4170/ws"),
            ("ws://[::1]:9/ws", "ws://[::1]:9/ws"),
            ("https://gateway.example", "wss://gateway.example/ws"),
            ("wss://gateway.example:8443", "wss://gateway.example:8443/ws"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.socket(), socket, "{text}");
            assert_eq!(address.to_string().parse::<Address>().unwrap(), address, "{text}");
        }
        for text in ["gateway.example:4170", "http://192.168.0.2:4170", "ws://localhost.example"] {
            assert!(matches!(text.parse::<Address>(), Err(AddressError::Plain(_))), "{text}");
        }
        for text in
            ["", "ftp://127.0.0.1", "https://me@gateway.example", "https://gateway.example/x", "https://h/?a"]
        {
            assert!(matches!(text.parse::<Address>(), Err(AddressError::Unreadable(_))), "{text}");
        }
    }
}
