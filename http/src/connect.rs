//! Connections to checked addresses.

use crate::{ConnectError, Guard, Host, Target};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

/// Maximum number of addresses of one name that are tried.
const MAX_TRIED: usize = 8;

impl Guard {
    /// Resolves a target and checks every address. A name with one address that is refused is refused as a whole.
    ///
    /// # Errors
    ///
    /// The name has no address, or an address is refused.
    pub async fn resolve(&self, target: &Target) -> Result<Vec<SocketAddr>, ConnectError> {
        let host = target.host();
        let found = match host {
            Host::Address(address) => vec![SocketAddr::new(*address, target.port())],
            Host::Domain(name) => {
                let found = self.settings.resolver.resolve(name, target.port()).await;
                found.map_err(|_| ConnectError::NotFound { host: host.clone() })?
            }
        };
        if found.is_empty() {
            return Err(ConnectError::NotFound { host: host.clone() });
        }
        let mut checked = Vec::with_capacity(found.len());
        for mut address in found {
            let ip = self.check_address_of(host, address.ip())?;
            // A link-local IPv6 address keeps its zone.
            if ip != address.ip() {
                address = SocketAddr::new(ip, address.port());
            }
            address.set_port(target.port());
            checked.push(address);
        }
        Ok(checked)
    }

    /// Connects to a target: resolves it, checks every address, and connects to one of those, through the configured proxy
    /// if there is one. The name is not resolved again, so a later change of the answer has no effect.
    ///
    /// # Errors
    ///
    /// If an address is refused, or no connection is established in time.
    pub async fn connect(&self, target: &Target) -> Result<TcpStream, ConnectError> {
        let within = self.settings.connect_timeout;
        let timed_out = || ConnectError::TimedOut { host: target.host().clone(), within };
        let deadline = Instant::now() + within;
        let addresses = timeout_at(deadline, self.resolve(target)).await.map_err(|_| timed_out())??;
        if let Some(proxy) = self.settings.proxies.of(target) {
            let connected =
                timeout_at(deadline, proxy.connect(addresses[0])).await.map_err(|_| timed_out())?;
            return connected.map_err(|error| ConnectError::Proxy {
                host: target.host().clone(),
                reason: reason(&error),
            });
        }
        let mut last = None;
        let tried = addresses.len().min(MAX_TRIED);
        for (number, address) in addresses.into_iter().take(MAX_TRIED).enumerate() {
            // An address that does not answer leaves time for the others.
            let share = deadline.saturating_duration_since(Instant::now())
                / u32::try_from(tried - number).unwrap_or(1);
            match timeout(share.max(Duration::from_millis(1)), TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => last = Some(error),
                Err(_) => {}
            }
        }
        Err(match last {
            Some(error) => ConnectError::Failed { host: target.host().clone(), reason: reason(&error) },
            None => timed_out(),
        })
    }
}

/// The reason without the system's number and without an address.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "the connection was refused".to_owned(),
        io::ErrorKind::ConnectionReset => "the connection was reset".to_owned(),
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            "its network cannot be reached".to_owned()
        }
        io::ErrorKind::TimedOut => "it did not answer".to_owned(),
        io::ErrorKind::UnexpectedEof => "the connection ended too early".to_owned(),
        io::ErrorKind::Other => error.to_string(),
        kind => kind.to_string(),
    }
}
