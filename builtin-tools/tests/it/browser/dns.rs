//! Names that rebind, by the system's resolver and a DNS server of the test, in a network of its own with a public address.

use super::guard::Private;
use super::site::html;
use super::{allow, error, page, text};
use crate::commands::house::House;
use serde_json::json;
use std::net::SocketAddr;
use toolkit::ToolErrorKind;
use toolkit_loopback::alone::{PRIVATE_V4, PUBLIC_V4, is_alone};
use toolkit_loopback::dns::{Dns, Zone};
use toolkit_loopback::{Answer, Loopback};

/// The port of all servers.
const PORT: u16 = 8080;

/// The ways on which a page reaches a server. Each has a name of its own, which leads to the public server first and to a private one later.
const WAYS: [&str; 12] = [
    "navigation",
    "redirect",
    "frame",
    "image",
    "fetch",
    "worker",
    "socket",
    "beacon",
    "popup",
    "download",
    "script",
    "events",
];

const PAGE: &str = "<!doctype html><title>Ways</title><a id=navigation href=http://navigation.test:8080/second>N</a>
<button id=popup onclick=\"window.open('http://popup.test:8080/second')\">P</button><a id=download download href=http://download.test:8080/second>D</a>
<script>
const at = (way, path) => `//${way}.test:8080${path}`;
const quiet = { mode: 'no-cors' };
const first = (ways) => Promise.all(ways.map((way) => fetch(at(way, '/first'), quiet)));
const ended = (object, ...events) => new Promise((end) => { for (const event of events) object['on' + event] = end; setTimeout(end, 3000); });
const added = (name, url, ...events) => { const element = document.createElement(name); const promise = ended(element, ...events); element.src = url; document.body.append(element); return promise; };
const second = () => Promise.all([
  added('iframe', at('frame', '/second'), 'load'),
  added('img', at('image', '/second'), 'error', 'load'),
  added('script', at('script', '/second'), 'error', 'load'),
  fetch(at('fetch', '/second'), quiet).catch(() => {}),
  ended(new Worker(URL.createObjectURL(new Blob([`fetch('http:${at('worker', '/second')}', { mode: 'no-cors' }).catch(() => {}).then(() => postMessage(1))`], { type: 'text/javascript' }))), 'message'),
  ended(new WebSocket('ws:' + at('socket', '/second')), 'close', 'error'),
  ended(new EventSource(at('events', '/second')), 'error'),
  navigator.sendBeacon(at('beacon', '/second'), 'x'),
]).then(() => 'tried');
</script>";

/// Runs a test in a network of its own.
fn alone<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F) {
    if is_alone(name) {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test());
    }
}

async fn private() -> Vec<Private> {
    let mut servers = Vec::new();
    for address in [format!("127.0.0.1:{PORT}"), format!("[::1]:{PORT}"), format!("{PRIVATE_V4}:{PORT}")] {
        servers.push(Private::at(&address).await);
    }
    servers
}

