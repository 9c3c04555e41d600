//! The console over HTTP: its files, and the way to its token.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};
use toolkit::prelude::*;
use toolkit::{CancellationToken, tool_ref};
use toolkit_serve::axum::http::request::Builder;
use toolkit_serve::axum::http::{HeaderMap, Request};
use toolkit_web::{Asking, Console, Web, WebOptions};

/// Adds two numbers.
#[tool(read_only)]
async fn add(
    /** One. */
    a: i64,
    /** Other. */
    b: i64,
) -> i64 {
    a + b
}

/// A console that runs.
struct Running {
    console: Console,
    address: SocketAddr,
}

impl Running {
    async fn new() -> Self {
        let toolkit = Toolkit::empty().tool(tool_ref!(add)).build().unwrap();
        let options = WebOptions::new().asking(Asking::Served).shutdown(CancellationToken::new());
        let console = Console::with(Web::new(toolkit, options)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = console.clone();
        tokio::spawn(async move { serving.serve(listener).await });
        Self { console, address }
    }

    fn request(&self, method: &str, path: &str) -> Builder {
        Request::builder().method(method).uri(path).header("host", self.address.to_string())
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> (u16, HeaderMap, String) {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let (head, body) = sender.send_request(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (head.status.as_u16(), head.headers, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn get(&self, path: &str) -> (u16, HeaderMap, String) {
        self.send(self.request("GET", path).body(Full::default()).unwrap()).await
    }

    async fn exchange(&self, code: &str) -> (u16, String) {
        let body = json!({ "code": code }).to_string();
        let request = self.request("POST", "/console/token").header("content-type", "application/json");
        let (status, headers, text) = self.send(request.body(Full::from(body)).unwrap()).await;
        assert!(status != 200 || headers["cache-control"] == "no-store", "{headers:?}");
        (status, text)
    }

    /// A code, out of an address.
    fn code(&self) -> String {
        let address = self.console.open(self.address).unwrap();
        let (page, code) = address.split_once("#code=").unwrap();
        assert_eq!(page, format!("http://{}/", self.address));
        code.to_owned()
    }
}

#[tokio::test]
async fn a_code_gives_the_token_once() {
    let running = Running::new().await;
    let [code, other] = [running.code(), running.code()];
    let (status, text) = running.exchange(&code).await;
    assert_eq!(status, 200, "{text}");
    let token = serde_json::from_str::<Value>(&text).unwrap()["token"].as_str().unwrap().to_owned();
    let (status, text) = running.exchange(&code).await;
    assert_eq!(status, 403, "{text}");
    assert!(text.contains("used already"), "{text}");
    assert_eq!(running.exchange("no-code").await.0, 403);
    // Another browser gets in with another code, and none without one.
    assert_eq!(running.exchange(&other).await.0, 200);
    assert_eq!(running.get("/v1/tools").await.0, 401);
    let request = running.request("GET", "/v1/tools").header("authorization", format!("Bearer {token}"));
    let (status, _, text) = running.send(request.body(Full::default()).unwrap()).await;
    assert_eq!(status, 200, "{text}");
    assert!(text.contains("\"add\""), "{text}");
    // The code is no token.
    let request = running.request("GET", "/v1/tools").header("authorization", format!("Bearer {other}"));
    assert_eq!(running.send(request.body(Full::default()).unwrap()).await.0, 401);
}

#[tokio::test]
async fn an_exchange_that_is_none_is_refused_with_its_reason() {
    let running = Running::new().await;
    let code = running.code();
    let send = async |kind: &str, body: String| {
        let request = running.request("POST", "/console/token").header("content-type", kind);
        let (status, headers, text) = running.send(request.body(Full::from(body)).unwrap()).await;
        assert_eq!(headers["content-type"], "application/problem+json", "{text}");
        status
    };
    let whole = json!({ "code": code }).to_string();
    // A form of another page sends such a type without asking the browser.
    assert_eq!(send("text/plain", whole.clone()).await, 415);
    assert_eq!(send("application/json", "{}".to_owned()).await, 400);
    assert_eq!(send("application/json", json!({ "code": "x".repeat(2_000) }).to_string()).await, 413);
    let (status, _, _) = running.get("/console/token").await;
    assert_eq!(status, 405);
    let page = running.request("POST", "/console/token").header("origin", "https://example.org");
    let page = page.header("content-type", "application/json").body(Full::from(whole)).unwrap();
    assert_eq!(running.send(page).await.0, 403);
    // The code was not used up by all that.
    assert_eq!(running.exchange(&code).await.0, 200);
}

#[tokio::test]
async fn the_page_loads_its_own_files_alone_and_they_are_kept() {
    let running = Running::new().await;
    let (status, headers, page) = running.get("/").await;
    assert_eq!(status, 200);
    assert_eq!(headers["cache-control"], "no-cache");
    let policy = headers["content-security-policy"].to_str().unwrap();
    for part in
        ["default-src 'self'", "img-src 'self' blob:", "media-src 'self' blob:", "frame-ancestors 'none'"]
    {
        assert!(policy.split("; ").any(|other| other == part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let addresses: Vec<&str> = page.split('"').filter(|part| part.starts_with("/console/")).collect();
    assert_eq!(addresses.len(), 3, "{page}");
    for address in addresses {
        let (status, headers, text) = running.get(address).await;
        assert_eq!(status, 200, "{address}");
        assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert!(!text.is_empty());
        // Only what draws or makes an SVG names another address.
        assert!(!address.contains("style") || !text.contains("http"), "{address}");
    }
    let main = page.split('"').find(|part| part.ends_with("/main.js")).unwrap();
    let (status, _, _) = running.get(&main.replace("main.js", "app.js")).await;
    assert_eq!(status, 200);
    for missing in [
        main.replace("main.js", "none.js"),
        "/console/0000/main.js".to_owned(),
        main.replace("main.js", "..%2Findex.html"),
    ] {
        assert_eq!(running.get(&missing).await.0, 404, "{missing}");
    }
    // A page at another name of this machine would have the rights of this one.
    let other = Request::builder().uri("/").header("host", "example.org").body(Full::default()).unwrap();
    assert_eq!(running.send(other).await.0, 421);
}

/// The types in the comments of the modules hold.
#[test]
#[ignore = "needs the TypeScript compiler: cargo xtask test"]
fn the_types_of_the_modules_hold() {
    let console = concat!(env!("CARGO_MANIFEST_DIR"), "/console");
    let tools = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let modules = std::fs::read_dir(console).unwrap().map(|file| file.unwrap().path());
    let modules: Vec<_> = modules.filter(|path| path.extension().is_some_and(|kind| kind == "js")).collect();
    assert!(modules.len() > 20, "{modules:?}");
    let mut check = std::process::Command::new(tools.join("python/bin/node"));
    check.arg(tools.join("node_modules/typescript/bin/tsc")).current_dir(console);
    check.args([
        "--noEmit",
        "--allowJs",
        "--checkJs",
        "--strict",
        "--target",
        "es2023",
        "--module",
        "esnext",
    ]);
    check.args(["--moduleResolution", "bundler", "--lib", "es2023,dom,dom.iterable,dom.asynciterable"]);
    let output = check.arg("types.d.ts").args(modules).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
