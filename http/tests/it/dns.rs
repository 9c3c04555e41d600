//! Names, by the system's resolver and a DNS server of the test: nothing that a name leads to later, or beside a public address, is reached.
//!
//! Each test runs in a network of its own, where a server listens at a public address and others at private ones, all on one port.
//! The tests check the requests that those servers received.

#![cfg(target_os = "linux")]

use super::server::{Server, ok, redirect};
use std::future::Future;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use toolkit_http::{
    Client, ConnectError, FetchError, ForwardLimits, ForwardProxy, Guard, GuardSettings, Limits, Refused,
    Request,
};
use toolkit_loopback::alone::{PRIVATE_V4, PUBLIC_V4, PUBLIC_V6, is_alone};
use toolkit_loopback::dns::{Dns, Zone};

/// The port of all servers.
const PORT: u16 = 8080;

/// Runs a test in a network of its own.
fn alone<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F) {
    if is_alone(name) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(test());
        // A look-up may still wait for a server that does not answer.
        runtime.shutdown_background();
    }
}

/// The servers of the network, and its names.
struct Network {
    public: Vec<Server>,
    private: Vec<Server>,
    dns: Dns,
}

impl Network {
    async fn start(zone: Zone) -> Self {
        let dns = Dns::start(SocketAddr::from(([127, 0, 0, 1], 53)), zone).await.unwrap();
        let mut network = Self { public: Vec::new(), private: Vec::new(), dns };
        for address in [PUBLIC_V4, PUBLIC_V6] {
            network.public.push(Server::at(address.parse().unwrap(), PORT, public).await);
        }
        for address in ["127.0.0.1", "127.0.0.53", "::1", PRIVATE_V4] {
            network.private.push(Server::at(address.parse().unwrap(), PORT, |_| ok("secret")).await);
        }
        network
    }

    /// Asserts that no private server saw a request.
    fn assert_unseen(&self, what: &str) {
        for server in &self.private {
            assert_eq!(server.requests(), Vec::<String>::new(), "{what}");
        }
    }

    /// The number of requests that the public servers saw.
    fn seen(&self) -> usize {
        self.public.iter().map(|server| server.requests().len()).sum()
    }
}

/// The public server: it redirects where the path says.
fn public(request: &str) -> Vec<super::server::Step> {
    let path = request.split(' ').nth(1).unwrap_or_default();
    match path.strip_prefix("/to/") {
        Some(host) => redirect(&format!("http://{host}:{PORT}/")),
        None => ok("public"),
    }
}

fn client() -> Client {
    Client::new(Guard::default(), Limits::default())
}

fn url(host: &str) -> String {
    format!("http://{host}:{PORT}/")
}

fn is_refused(error: &FetchError) -> bool {
    matches!(error, FetchError::Refused(Refused::NotPublic { .. } | Refused::Metadata { .. }))
}

