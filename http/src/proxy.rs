//! Proxies: which connections go through one, and how.

use crate::{AddressRange, DomainRule, Host, Target};
use data_encoding::BASE64;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::str::FromStr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

/// Maximum number of bytes of a proxy's answer.
const MAX_ANSWER_BYTES: usize = 16 << 10;

/// An HTTP proxy: `http://user:password@proxy.example:3128`. Its `CONNECT` requests name an address, never a host name.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    host: String,
    port: u16,
    authorization: Option<String>,
}

/// An error of parsing a [`Proxy`]. It does not repeat the URL, which may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the proxy's address cannot be used: {0}; write it as \"http://proxy.example:3128\"")]
pub struct InvalidProxy(&'static str);

impl FromStr for Proxy {
    type Err = InvalidProxy;

    fn from_str(text: &str) -> Result<Self, InvalidProxy> {
        let text = text.trim();
        // Environment variables often omit the scheme.
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&whole).map_err(|_| InvalidProxy("it is not a URL"))?;
        if url.scheme() != "http" {
            return Err(InvalidProxy("its scheme is not http"));
        }
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(InvalidProxy("it has no host"))?;
        let decode =
            |text: &str| percent_decoded(text).ok_or(InvalidProxy("its user name or password is not UTF-8"));
        let authorization = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => {
                let pair = format!("{}:{}", decode(user)?, decode(password.unwrap_or_default())?);
                Some(format!("Basic {}", BASE64.encode(pair.as_bytes())))
            }
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self { host, port: url.port_or_known_default().unwrap_or(80), authorization })
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({}:{})", self.host, self.port)
    }
}

impl Proxy {
    /// Connects to the proxy, and through it to an address.
    pub(crate) async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        let mut request = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n");
        if let Some(authorization) = &self.authorization {
            request.extend(["Proxy-Authorization: ", authorization, "\r\n"]);
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).await?;
        // Byte by byte: the bytes after the answer belong to the server.
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            if answer.len() >= MAX_ANSWER_BYTES {
                return Err(io::Error::other("its answer is too long"));
            }
            answer.push(stream.read_u8().await?);
        }
        let status = answer.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        match status {
            [b'2', _, _] => Ok(stream),
            b"407" => Err(io::Error::other("it asks for a user name and password (status 407)")),
            [a, b, c] if status.iter().all(u8::is_ascii_digit) => {
                let status: String = [*a, *b, *c].map(char::from).iter().collect();
                Err(io::Error::other(format!("it refused the connection (status {status})")))
            }
            _ => Err(io::Error::other("it does not speak HTTP")),
        }
    }
}

/// Proxies by scheme, with hosts that are connected to directly. Empty by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proxies {
    /// Proxy for `http` URLs.
    pub http: Option<Proxy>,
    /// Proxy for `https` URLs.
    pub https: Option<Proxy>,
    bypass: Vec<Bypass>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Bypass {
    Domain(DomainRule),
    Range(AddressRange),
}

impl Proxies {
    /// Uses one proxy for all URLs.
    pub fn all(proxy: Proxy) -> Self {
        Self { http: Some(proxy.clone()), https: Some(proxy), bypass: Vec::new() }
    }

    /// The proxies of the environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, also in upper case except for
    /// `http_proxy`, which a web server could set from a header. `variable` reads a variable.
    ///
    /// # Errors
    ///
    /// If a variable contains an address that is not an HTTP proxy.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, InvalidProxy> {
        let first = |names: &[&str]| {
            names.iter().filter_map(|name| variable(name)).find(|value| !value.trim().is_empty())
        };
        let proxy = |names: &[&str]| first(names).map(|value| value.parse()).transpose();
        let no_proxy = first(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
        Ok(Self {
            http: proxy(&["http_proxy", "all_proxy", "ALL_PROXY"])?,
            https: proxy(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?,
            bypass: no_proxy.split(',').filter_map(bypass).collect(),
        })
    }

    /// Returns the proxy for a connection.
    pub(crate) fn of(&self, target: &Target) -> Option<&Proxy> {
        let proxy = if target.is_secure() { self.https.as_ref() } else { self.http.as_ref() };
        let is_direct = |bypass: &Bypass| match (bypass, target.host()) {
            (Bypass::Domain(rule), host) => rule.matches(host, target.port()),
            (Bypass::Range(range), Host::Address(address)) => range.contains(*address),
            (Bypass::Range(_), Host::Domain(_)) => false,
        };
        proxy.filter(|_| !self.bypass.iter().any(is_direct))
    }
}

/// An entry of `no_proxy`. One that cannot be read is ignored, as other programs do: then the proxy is used.
fn bypass(entry: &str) -> Option<Bypass> {
    let entry = entry.trim();
    if entry.contains('/') {
        return entry.parse().ok().map(Bypass::Range);
    }
    entry.strip_prefix('.').unwrap_or(entry).parse().ok().map(Bypass::Domain)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let digit = |at: usize| tail.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high << 4 | low).ok()?);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Guard;

    #[test]
    fn proxies_of_the_environment() {
        let variables = [
            ("https_proxy", "http://us%40er:p%3Aw@proxy.test:3128"),
            ("HTTP_PROXY", "http://ignored.test"),
            ("ALL_PROXY", "fallback.test:8080"),
            ("NO_PROXY", ".internal.test, 93.184.216.0/24,plain.test:8443,,***"),
        ];
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let proxies = Proxies::from_environment(variable).unwrap();
        let of = |url: &str| {
            proxies.of(&Guard::default().check_url(url).unwrap()).map(|proxy| format!("{proxy:?}"))
        };
        for (url, expected) in [
            ("https://example.test/", Some("Proxy(proxy.test:3128)")),
            ("http://example.test/", Some("Proxy(fallback.test:8080)")),
            ("https://a.internal.test/", None),
            ("https://93.184.216.34/", None),
            ("https://plain.test/", Some("Proxy(proxy.test:3128)")),
            ("https://plain.test:8443/", None),
        ] {
            assert_eq!(of(url).as_deref(), expected, "{url}");
        }
        let authorization = proxies.https.unwrap().authorization.unwrap();
        assert_eq!(authorization, format!("Basic {}", BASE64.encode(b"us@er:p:w")));
    }

    #[test]
    fn an_address_of_no_proxy_is_not_repeated() {
        for text in [
            "socks5://user:secret@proxy.test",
            "https://user:secret@proxy.test",
            "http://",
            "http://user:secret@[::",
        ] {
            let error = text.parse::<Proxy>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
