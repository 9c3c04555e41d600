//! The JavaScript client, in Node and in a browser.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolkit_gateway::ClientLimits;
use toolkit_serve::axum::Router;
use toolkit_serve::axum::http::header::CONTENT_TYPE;
use toolkit_serve::axum::routing::get;

use super::{Place, call, main, names};
use crate::agents::in_time;

/// Time between two looks at the tools.
const PAUSE: Duration = Duration::from_millis(20);

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn client() -> String {
    std::fs::read_to_string(repository().join("clients/js/toolkit.js")).unwrap()
}

/// A program that is killed at the end.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program of Node beside the client.
struct Node {
    directory: tempfile::TempDir,
}

impl Node {
    fn new(program: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("toolkit.js"), client()).unwrap();
        std::fs::write(directory.path().join("program.mjs"), program).unwrap();
        std::fs::write(directory.path().join("package.json"), r#"{"type":"module"}"#).unwrap();
        Self { directory }
    }

    fn command(&self, place: &Place, token: &str) -> Command {
        let mut command = Command::new(repository().join("target/tools/python/bin/node"));
        command.arg("program.mjs").current_dir(self.directory.path());
        command.env("TOOLKIT_TOKEN", token).env("ADDRESS", format!("http://{}", place.gateway.address()));
        command
    }

    fn start(&self, place: &Place) -> Program {
        let mut command = self.command(place, &place.owner);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Program(command.spawn().unwrap())
    }

    /// Runs it to its end, and returns what it printed.
    async fn run(self, place: &Place, token: &str) -> String {
        let mut command = self.command(place, token);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap());
        let output = in_time(output).await.unwrap();
        let [said, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success(), "{said}\n{errors}");
        said
    }
}

async fn until_there(place: &Place, wanted: &[&str]) {
    let toolkit = place.toolkit();
    in_time(async {
        while names(&toolkit, &main()).await != wanted {
            tokio::time::sleep(PAUSE).await;
        }
    })
    .await;
}

/// The tools of a program, in Node or on a page.
const TOOLS: &str = r#"
gateway.tool("page_add", {
  description: "Adds.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
}, ({ a, b }, { progress }) => { progress(1, 2, "half"); return { sum: a + b, where: globalThis.navigator?.userAgent }; });
gateway.tool("page_fail", { description: "Fails." }, () => { throw new Error("it is broken"); });
gateway.tool("page_later", { description: "Comes later.", deferred: true }, async () => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  return "grown";
});
"#;

fn program(rest: &str) -> String {
    format!(
        "import {{ connect }} from './toolkit.js';\n\
         const gateway = await connect(process.env.ADDRESS, {{ token: process.env.TOOLKIT_TOKEN, name: 'node' }});\n\
         {TOOLS}\n{rest}"
    )
}

/// Calls the tools.
async fn check(place: &Place) -> Value {
    until_there(place, &["page_add", "page_fail", "page_later"]).await;
    let sum = call(place.toolkit(), main(), "page_add", json!({ "a": 1, "b": 2 })).await.text();
    let sum: Value = serde_json::from_str(&sum).unwrap();
    assert_eq!(sum["sum"], 3);
    let failed = call(place.toolkit(), main(), "page_fail", json!({})).await;
    assert!(failed.error().unwrap().message().contains("it is broken"));
    let pending = call(place.toolkit(), main(), "page_later", json!({})).await.outcome.unwrap();
    let id = pending.details.unwrap()["call"].as_str().unwrap().to_owned();
    let (said, outcome) = place.result(&id).await;
    assert_eq!(outcome, "answered");
    assert!(said.contains("grown"), "{said}");
    sum
}

#[tokio::test]
#[ignore = "needs Node: cargo xtask test"]
async fn the_client_serves_tools_in_node_and_goes_on_after_a_restart() {
    let mut place = Place::new().await;
    let address = place.gateway.address();
    let node = Node::new(&program("await gateway.closed;"));
    let _program = node.start(&place);
    check(&place).await;
    assert_eq!(place.results().await, 1);
    // The same address again.
    place.address = Some(address);
    let place = place.restart(ClientLimits::default()).await;
    until_there(&place, &["page_add", "page_fail", "page_later"]).await;
    let sum = call(place.toolkit(), main(), "page_add", json!({ "a": 2, "b": 2 })).await.text();
    assert!(sum.contains("\"sum\":4"), "{sum}");
    place.stop().await;
}