#[test]
#[ignore = "needs iproute2: cargo xtask test"]
fn a_name_that_rebinds_reaches_nothing_private() {
    alone("dns::a_name_that_rebinds_reaches_nothing_private", async || {
        let mut zone = Zone::new();
        for (number, private) in
            ["127.0.0.1", "127.0.0.53", PRIVATE_V4, "::1", "::ffff:127.0.0.1"].iter().enumerate()
        {
            zone = zone.with(&format!("v4-{number}.test"), &[&[PUBLIC_V4], &[private]]);
            zone = zone.with(&format!("v6-{number}.test"), &[&[PUBLIC_V6], &[private]]);
            // At the first address nothing listens, so that a client looks for another one.
            zone = zone.with(&format!("closed-{number}.test"), &[&["93.184.216.35"], &[private]]);
        }
        let network = Network::start(zone).await;
        for number in 0..5 {
            for version in ["v4", "v6"] {
                let host = format!("{version}-{number}.test");
                network.dns.take_asked();
                let got = client().send(Request::get(url(&host))).await.unwrap();
                assert_eq!(got.body, b"public", "{host}");
                let mut asked = network.dns.take_asked();
                asked.sort();
                assert_eq!(
                    asked,
                    [format!("{host} A"), format!("{host} AAAA")],
                    "one look-up for check and connection"
                );
                let error = client().send(Request::get(url(&host))).await.unwrap_err();
                assert!(is_refused(&error), "{host}: {error}");
                network.assert_unseen(&host);
            }
            let host = format!("closed-{number}.test");
            network.dns.take_asked();
            let error = client().send(Request::get(url(&host))).await.unwrap_err();
            assert!(matches!(error, FetchError::Connect(_)), "{host}: {error}");
            assert_eq!(network.dns.take_asked().len(), 2, "{host} is not looked up again");
            network.assert_unseen(&host);
        }
        assert_eq!(network.seen(), 10);
        // The same servers are reached where they are allowed.
        let mut own = GuardSettings::default();
        own.allowed_ranges =
            ["127.0.0.0/8", "::1/128", "10.0.0.0/8"].map(|range| range.parse().unwrap()).to_vec();
        for number in 0..5 {
            let request = Request::get(url(&format!("v4-{number}.test")));
            let got = Client::new(Guard::new(own.clone()), Limits::default()).send(request).await.unwrap();
            assert_eq!(got.body, b"secret");
        }
    });
}

#[test]
#[ignore = "needs iproute2: cargo xtask test"]
fn every_address_of_every_answer_is_checked() {
    alone("dns::every_address_of_every_answer_is_checked", async || {
        let refused: &[(&str, &[&str])] = &[
            ("loopback.test", &["127.0.0.1"]),
            ("whole-net.test", &["127.0.0.53"]),
            ("private.test", &[PRIVATE_V4]),
            ("here.test", &["0.0.0.0"]),
            ("metadata.test", &["169.254.169.254"]),
            ("loopback6.test", &["::1"]),
            ("unspecified6.test", &["::"]),
            ("local6.test", &["fd00::1"]),
            ("link6.test", &["fe80::1"]),
            ("mapped.test", &["::ffff:127.0.0.1"]),
            ("nat64.test", &["64:ff9b::7f00:1"]),
            ("6to4.test", &["2002:7f00:1::1"]),
            ("teredo.test", &["2001:0:4136:e378:8000:63bf:80ff:fffe"]),
            ("isatap.test", &["2606:4700::5efe:127.0.0.1"]),
            ("public-first.test", &[PUBLIC_V4, "127.0.0.1"]),
            ("private-first.test", &["127.0.0.1", PUBLIC_V4]),
            ("among-many.test", &[PUBLIC_V4, "93.184.216.35", "93.184.216.36", PRIVATE_V4, "93.184.216.37"]),
            ("other-family.test", &[PUBLIC_V4, "::1"]),
            ("other-family4.test", &[PUBLIC_V6, "127.0.0.1"]),
            ("alias.test", &["=loopback.test"]),
            ("chain.test", &["=chain2.test"]),
            ("chain2.test", &["=chain3.test"]),
            ("chain3.test", &["=private.test"]),
            ("alias-of-mixed.test", &["=other-family.test"]),
            ("127.0.0.1.names.test", &["127.0.0.1"]),
            // The resolver looks for `intranet` in a domain of the network.
            ("intranet.corp.test", &[PRIVATE_V4]),
        ];
        let mut zone = refused.iter().fold(Zone::new(), |zone, (name, list)| zone.with(name, &[list]));
        zone = zone
            .with("public.test", &[&[PUBLIC_V4, PUBLIC_V6]])
            .with("alias-of-public.test", &[&["=public.test"]])
            .with("empty.test", &[&[]])
            .with("loop.test", &[&["=loop.test"]])
            .with("silent.test", &[&["silence"]]);
        let network = Network::start(zone).await;
        for (host, _) in refused {
            let host = if *host == "intranet.corp.test" { "intranet" } else { host };
            let error = client().send(Request::get(url(host))).await.unwrap_err();
            assert!(is_refused(&error), "{host}: {error}");
            network.assert_unseen(host);
        }
        assert_eq!(network.seen(), 0, "nor is the public one of several addresses asked");
        for host in ["public.test", "PUBLIC.test.", "alias-of-public.test"] {
            let got = client().send(Request::get(url(host))).await.unwrap();
            assert_eq!(got.body, b"public", "{host}");
        }
        for host in ["unknown.test", "empty.test", "loop.test"] {
            let error = client().send(Request::get(url(host))).await.unwrap_err();
            assert!(matches!(error, FetchError::Connect(ConnectError::NotFound { .. })), "{host}: {error}");
        }
        let mut own = GuardSettings::default();
        own.connect_timeout = Duration::from_millis(200);
        let (begin, client) = (Instant::now(), Client::new(Guard::new(own), Limits::default()));
        let error = client.send(Request::get(url("silent.test"))).await.unwrap_err();
        assert!(matches!(error, FetchError::Connect(ConnectError::TimedOut { .. })), "{error}");
        assert!(begin.elapsed() < Duration::from_millis(900), "{:?}", begin.elapsed());
    });
}

