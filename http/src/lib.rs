//! A guarded HTTP client: the boundary between a model, which names addresses, and the networks that this machine can reach.
//!
//! Every tool that fetches an address that a model or a page names does it through this crate. Nothing is fetched that
//! the [`Guard`] has not checked:
//!
//! * The scheme is `http` or `https`, the URL has no user name or password, and its port is not blocked by browsers.
//! * The host is not blocked, and is among the allowed ones where there are such ([`DomainRule`]).
//! * The host's address, or *every* address that its name resolves to, is public by the registries of IANA ([`SPECIAL_RANGES`]), or
//!   in a range that the settings allow. An IPv4 address within an IPv6 address (mapped, NAT64, 6to4, Teredo, ISATAP) is checked as well.
//! * Addresses of cloud metadata services, which return a machine's credentials, are refused in any case.
//! * The connection goes to the checked address. The name is not resolved a second time.
//!
//! [`Client`] adds: each redirect is checked as the first URL was, at most five, without the credentials of another origin. Time is
//! limited for connecting, for the first byte, between bytes and in total; bytes are limited for headers and, after decompression, for
//! the body. Cookies are neither stored nor sent.
//!
//! ```no_run
//! use toolkit_http::{Client, Guard, GuardSettings, Limits, Request};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Guard::new(GuardSettings::default()), Limits::default());
//! let response = client.send(Request::get("https://example.com/")).await?;
//! println!("{} {}", response.status, String::from_utf8_lossy(&response.body));
//!
//! let error = client.send(Request::get("http://0x7f.1/")).await.unwrap_err();
//! assert_eq!(error.to_string(), "`127.0.0.1` is refused: it is not a public address (loopback, 127.0.0.0/8, RFC 1122)");
//! # Ok(()) }
//! ```
//!
//! # The parts for other programs
//!
//! The decisions are functions without input and output: [`Guard::check_url`], [`Guard::check_authority`] and
//! [`Guard::check_address`]. [`Guard::connect`] resolves, checks and connects.
//!
//! The feature `forward-proxy` has a proxy for a program that makes its own connections, such as a browser: `ForwardProxy`.
//!
//! # Not protected
//!
//! * A public server that forwards requests into a private network.
//! * With a proxy: the proxy is asked for a connection to the checked address, so it resolves no name; the connection that it makes is
//!   its own decision.
//! * A NAT64 prefix of a network's own (RFC 6052, section 2.2), other than `64:ff9b::/96`: it looks like any global address.
//!
//! # Plain requests
//!
//! The feature `platform` has a client for an address that the user configured, for plugins that communicate with a platform.

#[cfg(feature = "guard")]
mod body;
#[cfg(feature = "guard")]
mod client;
#[cfg(feature = "guard")]
mod connect;
#[cfg(feature = "guard")]
mod domain;
#[cfg(feature = "guard")]
mod embedded;
#[cfg(feature = "guard")]
mod error;
#[cfg(feature = "forward-proxy")]
mod forward;
#[cfg(feature = "guard")]
mod guard;
#[cfg(feature = "guard")]
mod limits;
#[cfg(feature = "platform")]
mod platform;
#[cfg(feature = "guard")]
mod proxy;
#[cfg(feature = "guard")]
mod range;
#[cfg(feature = "guard")]
mod refused;
#[cfg(feature = "guard")]
mod resolver;
mod retry_after;
mod secrets;
#[cfg(feature = "guard")]
mod special;
#[cfg(feature = "guard")]
mod target;
#[cfg(feature = "guard")]
mod tls;

#[cfg(feature = "guard")]
pub use client::{Client, Request, Response};
#[cfg(feature = "guard")]
pub use domain::{DomainRule, InvalidDomain};
#[cfg(feature = "guard")]
pub use error::{ConnectError, FetchError, Phase};
#[cfg(feature = "forward-proxy")]
pub use forward::{Explain, ForwardLimits, ForwardProxy, Refusal};
#[cfg(feature = "guard")]
pub use guard::{Guard, GuardSettings};
pub use http;
#[cfg(feature = "guard")]
pub use limits::Limits;
#[cfg(feature = "platform")]
pub use platform::{
    Platform, PlatformAnswer, PlatformFailure, client, install_provider, read, reason, streaming_client,
};
#[cfg(feature = "guard")]
pub use proxy::{InvalidProxy, Proxies, Proxy};
#[cfg(feature = "guard")]
pub use range::{AddressRange, InvalidRange};
#[cfg(feature = "guard")]
pub use refused::Refused;
#[cfg(feature = "guard")]
pub use resolver::{Resolver, Resolving, SystemResolver};
pub use retry_after::{LONGEST_WAIT, retry_after};
pub use secrets::{REDACTED, without_secret};
#[cfg(feature = "guard")]
pub use special::{SPECIAL_RANGES, SpecialRange};
#[cfg(feature = "guard")]
pub use target::{Host, Target};
#[cfg(feature = "guard")]
pub use url::Url;