#[tokio::test]
#[ignore = "needs Node: cargo xtask test"]
async fn the_client_adds_and_removes_tools_sends_and_follows_in_node() {
    let place = Place::new().await;
    let node = Node::new(&program(
        r#"
const remove = gateway.tool("page_more", { description: "More." }, () => "more");
gateway.tool("page_bad", { description: "Cannot be sent." }, () => ({ content: [{ type: "text", text: 1n }] }));
let added;
try { gateway.tool("page_worse", { description: 1n }, () => "") } catch (error) { added = error.name }
const seen = [];
let last = 0;
const events = gateway.events();
const message = await gateway.send("call page_add {\"a\":20,\"b\":3}");
for await (const event of events) {
  seen.push(event.kind);
  last = Math.max(last, event.id ?? 0);
  if (event.kind === "run.ended") break;
}
const live = seen.filter((kind) => kind === "live").length > 0;
await gateway.send("call page_bad {}");
for await (const event of gateway.events({ since: message.id })) if (event.kind === "run.ended" && event.id > last) break;
const again = await gateway.send("x", { session: "agent:none:main" }).catch((error) => error.code);
remove();
console.log(JSON.stringify({ id: typeof message.id, live, again, added, person: gateway.person }));
gateway.close();
console.log(String(await gateway.closed));
"#,
    ));
    let said = node.run(&place, &place.owner).await;
    let expected =
        json!({ "id": "number", "live": true, "again": 404, "added": "TypeError", "person": "owner" });
    let (first, rest) = said.trim().split_once('\n').unwrap();
    let found: Value = serde_json::from_str(first).unwrap();
    assert_eq!(found, expected);
    assert_eq!(rest, "undefined");
    place.stop().await;
}

#[tokio::test]
#[ignore = "needs Node: cargo xtask test"]
async fn the_client_says_why_it_is_not_let_in_and_ends_with_its_token() {
    let place = Place::new().await;
    let refused = Node::new(
        "import { connect } from './toolkit.js';\n\
         try { await connect(process.env.ADDRESS, { token: process.env.TOOLKIT_TOKEN }); }\n\
         catch (error) { console.log(error.name, error.code, error.message); }",
    );
    let said = refused.run(&place, "wrong").await;
    assert!(said.starts_with("GatewayError 4401 this token does not count"), "{said}");
    let ada = place.ada("phone").await;
    let node = Node::new(
        "import { connect } from './toolkit.js';\n\
         const gateway = await connect(process.env.ADDRESS, { token: process.env.TOOLKIT_TOKEN, name: 'node' });\n\
         await gateway.send('I am here');\n\
         const error = await gateway.closed;\n\
         console.log(error.code);",
    );
    let running = node.run(&place, &ada);
    let revoke = async {
        place.event(0, "message.accepted").await;
        assert!(place.http("DELETE", "/v1/tokens/phone", &place.owner, None).await.0 < 300);
    };
    let (said, ()) = tokio::join!(running, revoke);
    assert_eq!(said.trim(), "4401");
    place.stop().await;
}

#[tokio::test]
#[ignore = "needs Node: cargo xtask test"]
async fn the_code_of_the_readme_runs() {
    let place = Place::new().await;
    let readme = std::fs::read_to_string(repository().join("clients/js/README.md")).unwrap();
    let mut code = String::new();
    let mut blocks = 0;
    for block in readme.split("```js\n").skip(1) {
        code.push_str(block.split_once("```").unwrap().0);
        blocks += 1;
    }
    assert_eq!(blocks, 3);
    let address = "http://127.0.0.1:4170";
    assert!(code.contains(address));
    let code = code.replace(address, &format!("http://{}", place.gateway.address()));
    let said = Node::new(&code).run(&place, &place.owner).await;
    assert!(said.contains("sent 1"), "{said}");
    place.stop().await;
}

#[tokio::test]
#[ignore = "needs Chromium: cargo xtask test"]
async fn the_client_serves_tools_on_a_page_in_chromium() {
    let place = Place::new().await;
    let page = format!(
        "<!doctype html><script type=module>\nimport {{ connect }} from './toolkit.js';\n\
         const gateway = await connect('http://{}', {{ token: '{}', name: 'page' }});\n{TOOLS}</script>",
        place.gateway.address(),
        place.owner
    );
    let router = Router::new()
        .route("/", get(async || ([(CONTENT_TYPE, "text/html")], page)))
        .route("/toolkit.js", get(async || ([(CONTENT_TYPE, "text/javascript")], client())));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = CancellationToken::new();
    let _ends = shutdown.clone().drop_guard();
    tokio::spawn(toolkit_serve::serve(listener, router, shutdown));
    let profile = tempfile::tempdir().unwrap();
    let mut chromium = Command::new("chromium");
    chromium
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("http://{address}/"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let browser = Program(chromium.spawn().unwrap());
    let sum = check(&place).await;
    assert!(sum["where"].as_str().unwrap().contains("Chrome"), "{sum}");
    // A page that is gone has no tools.
    drop(browser);
    place.stop().await;
}