#[test]
#[ignore = "needs Chromium and iproute2: cargo xtask test"]
fn a_page_reaches_nothing_by_a_name_that_rebinds() {
    alone("browser::dns::a_page_reaches_nothing_by_a_name_that_rebinds", async || {
        let later: [&[&str]; 4] = [&["127.0.0.1"], &["::1"], &[PUBLIC_V4, PRIVATE_V4], &["=private.test"]];
        let mut zone = Zone::new().with("page.test", &[&[PUBLIC_V4]]).with("private.test", &[&[PRIVATE_V4]]);
        for (number, way) in WAYS.iter().enumerate() {
            zone = zone.with(&format!("{way}.test"), &[&[PUBLIC_V4], later[number % 4]]);
        }
        let dns = Dns::start(SocketAddr::from(([127, 0, 0, 1], 53)), zone).await.unwrap();
        let public: SocketAddr = format!("{PUBLIC_V4}:{PORT}").parse().unwrap();
        let server = Loopback::start_at(public, |request| match request.path.as_str() {
            "/" => html(PAGE),
            "/away" => Answer::bytes(302, "").with_header("location", "http://redirect.test:8080/second"),
            _ => Answer::bytes(200, "reached"),
        })
        .await;
        let private = private().await;
        // Nothing is configured: the first address is public, so a person is asked, and agrees.
        let house = House::with(json!({}), allow).await;
        text(&house, "navigate", json!({ "url": "http://page.test:8080/" })).await;
        let ways = serde_json::to_string(&WAYS).unwrap();
        text(&house, "evaluate", json!({ "script": format!("await first({ways})") })).await;
        let reached = |path: &str| {
            let requests = server.requests();
            let hosts = requests
                .iter()
                .filter(|request| request.path == path)
                .filter_map(|request| request.header("host"));
            hosts.map(|host| host.trim_end_matches(".test:8080").to_owned()).collect::<Vec<_>>()
        };
        let first = reached("/first");
        assert!(WAYS.iter().all(|way| first.iter().any(|host| host == way)), "{first:?}");
        dns.take_asked();

        let tried =
            text(&house, "evaluate", json!({ "script": "await second()", "timeout_ms": 20_000 })).await;
        assert!(page(&tried).contains("tried"), "{tried}");
        let popup = text(&house, "click", json!({ "selector": "#popup" })).await;
        assert!(page(&popup).contains("Refused: http://popup.test:8080/second: "), "{popup}");
        text(&house, "click", json!({ "tab": "t1", "selector": "#download" })).await;
        let redirected = error(&house, "navigate", json!({ "url": "http://page.test:8080/away" })).await;
        assert!(redirected.message().contains("leads to http://redirect.test:8080/second: "), "{redirected}");
        text(&house, "navigate", json!({ "url": "http://page.test:8080/" })).await;
        let clicked = text(&house, "click", json!({ "selector": "#navigation" })).await;
        assert!(page(&clicked).contains("Refused: http://navigation.test:8080/second: "), "{clicked}");
        let named = error(&house, "navigate", json!({ "url": "http://private.test:8080/" })).await;
        assert_eq!(named.kind(), ToolErrorKind::Denied, "{named}");

        let asked = dns.take_asked();
        for way in WAYS {
            assert!(asked.contains(&format!("{way}.test A")), "{way} was tried: {asked:?}");
        }
        assert_eq!(reached("/second"), Vec::<String>::new());
        for server in private {
            assert_eq!(server.seen(), Vec::<String>::new());
        }
    });
}

#[test]
#[ignore = "needs iproute2: cargo xtask test"]
fn web_fetch_reaches_nothing_by_a_name_that_rebinds() {
    alone("browser::dns::web_fetch_reaches_nothing_by_a_name_that_rebinds", async || {
        let zone = Zone::new()
            .with("rebinds.test", &[&[PUBLIC_V4], &["127.0.0.1"]])
            .with("mixed.test", &[&[PUBLIC_V4, PRIVATE_V4]])
            .with("alias.test", &[&["=private.test"]])
            .with("private.test", &[&[PRIVATE_V4]])
            .with("away.test", &[&[PUBLIC_V4]])
            .with("after.test", &[&["::1"]]);
        let _dns = Dns::start(SocketAddr::from(([127, 0, 0, 1], 53)), zone).await.unwrap();
        let public: SocketAddr = format!("{PUBLIC_V4}:{PORT}").parse().unwrap();
        let server = Loopback::start_at(public, |request| match request.header("host") {
            Some("away.test:8080") => {
                Answer::bytes(302, "").with_header("location", "http://after.test:8080/")
            }
            _ => Answer::bytes(200, "public").with_header("content-type", "text/plain"),
        })
        .await;
        let private = private().await;
        let house =
            House::with(json!({ "tools": { "web": { "fetch": { "cacheMinutes": 0 } } } }), allow).await;
        for (host, expected) in [
            ("rebinds", None),
            ("rebinds", Some("not lead to a public address")),
            ("mixed", Some("not lead to a public address")),
            ("alias", Some("not lead to a public address")),
            ("away", Some("redirects to a place that is not allowed")),
        ] {
            let got = house.call("web_fetch", json!({ "url": format!("http://{host}.test:{PORT}/") })).await;
            assert_eq!(got.is_error(), expected.is_some(), "{host}: {}", got.text());
            assert!(got.text().contains(expected.unwrap_or("public")), "{host}: {}", got.text());
        }
        assert_eq!(server.requests().len(), 2);
        for server in private {
            assert_eq!(server.seen(), Vec::<String>::new());
        }
    });
}