#[test]
#[ignore = "needs iproute2: cargo xtask test"]
fn redirects_to_names_are_resolved_and_checked() {
    alone("dns::redirects_to_names_are_resolved_and_checked", async || {
        let zone = Zone::new()
            .with("start.test", &[&[PUBLIC_V4]])
            .with("private.test", &[&[PRIVATE_V4]])
            .with("rebinds.test", &[&[PUBLIC_V6], &["127.0.0.1"]])
            .with("alias.test", &[&["=private.test"]]);
        let network = Network::start(zone).await;
        for (path, expected) in [
            ("to/rebinds.test", true),
            ("to/rebinds.test", false),
            ("to/private.test", false),
            ("to/alias.test", false),
        ] {
            match client().send(Request::get(format!("{}{path}", url("start.test")))).await {
                Ok(got) => assert!(expected && got.body == b"public", "{path}: {got:?}"),
                Err(error) => {
                    assert!(
                        !expected && matches!(error, FetchError::RedirectRefused { .. }),
                        "{path}: {error}"
                    );
                }
            }
            network.assert_unseen(path);
        }
        // A list of allowed domains allows no address.
        let mut own = GuardSettings::default();
        own.allowed_domains = Some(vec!["private.test".parse().unwrap()]);
        let client = Client::new(Guard::new(own), Limits::default());
        let error = client.send(Request::get(url("private.test"))).await.unwrap_err();
        assert!(is_refused(&error), "{error}");
        network.assert_unseen("an allowed domain");
    });
}

#[test]
#[ignore = "needs iproute2: cargo xtask test"]
fn a_proxy_resolves_and_checks_for_each_connection() {
    alone("dns::a_proxy_resolves_and_checks_for_each_connection", async || {
        let zone = Zone::new()
            .with("get.test", &[&[PUBLIC_V4], &["127.0.0.1"]])
            .with("connect.test", &[&[PUBLIC_V4], &["127.0.0.1"]])
            .with("mixed.test", &[&[PUBLIC_V4, PRIVATE_V4]]);
        let network = Network::start(zone).await;
        let proxy =
            ForwardProxy::start(Guard::default(), ForwardLimits::default(), |_| String::new()).await.unwrap();
        for (line, status) in [
            (format!("GET {}", url("get.test")), 200),
            (format!("GET {}", url("get.test")), 403),
            (format!("CONNECT connect.test:{PORT}"), 200),
            (format!("CONNECT connect.test:{PORT}"), 403),
            (format!("GET {}", url("mixed.test")), 403),
            (format!("CONNECT mixed.test:{PORT}"), 403),
        ] {
            let answer = super::forward::asked_of(&proxy, &line).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {answer}");
            network.assert_unseen(&line);
        }
        assert_eq!(proxy.take_refusals().len(), 4);
    });
}
