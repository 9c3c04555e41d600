//! The web tools by the command and over MCP, against a server on loopback.

#![cfg(all(target_os = "linux", feature = "mcp", feature = "web"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Answers as a page and as a server of `SearXNG`, until the test ends.
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (known, own) = (Arc::clone(&seen), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let _ = answer(&stream, &own, &known);
            }
        });
        Self { url, seen }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn answer(mut stream: &TcpStream, own: &str, seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (media_type, body) = if path == "/v1/chat/completions" {
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        let mut request = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or_default()];
        stream.read_exact(&mut request)?;
        let request = String::from_utf8_lossy(&request);
        let is_whole = request.contains("Who moves it?") && request.contains("The moon moves the **sea**.");
        let answer = if is_whole { "The moon does." } else { "The question or the page is missing." };
        let chunk = |delta: Value, reason: Value| {
            json!({ "id": "1", "object": "chat.completion.chunk", "model": "m",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
        };
        let (said, ended) = (
            chunk(json!({ "role": "assistant", "content": answer }), Value::Null),
            chunk(json!({}), "stop".into()),
        );
        ("text/event-stream", format!("data: {said}\n\ndata: {ended}\n\ndata: [DONE]\n\n"))
    } else if path.starts_with("/search?") {
        let found = json!({ "results": [{ "title": "Tides", "url": format!("{own}/tides"), "content": "About tides" }] });
        ("application/json", found.to_string())
    } else {
        ("text/html", "<title>Tides</title><main><p>The moon moves the <b>sea</b>.</p></main>".to_owned())
    };
    seen.lock().unwrap().push(path);
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn user(config: &str) -> TempDir {
    let user = tempfile::tempdir().unwrap();
    for directory in ["work", "user", "data"] {
        fs::create_dir(user.path().join(directory)).unwrap();
    }
    fs::write(user.path().join("user/toolkit.json5"), config).unwrap();
    user
}

/// Without a terminal, so that nobody can be asked.
fn toolkit(user: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new("setsid");
    command
        .arg("--wait")
        .arg(env!("CARGO_BIN_EXE_toolkit"))
        .args(arguments)
        .current_dir(user.path().join("work"));
    command.env("TOOLKIT_CONFIG_DIR", user.path().join("user"));
    command.env("TOOLKIT_DATA_DIR", user.path().join("data"));
    command.env_remove("BRAVE_API_KEY").env_remove("PERPLEXITY_API_KEY").stdin(Stdio::null());
    command
}

#[test]
fn a_fetch_from_loopback_needs_the_key_that_the_error_names() {
    let server = Server::start();
    let user = user("{}");
    let url = format!("{}/tides", server.url);
    let refused = toolkit(&user, &["call", "web_fetch", "--url", &url]).output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(5), "{told}");
    let (_, key) = told.split_once("`tools.web.network.").unwrap_or_else(|| panic!("no key: {told}"));
    let (key, _) = key.split_once('`').unwrap();
    let (name, value) = key.split_once(": ").unwrap();
    assert!(server.seen().is_empty());
    let setting = format!("tools.web.network.{name}={value}");
    let fetched = toolkit(&user, &["call", "--set", &setting, "web_fetch", "--url", &url]).output().unwrap();
    let text = String::from_utf8_lossy(&fetched.stdout).into_owned();
    assert!(fetched.status.success() && text.contains("The moon moves the **sea**."), "{fetched:?}");
    assert_eq!(server.seen(), ["/tides"]);
}

#[test]
#[cfg(feature = "agent")]
fn a_question_about_a_page_is_answered_by_the_default_model() {
    let server = Server::start();
    let network = "tools: { web: { network: { allowedRanges: ['127.0.0.0/8'] } } }";
    let url = format!("{}/tides", server.url);
    let call = ["call", "web_fetch", "--url", &url, "--prompt", "Who moves it?"];
    let without = toolkit(&user(&format!("{{ {network} }}")), &call).output().unwrap();
    let text = String::from_utf8_lossy(&without.stdout).into_owned();
    assert!(
        text.contains("no model is configured") && text.contains("The moon moves the **sea**."),
        "{without:?}"
    );
    let models = format!("models: {{ local: {{ baseUrl: '{}/v1', model: 'm' }} }}", server.url);
    let with = toolkit(&user(&format!("{{ {network}, {models} }}")), &call).output().unwrap();
    let text = String::from_utf8_lossy(&with.stdout).into_owned();
    assert!(text.contains("The moon does.") && text.contains("Answered by: a model"), "{with:?}");
    assert!(!text.contains("The moon moves"), "{text}");
    assert_eq!(server.seen(), ["/tides", "/tides", "/v1/chat/completions"]);
    let gone = "{ models: { local: { baseUrl: 'http://127.0.0.1:2/v1', model: 'm' } }, ";
    let failed = toolkit(&user(&format!("{gone}{network} }}")), &call).output().unwrap();
    let told = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && told.contains("fetch it without `prompt`"), "{told}");
}

