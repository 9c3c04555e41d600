//! Looking up names.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

/// Future returned by [`Resolver::resolve`].
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Resolves names to addresses. It checks nothing: the guard checks the result.
pub trait Resolver: Send + Sync {
    /// Returns all addresses of a host, with the port.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a>;
}

impl fmt::Debug for dyn Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

/// The system's resolver, with its hosts file and search domains.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}
