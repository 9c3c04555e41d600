//! Requests that are meant for this server, from programs and from pages that may send them.

use crate::body::AnswerBody;
use crate::layer::{Answering, Inner, answered, layer};
use crate::origin::Pattern;
use crate::problem::Problem;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Request, StatusCode, Uri};
use std::sync::Arc;
use url::Url;

/// Refuses requests that are addressed to another host, and those of pages of other origins.
///
/// A page whose name resolves to this machine (DNS rebinding) sends its own name as the host. A page of another origin can send a request
/// without reading the answer, so that the request itself must be refused; one without an `Origin` is told by `Sec-Fetch-Site`. Requests with
/// neither come from programs. A WebSocket is checked in the same way, since its first request is one as others.
#[derive(Debug, Clone)]
pub struct Addressed<S> {
    inner: S,
    allowed: Arc<Allowed>,
}

#[derive(Debug, Clone, Default)]
struct Allowed {
    hosts: Vec<(String, Option<u16>)>,
    origins: Vec<Pattern>,
}

impl<S> Addressed<S> {
    /// Lets requests through that are addressed to this machine by `localhost` or a loopback address, and those of pages of this machine.
    pub fn local(inner: S) -> Self {
        let hosts = ["localhost", "127.0.0.1", "[::1]"];
        let origins = hosts.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
        Self::none(inner).hosts(hosts).origins(origins)
    }

    /// Lets no request through until [hosts](Self::hosts) are added.
    pub fn none(inner: S) -> Self {
        Self { inner, allowed: Arc::default() }
    }

    /// Lets requests be for these hosts too: `name`, with any port, or `name:port`. A text that is no host is ignored.
    #[must_use]
    pub fn hosts(mut self, hosts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let parsed = hosts.into_iter().filter_map(|host| host_and_port(host.as_ref()));
        Arc::make_mut(&mut self.allowed).hosts.extend(parsed);
        self
    }

    /// Lets pages of these origins send requests too: `https://name:port`, or `*` for the port. An invalid origin is ignored.
    #[must_use]
    pub fn origins(mut self, origins: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let parsed = origins.into_iter().filter_map(|origin| Pattern::parse(origin.as_ref()));
        Arc::make_mut(&mut self.allowed).origins.extend(parsed);
        self
    }

    fn answer<B, A: AnswerBody>(&mut self, request: Request<B>) -> Answering<A>
    where
        S: Inner<B, A>,
    {
        match self.allowed.refusal(request.headers(), request.uri()) {
            Some(problem) => answered(problem.into_response()),
            None => Box::pin(self.inner.call(request)),
        }
    }
}

impl Allowed {
    fn refusal(&self, headers: &HeaderMap, uri: &Uri) -> Option<Problem> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Some(Problem::new(StatusCode::BAD_REQUEST, "a request has one `Host` header"));
        };
        let host = host.to_str().ok().and_then(host_and_port);
        // A request line may name a host as well, and then both count.
        let line = uri.authority().map(|authority| host_and_port(authority.as_str()));
        let is_allowed = |host: &Option<(String, Option<u16>)>| {
            host.as_ref().is_some_and(|(name, port)| {
                self.hosts.iter().any(|(other, only)| other == name && (only.is_none() || only == port))
            })
        };
        if !is_allowed(&host) || line.is_some_and(|line| !is_allowed(&line)) {
            let text = "this server does not answer for the host of this request; use the address that it printed, or allow the host";
            return Some(Problem::new(StatusCode::MISDIRECTED_REQUEST, text));
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let is_page_allowed = origins.all(|origin| {
            let origin = origin.to_str().ok().and_then(|origin| Url::parse(origin).ok());
            origin.is_some_and(|origin| self.origins.iter().any(|pattern| pattern.matches(&origin)))
        });
        // Pages send requests without an `Origin`, too: for pictures, and when a person follows a link.
        let is_of_page =
            headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
        let is_page_allowed = is_page_allowed && (!is_of_page || headers.contains_key(ORIGIN));
        (!is_page_allowed).then(|| {
            Problem::new(StatusCode::FORBIDDEN, "pages of this origin may not call; allow the origin first")
        })
    }
}