#[test]
fn a_public_site_is_asked_about() {
    let user = user("{}");
    let denied = toolkit(&user, &["call", "web_fetch", "--url", "https://example.com/"]).output().unwrap();
    let told = String::from_utf8_lossy(&denied.stderr).into_owned();
    assert_eq!(denied.status.code(), Some(5), "{told}");
    assert!(told.contains("permission.web_fetch") && told.contains("https://example.com/"), "{told}");
}

#[test]
fn a_key_of_the_environment_is_used_and_not_told() {
    let user = user("{ tools: { web: { search: { provider: 'brave', baseUrl: 'http://127.0.0.1:2' } } } }");
    let mut call = toolkit(&user, &["call", "web_search", "--query", "tides"]);
    let failed = call.env("BRAVE_API_KEY", "key-27182818").output().unwrap();
    let told = format!("{failed:?}");
    assert!(told.contains("brave cannot be reached") && !told.contains("key-27182818"), "{told}");
}

/// Runs the command where no program is in `PATH`.
fn without_programs(user: &TempDir, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
    command.args(arguments).current_dir(user.path().join("work")).env("PATH", user.path().join("work"));
    command.env("TOOLKIT_CONFIG_DIR", user.path().join("user"));
    command.env("TOOLKIT_DATA_DIR", user.path().join("data"));
    command.env_remove("BRAVE_API_KEY").env_remove("PERPLEXITY_API_KEY").stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
#[cfg(feature = "browser")]
fn without_a_browser_the_error_says_how_to_install_one() {
    let user = user("{ tools: { web: { network: { allowedRanges: ['127.0.0.0/8'] } } } }");
    let call = ["browser", "--action", "navigate", "--url", "http://127.0.0.1:8099/"];
    let none = without_programs(&user, &[&["call"], &call[..]].concat());
    let told = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(!none.status.success(), "{none:?}");
    for part in [
        "there is no browser",
        "apt-get install chromium",
        "dnf install chromium",
        "`tools.browser.executable`",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let missing = ["call", "--set", "tools.browser.executable=/no/such/browser"];
    let told = without_programs(&user, &[&missing[..], &call[..]].concat());
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(
        told.contains("`tools.browser.executable` names /no/such/browser")
            && told.contains("correct the setting"),
        "{told}"
    );
}

#[test]
#[cfg(feature = "browser")]
fn the_doctor_says_which_browser_and_which_providers_can_be_used() {
    let server = Server::start();
    let user = user("{}");
    let doctor = |settings: &[&str], key: Option<&str>| {
        let mut arguments = vec!["doctor"];
        for setting in settings {
            arguments.extend(["--set", setting]);
        }
        let mut command = toolkit(&user, &arguments);
        if let Some(key) = key {
            command.env("BRAVE_API_KEY", key);
        }
        let said = command.output().unwrap();
        assert!(said.status.success(), "{said:?}");
        String::from_utf8_lossy(&said.stdout).into_owned()
    };
    let none = String::from_utf8_lossy(&without_programs(&user, &["doctor"]).stdout).into_owned();
    assert!(
        none.contains("browser  missing: there is no browser") && none.contains("apt-get install chromium"),
        "{none}"
    );
    for name in ["brave", "perplexity", "searxng"] {
        let line = none.lines().find(|line| line.starts_with(&format!("web_search by {name} ")));
        assert!(line.is_some_and(|line| line.contains("  missing: ")), "{name}: {none}");
    }
    let found = doctor(&["tools.browser.executable=/bin/sh"], Some("key-27182818"));
    assert!(found.contains("browser  works: /bin/sh\n"), "{found}");
    assert!(
        found.contains("web_search by brave       works, and is used") && !found.contains("27182818"),
        "{found}"
    );
    let debugging = format!("tools.browser.debuggingUrl={}", server.url);
    let base = format!("tools.web.search.baseUrl={}", server.url);
    let remote = doctor(&[&debugging, "tools.web.search.provider=searxng", &base], None);
    assert!(
        remote.contains(&format!("browser  runs at {}: it is used once a person approves", server.url)),
        "{remote}"
    );
    assert!(remote.contains("web_search by searxng     works, and is used"), "{remote}");
    let gone = doctor(&["tools.browser.debuggingUrl=http://127.0.0.1:2"], None);
    assert!(gone.contains("browser  missing: nothing answers at http://127.0.0.1:2"), "{gone}");
}

#[test]
fn a_client_of_mcp_searches_and_fetches_what_it_found() {
    let server = Server::start();
    let mut client = Client::of(&server);
    let url = client.search_and_fetch();
    assert_eq!(url, format!("{}/tides", server.url));
    assert_eq!(server.seen(), ["/search?q=tides&format=json&time_range=month", "/tides"]);
    client.end();
}

#[test]
#[cfg(feature = "browser")]
#[ignore = "needs Chromium: cargo xtask test"]
fn a_client_of_mcp_searches_fetches_and_takes_a_screenshot() {
    let server = Server::start();
    let mut client = Client::of(&server);
    let url = client.search_and_fetch();
    let opened = client.call("browser", &json!({ "action": "navigate", "url": url }));
    let text = opened["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{opened}"));
    assert!(text.contains("Title: Tides"), "{opened}");
    let shot = client.call("browser", &json!({ "action": "screenshot" }));
    let blocks = shot["content"].as_array().unwrap_or_else(|| panic!("{shot}"));
    let picture = blocks.iter().find(|block| block["type"] == "image").unwrap_or_else(|| panic!("{shot}"));
    assert_eq!(picture["mimeType"], "image/png");
    // The signature of PNG in Base64.
    let data = picture["data"].as_str().unwrap();
    assert!(data.starts_with("iVBORw0KGgo") && data.len() > 1400, "{} characters", data.len());
    assert!(server.seen().iter().filter(|path| *path == "/tides").count() >= 2, "{:?}", server.seen());
    client.end();
}

/// A client of `mcp serve`, on standard streams, that cannot be asked.
struct Client {
    serve: std::process::Child,
    input: std::process::ChildStdin,
    output: BufReader<std::process::ChildStdout>,
    last: u32,
    // Removed when the server has ended.
    _user: TempDir,
}

impl Client {
    /// Starts a server that may use the loopback network, and searches with the double of `SearXNG`.
    fn of(server: &Server) -> Self {
        let config = json!({ "tools": { "web": {
            "network": { "allowedRanges": ["127.0.0.0/8"] },
            "search": { "provider": "searxng", "baseUrl": server.url },
        } } });
        let user = user(&config.to_string());
        let mut serve = toolkit(&user, &["mcp", "serve"]);
        let mut serve = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = serve.stdin.take().unwrap();
        let output = BufReader::new(serve.stdout.take().unwrap());
        let mut client = Self { serve, input, output, last: 0, _user: user };
        let info = json!({ "name": "test", "version": "1" });
        client.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }),
        );
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        writeln!(self.input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.last {
                return message["result"].clone();
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": name, "arguments": arguments }))
    }

    /// Searches, fetches the first result, and returns its address.
    fn search_and_fetch(&mut self) -> String {
        let found = self.call("web_search", &json!({ "query": "tides", "freshness": "pm" }));
        let url = found["structuredContent"]["results"][0]["url"].as_str();
        let url = url.unwrap_or_else(|| panic!("{found}")).to_owned();
        let page = self.call("web_fetch", &json!({ "url": url }));
        let text = page["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Title: Tides") && text.contains("The moon moves the **sea**."), "{page}");
        url
    }

    fn end(self) {
        let Self { mut serve, input, .. } = self;
        drop(input);
        serve.wait().unwrap();
    }
}
