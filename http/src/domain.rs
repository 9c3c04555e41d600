//! Rules about domains: `example.com`, `=example.com`, `*.example.com`, `example.com:8443`.

use crate::target::Host;
use std::fmt;
use std::str::FromStr;

/// A rule about the host and the port of a URL.
///
/// | rule | matches |
/// |---|---|
/// | `example.com` | the domain and all domains below it |
/// | `=example.com` | that domain alone |
/// | `*.example.com` | all domains below it, without the domain itself |
/// | `example.com:8443` | as above, on that port alone |
/// | `192.0.2.1`, `[2001:db8::1]:8443` | a URL that names this address |
///
/// A domain may be written with letters of any script (`bücher.example`); case and a trailing dot do not matter. `*` alone matches
/// every host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainRule {
    scope: Scope,
    host: Option<Host>,
    port: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Exact,
    Below,
    WithBelow,
}

/// An error of parsing a [`DomainRule`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a domain; write it as \"example.com\", \"=example.com\", \"*.example.com\" or \"example.com:8443\", without \
     scheme and path"
)]
pub struct InvalidDomain(String);

impl DomainRule {
    /// Returns true if the rule is about this host and port.
    pub fn matches(&self, host: &Host, port: u16) -> bool {
        if self.port.is_some_and(|own| own != port) {
            return false;
        }
        match (&self.host, host) {
            (None, _) => true,
            (Some(Host::Domain(own)), Host::Domain(domain)) => {
                let domain = domain.strip_suffix('.').unwrap_or(domain);
                let is_below = || domain.strip_suffix(own.as_str()).is_some_and(|below| below.ends_with('.'));
                match self.scope {
                    Scope::Exact => domain == own,
                    Scope::Below => is_below(),
                    Scope::WithBelow => domain == own || is_below(),
                }
            }
            (Some(Host::Address(own)), Host::Address(address)) => own == address,
            _ => false,
        }
    }
}

impl FromStr for DomainRule {
    type Err = InvalidDomain;

    fn from_str(text: &str) -> Result<Self, InvalidDomain> {
        let invalid = || InvalidDomain(text.to_owned());
        let (scope, rest) = match text.trim() {
            "*" => return Ok(Self { scope: Scope::WithBelow, host: None, port: None }),
            text if text.starts_with("*.") => (Scope::Below, &text[2..]),
            text if text.starts_with('=') => (Scope::Exact, &text[1..]),
            text => (Scope::WithBelow, text),
        };
        if rest.is_empty()
            || rest.contains(['/', '\\', '?', '#', '@', '*'])
            || rest.contains(char::is_whitespace)
        {
            return Err(invalid());
        }
        // A bare IPv6 address has colons, but no port.
        let authority = match rest.parse::<std::net::Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => rest.to_owned(),
        };
        // A scheme without a default port, so that no port is dropped as the usual one.
        let port = match authority.rsplit_once(':') {
            Some((before, port)) if !authority.ends_with(']') && !before.is_empty() => {
                Some(port.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(invalid)?)
            }
            _ => None,
        };
        let url = url::Url::parse(&format!("http://{authority}/")).map_err(|_| invalid())?;
        let host = match Host::of(&url).ok_or_else(invalid)? {
            Host::Domain(domain) => {
                let domain = domain.strip_suffix('.').unwrap_or(&domain).to_owned();
                if domain.split('.').any(str::is_empty) {
                    return Err(invalid());
                }
                Host::Domain(domain)
            }
            Host::Address(_) if scope == Scope::Below => return Err(invalid()),
            Host::Address(address) => Host::Address(address),
        };
        Ok(Self { scope, host: Some(host), port })
    }
}

impl fmt::Display for DomainRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.scope {
            Scope::Exact => "=",
            Scope::Below => "*.",
            Scope::WithBelow => "",
        })?;
        match &self.host {
            Some(host) => write!(f, "{host}")?,
            None => f.write_str("*")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(rule: &str, url: &str) -> bool {
        let url = url::Url::parse(url).unwrap();
        let rule: DomainRule = rule.parse().unwrap();
        rule.matches(&Host::of(&url).unwrap(), url.port_or_known_default().unwrap())
    }

    #[test]
    fn rules() {
        for (rule, url, expected) in [
            ("example.com", "https://example.com/", true),
            ("example.com", "https://EXAMPLE.com./", true),
            ("Example.COM.", "https://a.b.example.com/", true),
            ("example.com", "https://notexample.com/", false),
            ("example.com", "https://example.com.evil.test/", false),
            ("=example.com", "https://example.com/", true),
            ("=example.com", "https://www.example.com/", false),
            ("*.example.com", "https://example.com/", false),
            ("*.example.com", "https://www.example.com/", true),
            ("example.com:8443", "https://example.com:8443/", true),
            ("example.com:8443", "https://example.com/", false),
            ("example.com:443", "https://example.com/", true),
            ("example.com:80", "http://www.example.com/", true),
            ("bücher.example", "https://xn--bcher-kva.example/", true),
            ("xn--bcher-kva.example", "https://bücher.example/", true),
            ("*", "https://anything.test/", true),
            ("192.0.2.1", "http://0xc0000201/", true),
            ("192.0.2.1:81", "http://192.0.2.1/", false),
            ("[2001:db8::1]:8443", "https://[2001:db8:0::1]:8443/", true),
            ("2001:db8::1", "https://[2001:db8::1]/", true),
            ("com", "https://example.com/", true),
        ] {
            assert_eq!(matches(rule, url), expected, "{rule} {url}");
        }
        for rule in [
            "",
            "https://example.com",
            "example.com/path",
            "*",
            "a b",
            "*example.com",
            "example.com:",
            "example.com:0",
            "example.com:99999",
            "user@example.com",
            "a..b",
            "*.127.0.0.1",
            "=",
            "*.",
            ".",
            "exa*mple.com",
        ] {
            assert_eq!(rule.parse::<DomainRule>().is_ok(), rule == "*", "{rule:?}");
        }
    }

    #[test]
    fn a_rule_is_shown_as_it_is_written() {
        for rule in
            ["example.com", "=example.com", "*.example.com", "example.com:8443", "[2001:db8::1]:8443", "*"]
        {
            assert_eq!(rule.parse::<DomainRule>().unwrap().to_string(), rule);
        }
    }
}
