//! Nothing of a page gets past the guard, by what a second server on loopback saw.

use super::site::{html, serve};
use super::{allow, error, page, text};
use crate::commands::house::House;
use serde_json::{Value, json};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use toolkit::ToolErrorKind;
use toolkit_loopback::Answer;

/// A server that nobody may reach: it notes every connection, and every datagram to the same port.
pub(super) struct Private {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    datagrams: UdpSocket,
    _accepting: JoinSet<()>,
}

impl Private {
    async fn start() -> Self {
        Self::at("127.0.0.2:0").await
    }

    pub(super) async fn at(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let datagrams = UdpSocket::bind(address).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            loop {
                let Ok((mut stream, _)) = listener.accept().await else { return };
                let mut bytes = vec![0; 2_000];
                let length = stream.read(&mut bytes).await.unwrap_or_default();
                noted.lock().unwrap().push(String::from_utf8_lossy(&bytes[..length]).into_owned());
            }
        });
        Self { address, seen, datagrams, _accepting: accepting }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn seen(&self) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap().clone();
        let mut bytes = [0; 2_000];
        while let Ok(length) = self.datagrams.recv(&mut bytes) {
            seen.push(format!("a datagram of {length} bytes"));
        }
        seen
    }
}

/// The requests that a page tries. `$` is the host and port of the private server.
const TRIES: &str = "<!doctype html><title>Tries</title>
<link rel=stylesheet href=http://$/style><link rel=prefetch href=http://$/prefetch><link rel=preconnect href=http://$><link rel=dns-prefetch href=//$>
<iframe src=http://$/frame></iframe><img src=http://$/image><script src=http://$/script></script><video src=http://$/video autoplay></video>
<object data=http://$/object></object><form id=form action=http://$/form target=inner method=post></form><iframe name=inner></iframe>
<a id=ping href=#x ping=http://$/ping>ping</a><a id=download href=http://$/download download>download</a>
<script>
const done = []; const tried = (name, promise) => done.push(Promise.race([promise, new Promise((end) => setTimeout(end, 600))]).then(() => name, () => name));
tried('fetch', fetch('http://$/fetch', { mode: 'no-cors' }));
tried('xhr', new Promise((end) => { const request = new XMLHttpRequest(); request.onloadend = end; request.open('GET', 'http://$/xhr'); request.send(); }));
tried('socket', new Promise((end) => { const socket = new WebSocket('ws://$/socket'); socket.onclose = end; socket.onerror = end; }));
tried('secure socket', new Promise((end) => { const socket = new WebSocket('wss://$/socket'); socket.onclose = end; socket.onerror = end; }));
tried('events', new Promise((end) => { const source = new EventSource('http://$/events'); source.onerror = () => { source.close(); end(); }; }));
navigator.sendBeacon('http://$/beacon', 'x');
fetch('http://$/keepalive', { keepalive: true, mode: 'no-cors' }).catch(() => {});
const code = `fetch('http://$/worker', { mode: 'no-cors' }).catch(() => {}).then(() => postMessage(1)); importScripts('http://$/import');`;
tried('worker', new Promise((end) => { const worker = new Worker(URL.createObjectURL(new Blob([code]))); worker.onmessage = end; worker.onerror = end; }));
tried('shared worker', new Promise((end) => { const worker = new SharedWorker('/shared.js'); worker.port.onmessage = end; }));
tried('service worker', navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then(() => new Promise((end) => setTimeout(end, 300))));
tried('font', new FontFace('own', 'url(http://$/font)').load());
tried('audio', new Promise((end) => { const audio = new Audio('http://$/audio'); audio.onerror = end; }));
tried('peer', (async () => {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: ['stun:$', 'turn:$?transport=udp', 'turn:$?transport=tcp'], username: 'u', credential: 'c' }] });
  peer.createDataChannel('c'); await peer.setLocalDescription(await peer.createOffer());
  await new Promise((end) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && end(); });
})());
tried('transport', (async () => { const transport = new WebTransport('https://$/transport'); await transport.ready; })());
document.getElementById('form').submit();
document.getElementById('ping').click();
Promise.all(done).then((names) => { document.title = 'tried ' + names.length; });
</script>";

/// A page that tries all of them.
pub(super) fn tries(host: &str) -> String {
    TRIES.replace('$', host)
}