/// Splits a host and its port. Names are compared in lower case and without a dot at the end.
fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    // An IPv6 address that a person wrote without brackets.
    let bracketed =
        (bare.is_none() && text.parse::<std::net::Ipv6Addr>().is_ok()).then(|| format!("[{text}]"));
    let authority: Authority = bracketed.as_deref().unwrap_or(text).parse().ok()?;
    // A name of a user belongs to no `Host`.
    if authority.as_str().contains('@') {
        return None;
    }
    let name = authority.host().to_ascii_lowercase();
    let name = name.strip_suffix('.').unwrap_or(&name);
    let port = match authority.as_str().get(authority.host().len()..)? {
        "" => None,
        rest => Some(rest.strip_prefix(':')?.parse().ok()?),
    };
    (!name.is_empty()).then(|| (name.to_owned(), port))
}

layer!(Addressed);

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn refused(allowed: &Allowed, host: &[&str], origin: Option<&str>, uri: &str) -> Option<u16> {
        let mut headers = HeaderMap::new();
        for host in host {
            headers.append(HOST, HeaderValue::from_str(host).unwrap());
        }
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        allowed.refusal(&headers, &uri.parse().unwrap()).map(|problem| problem.status().as_u16())
    }

    #[test]
    fn a_request_is_for_an_allowed_host_and_from_an_allowed_page() {
        let layer = Addressed::local(()).hosts(["Box.example:8443", "fd00::7", "all.example."]);
        let allowed = layer.origins(["https://app.example"]).allowed;
        for (host, origin, expected) in [
            (&["localhost:3000"][..], None, None),
            (&["LOCALHOST"], None, None),
            (&["localhost."], None, None),
            (&["127.0.0.1:1"], None, None),
            (&["[::1]:9"], None, None),
            (&["[fd00::7]"], None, None),
            (&["box.example:8443"], None, None),
            (&["all.example:1"], None, None),
            (&["box.example"], None, Some(421)),
            (&["box.example:1"], None, Some(421)),
            (&["localhost.evil.test"], None, Some(421)),
            (&["evil.test"], None, Some(421)),
            (&["user@localhost"], None, Some(421)),
            (&["localhost:x"], None, Some(421)),
            (&["localhost:99999"], None, Some(421)),
            (&[""], None, Some(421)),
            (&["localhost", "localhost"], None, Some(400)),
            (&[], None, Some(400)),
            (&["localhost"], Some("http://localhost:5173"), None),
            (&["localhost"], Some("https://app.example"), None),
            (&["localhost"], Some("https://app.example:1"), Some(403)),
            (&["localhost"], Some("https://evil.test"), Some(403)),
            (&["localhost"], Some("null"), Some(403)),
            (&["localhost"], Some("file://"), Some(403)),
        ] {
            assert_eq!(refused(&allowed, host, origin, "/"), expected, "{host:?} {origin:?}");
        }
        assert_eq!(refused(&allowed, &["localhost"], None, "http://evil.test/"), Some(421));
        assert_eq!(refused(&allowed, &["localhost"], None, "http://localhost/"), None);
        let of_page = |site: &'static str, origin: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("localhost"));
            headers.insert("sec-fetch-site", HeaderValue::from_static(site));
            if let Some(origin) = origin {
                headers.insert(ORIGIN, HeaderValue::from_static(origin));
            }
            allowed.refusal(&headers, &Uri::from_static("/")).map(|problem| problem.status().as_u16())
        };
        assert_eq!([of_page("none", None), of_page("same-origin", None)], [None, None]);
        assert_eq!([of_page("cross-site", None), of_page("same-site", None)], [Some(403), Some(403)]);
        assert_eq!(of_page("cross-site", Some("https://app.example")), None);
        assert_eq!(refused(&Addressed::none(()).allowed, &["localhost"], None, "/"), Some(421));
    }
}
