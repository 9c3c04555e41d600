//! Origins of pages, and patterns of them.

use url::{Host, Url};

/// An origin, or all origins that differ in their ports.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pattern {
    scheme: String,
    host: Host<String>,
    /// `None` means any port.
    port: Option<u16>,
}

impl Pattern {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (without_port, is_any) = match text.strip_suffix(":*") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let url = Url::parse(without_port).ok()?;
        let port = if is_any { None } else { Some(url.port_or_known_default()?) };
        Some(Self { scheme: url.scheme().to_owned(), host: url.host()?.to_owned(), port })
    }

    pub(crate) fn matches(&self, origin: &Url) -> bool {
        origin.scheme() == self.scheme
            && origin.host().is_some_and(|host| host.to_owned() == self.host)
            && self.port.is_none_or(|port| origin.port_or_known_default() == Some(port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_match_by_scheme_host_and_port() {
        for (pattern, origin, expected) in [
            ("https://example.org", "https://example.org", true),
            ("https://example.org:443", "https://example.org", true),
            ("https://example.org", "https://EXAMPLE.org:443", true),
            ("https://example.org", "http://example.org", false),
            ("https://example.org", "https://example.org:8443", false),
            ("https://example.org", "https://example.org.evil.test", false),
            ("https://example.org", "https://sub.example.org", false),
            ("http://localhost:*", "http://localhost:3000", true),
            ("http://localhost:*", "http://localhost", true),
            ("http://localhost:*", "http://localhost.evil.test:3000", false),
            ("http://[::1]:*", "http://[::1]:3000", true),
            ("http://127.0.0.1:*", "http://127.0.0.1:3000", true),
            ("https://example.org", "null", false),
            ("null", "null", false),
            ("*", "https://example.org", false),
        ] {
            let matches = Url::parse(origin).ok().is_some_and(|origin| {
                Pattern::parse(pattern).is_some_and(|pattern| pattern.matches(&origin))
            });
            assert_eq!(matches, expected, "{pattern} {origin}");
        }
    }
}
