//! Where a request goes to.

use crate::embedded;
use std::fmt;
use std::net::IpAddr;
use url::Url;

/// A host as a URL names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name, in lower case and in ASCII (punycode). [`Display`](fmt::Display) shows it decoded.
    Domain(String),
    /// An address. An IPv4-mapped one is the IPv4 address.
    Address(IpAddr),
}

impl Host {
    pub(crate) fn of(url: &Url) -> Option<Self> {
        match url.host()? {
            url::Host::Domain(domain) => Some(Self::Domain(domain.to_owned())),
            url::Host::Ipv4(address) => Some(Self::Address(IpAddr::V4(address))),
            url::Host::Ipv6(address) => Some(Self::Address(embedded::canonical(IpAddr::V6(address)))),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain(domain) if domain.contains("xn--") => {
                let (decoded, result) = idna::domain_to_unicode(domain);
                // Letters of other scripts can look like Latin ones, so the form on the wire is shown as well.
                match result {
                    Ok(()) => write!(f, "{decoded} ({domain})"),
                    Err(_) => f.write_str(domain),
                }
            }
            Self::Domain(domain) => f.write_str(domain),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// A URL that passed [`Guard::check_url`](crate::Guard::check_url). The addresses of a name are not checked yet: [`Guard::connect`](crate::Guard::connect) does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: Host,
    port: u16,
}

impl Target {
    pub(crate) fn new(url: Url, host: Host, port: u16) -> Self {
        Self { url, host, port }
    }

    /// The URL, normalised, without its fragment.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the port; the scheme's default if the URL names none.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// True for `https`.
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }
}