fn config() -> Value {
    json!({ "tools": { "web": { "network": { "allowedRanges": ["127.0.0.1/32"] } } } })
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn nothing_gets_past_the_guard() {
    let private = Private::start().await;
    let host = private.address.to_string();
    let server = serve({
        let (host, private) = (host.clone(), private.url("/redirected"));
        move |request| match request.path.as_str() {
            "/shared.js" => script(&format!(
                "onconnect = (event) => fetch('http://{host}/shared', {{ mode: 'no-cors' }}).catch(() => {{}}).then(() => event.ports[0].postMessage(1));"
            )),
            "/service.js" => script(&format!(
                "oninstall = (event) => event.waitUntil(fetch('http://{host}/service', {{ mode: 'no-cors' }}).catch(() => {{}}));"
            )),
            "/redirect" => Answer::bytes(302, "").with_header("location", &private),
            "/hints" => html("<title>Hints</title>").with_header("link", &format!("<http://{host}/linked>; rel=preload; as=script")),
            "/csp" => html("<title>Report</title><img src=http://other.invalid/>")
                .with_header("content-security-policy", &format!("img-src 'none'; report-uri http://{host}/report"))
                .with_header("reporting-endpoints", &format!("own=\"http://{host}/endpoint\"")),
            "/popup" => html(&format!("<title>Popup</title><button onclick=\"window.open('http://{host}/popup')\">Open</button><a id=down download href=http://{host}/down>Down</a>")),
            _ => html(&tries(&host)),
        }
    })
    .await;
    let house = House::with(config(), allow).await;
    let opened = text(&house, "navigate", json!({ "url": server.url() })).await;
    let waited =
        text(&house, "evaluate", json!({ "script": "await Promise.all(done)", "timeout_ms": 20_000 })).await;
    for name in [
        "fetch",
        "xhr",
        "socket",
        "secure socket",
        "events",
        "worker",
        "shared worker",
        "service worker",
        "font",
        "peer",
        "transport",
    ] {
        assert!(page(&waited).contains(&format!("\"{name}\"")), "{name} was tried: {waited}");
    }
    // The proxy was asked, and refused.
    assert!(opened.contains("Refused: ") || waited.contains("Refused: "), "{opened} {waited}");
    let popup = text(&house, "navigate", json!({ "url": format!("{}/popup", server.url()) })).await;
    assert!(page(&popup).contains("Title: Popup"), "{popup}");
    let said = text(&house, "click", json!({ "selector": "button" })).await;
    assert!(page(&said).contains(&format!("Refused: http://{host}/popup: ")), "{said}");
    text(&house, "click", json!({ "tab": "t1", "selector": "#down" })).await;
    for path in ["/hints", "/csp"] {
        text(&house, "navigate", json!({ "tab": "t1", "url": format!("{}{path}", server.url()) })).await;
    }
    text(&house, "evaluate", json!({ "script": "new Promise((end) => setTimeout(end, 200))" })).await;
    let redirected = error(&house, "navigate", json!({ "url": format!("{}/redirect", server.url()) })).await;
    assert_eq!(redirected.kind(), ToolErrorKind::Denied, "{redirected}");
    assert!(redirected.message().contains(&format!("leads to http://{host}/redirected: ")), "{redirected}");
    assert!(
        redirected.message().contains("`tools.web.network.allowedRanges: [\"127.0.0.0/8\"]`"),
        "{redirected}"
    );
    let direct = error(&house, "navigate", json!({ "url": private.url("/direct") })).await;
    assert_eq!(direct.kind(), ToolErrorKind::Denied, "{direct}");
    let script = format!("location.href = 'http://{host}/script-navigation'");
    text(&house, "evaluate", json!({ "script": script })).await;
    assert_eq!(private.seen(), Vec::<String>::new());
    // The page did what it was to do, and the same server is reached once it is allowed.
    let allowing = House::with(
        json!({ "tools": { "web": { "network": { "allowedRanges": ["127.0.0.0/8"] } } } }),
        allow,
    )
    .await;
    let url = |path: &str| json!({ "url": format!("{}{path}", server.url()) });
    let _ = super::act(&allowing, "navigate", url("/")).await;
    let _ = super::act(&allowing, "evaluate", json!({ "script": "await Promise.all(done)" })).await;
    let _ = super::act(&allowing, "navigate", url("/popup")).await;
    let _ = super::act(&allowing, "click", json!({ "selector": "button" })).await;
    let _ = super::act(&allowing, "click", json!({ "tab": "t1", "selector": "#down" })).await;
    let _ = super::act(
        &allowing,
        "navigate",
        json!({ "tab": "t1", "url": format!("{}/redirect", server.url()) }),
    )
    .await;
    let _ = super::act(&allowing, "navigate", json!({ "url": private.url("/direct") })).await;
    let seen = private.seen().join("\n");
    for path in [
        "/direct",
        "/redirected",
        "/frame",
        "/image",
        "/fetch",
        "/worker",
        "/socket",
        "/beacon",
        "/popup",
        "/down",
        "/xhr",
        "/script",
        "/style",
        "/shared",
    ] {
        assert!(seen.contains(&format!(" {path} HTTP/1.1")), "{path}: {seen}");
    }
    assert!(!seen.contains("datagram"), "{seen}");
}

fn script(code: &str) -> Answer {
    Answer::bytes(200, code.to_owned()).with_header("content-type", "text/javascript")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_name_that_leads_elsewhere_later_is_checked_each_time() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    struct Rebinding;
    impl toolkit_http::Resolver for Rebinding {
        fn resolve<'a>(&'a self, host: &'a str, port: u16) -> toolkit_http::Resolving<'a> {
            // A browser may have a connection of its own in mind.
            if host != "rebind.test" {
                return Box::pin(async { Err(std::io::ErrorKind::NotFound.into()) });
            }
            let last = if ASKED.fetch_add(1, Ordering::Relaxed) == 0 { 1 } else { 2 };
            Box::pin(async move { Ok(vec![([127, 0, 0, last], port).into()]) })
        }
    }
    let server =
        serve(|_| html("<title>First</title><a href=/second>Second</a>").with_header("connection", "close"))
            .await;
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    let house = House::made_with_resolver(config(), Rebinding).await;
    let url = format!("http://rebind.test:{port}/");
    let opened = text(&house, "navigate", json!({ "url": url })).await;
    assert!(page(&opened).contains("Title: First"), "{opened}");
    let said = text(&house, "click", json!({ "selector": "a" })).await;
    assert!(page(&said).contains("Refused: http://rebind.test:"), "{said}");
    let failed = error(&house, "navigate", json!({ "url": format!("https://rebind.test:{port}/") })).await;
    assert!(failed.kind() == ToolErrorKind::Denied && failed.message().contains("loopback"), "{failed}");
}
