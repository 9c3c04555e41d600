//! Programs of others that read the description: validators, a generator of clients, and a tester of interfaces.

use super::{Server, TOKEN};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use toolkit::prelude::*;
use toolkit::{Tool, tool_ref};

/// Generated requests for each operation.
const EXAMPLES: &str = "15";

/// A colour.
#[toolkit::args]
enum Colour {
    /// Red.
    Red,
    /// Green.
    Green,
}

/// A tree.
#[toolkit::args]
struct Tree {
    /// Its name.
    name: String,
    /// Its branches.
    branches: Vec<Tree>,
}

/// A shape.
#[toolkit::args]
enum Shape {
    /// A circle.
    Circle {
        /// Its radius.
        radius: f64,
    },
    /// A square.
    Square {
        /// Its side.
        side: u8,
    },
}

/// Needs no arguments.
#[tool(group = "plain", read_only)]
async fn nothing() {}

/// Adds whole numbers.
#[tool(group = "numbers", read_only)]
async fn add(
    /** One. */
    a: i32,
    /** Other. */
    b: u64,
) -> Result<String, ToolError> {
    let sum = u64::try_from(a).ok().and_then(|a| a.checked_add(b));
    sum.map(|sum| sum.to_string()).ok_or_else(|| ToolError::failed("the sum is too large, or negative"))
}

/// Halves a number.
#[tool(group = "numbers", read_only)]
async fn half(
    /** The number. */
    number: f64,
) -> Json<f64> {
    Json(number / 2.0)
}

/// Repeats a text.
#[tool(group = "texts", read_only)]
async fn repeat(
    /** The text. */
    text: String,
    /** How often. */
    times: Option<u8>,
) -> String {
    text.chars().take(50).collect::<String>().repeat(usize::from(times.unwrap_or(1)))
}

/// Paints.
#[tool(group = "variants", read_only)]
async fn paint(
    /** The colour. */
    colour: Colour,
) -> &'static str {
    match colour {
        Colour::Red => "red",
        Colour::Green => "green",
    }
}

/// Measures a shape.
#[tool(group = "variants", read_only)]
async fn measure(
    /** The shape. */
    shape: Shape,
) -> Json<f64> {
    Json(match shape {
        Shape::Circle { radius } => radius,
        Shape::Square { side } => f64::from(side),
    })
}

/// Counts a tree.
#[tool(group = "nested", read_only)]
async fn count_tree(
    /** The tree. */
    tree: Tree,
) -> Json<Tree> {
    Json(tree)
}

/// Counts words.
#[tool(group = "nested", read_only)]
async fn count_words(
    /** The words. */
    words: Vec<String>,
    /** Their weights. */
    weights: Option<BTreeMap<String, i64>>,
) -> String {
    (words.len() + weights.map_or(0, |weights| weights.len())).to_string()
}

/// Fails.
#[tool(group = "plain", read_only)]
async fn fail(
    /** True if it fails. */
    fails: bool,
) -> Result<(), ToolError> {
    if fails { Err(ToolError::unavailable("as asked")) } else { Ok(()) }
}

/// Returns a toolkit with ten tools of all kinds of arguments, none of which changes anything.
fn toolkit() -> Toolkit {
    let schema = json!({
        "type": "object",
        "properties": {
            "limit": { "type": "integer", "minimum": 1, "maximum": 10, "default": 5 },
            "node": { "$ref": "#/$defs/Node" },
        },
        "$defs": { "Node": { "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } } } },
    });
    let dynamic =
        Tool::builder("walk").description("Walks.").group("nested").read_only().input_schema(schema);
    Toolkit::empty()
        .tools([tool_ref!(nothing), tool_ref!(add), tool_ref!(half), tool_ref!(repeat), tool_ref!(paint)])
        .tools([tool_ref!(measure), tool_ref!(count_tree), tool_ref!(count_words), tool_ref!(fail)])
        .tool(dynamic.build(|_, _| async { "walked" }).unwrap())
        .build()
        .unwrap()
}

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools").canonicalize().unwrap()
}

async fn run(program: &str, arguments: &[&str], directory: &Path) -> Output {
    let tools = tools();
    // The packages of Node begin with a line that looks for `node`.
    let path = std::env::join_paths(
        std::iter::once(tools.join("python/bin"))
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut command = tokio::process::Command::new(tools.join(program));
    command.args(arguments).current_dir(directory).env("PATH", path.unwrap()).env_remove("FORCE_COLOR");
    command
        .env("REDOCLY_TELEMETRY", "off")
        .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true")
        .env("HOME", directory);
    command.kill_on_drop(true).output().await.unwrap()
}

fn assert_success(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
}

/// Writes the description to a file of a new directory.
async fn described() -> (tempfile::TempDir, Value) {
    let server = Server::start(toolkit()).await;
    let document = server.get("/v1/openapi.json").await.result();
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("openapi.json"), document.to_string()).unwrap();
    (directory, document)
}

#[tokio::test]
#[ignore = "needs Python packages and Node packages: cargo xtask test"]
async fn the_description_is_valid_for_two_validators() {
    let (directory, _) = described().await;
    let validated = run("python/bin/openapi-spec-validator", &["openapi.json"], directory.path()).await;
    assert_success(&validated);
    let extends = "node_modules/.bin/redocly";
    let linted = run(extends, &["lint", "openapi.json", "--extends", "minimal"], directory.path()).await;
    assert_success(&linted);
}

#[tokio::test]
#[ignore = "needs Node packages: cargo xtask test"]
async fn a_generated_client_compiles_and_refuses_wrong_arguments() {
    let (directory, _) = described().await;
    let generate = &["openapi.json", "--output", "api.ts"];
    assert_success(&run("node_modules/.bin/openapi-typescript", generate, directory.path()).await);
    let program = |arguments: &str| {
        format!(
            "import type {{ paths }} from \"./api\";\n\
             type Call = paths[\"/v1/tools/add/call\"][\"post\"];\n\
             type Body = NonNullable<Call[\"requestBody\"]>[\"content\"][\"application/json\"];\n\
             type Result = Call[\"responses\"][200][\"content\"][\"application/json\"];\n\
             const body: Body = {arguments};\n\
             export const failed = (result: Result): boolean => result.isError;\n\
             export default body;\n"
        )
    };
    let compile = &["--noEmit", "--strict", "client.ts"];
    for (arguments, compiles) in
        [("{ a: 1, b: 2 }", true), ("{ a: \"1\", b: 2 }", false), ("{ a: 1 }", false)]
    {
        std::fs::write(directory.path().join("client.ts"), program(arguments)).unwrap();
        let output = run("node_modules/.bin/tsc", compile, directory.path()).await;
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.success(), compiles, "{arguments}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Python packages: cargo xtask test"]
async fn generated_requests_find_no_answer_outside_the_description() {
    let server = Server::start(toolkit()).await;
    let directory = tempfile::tempdir().unwrap();
    let address = format!("http://{}/v1/openapi.json", server.address);
    let token = format!("Authorization: Bearer {TOKEN}");
    let checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance";
    let arguments = [
        "run",
        &address,
        "--header",
        &token,
        "--checks",
        checks,
        "--phases",
        "examples,coverage,fuzzing",
        "--max-examples",
        EXAMPLES,
        "--seed",
        "1",
        "--generation-deterministic",
        "--no-color",
        "--suppress-health-check",
        "all",
        "--warnings",
        "off",
        "--continue-on-failure",
    ];
    let output = run("python/bin/schemathesis", &arguments, directory.path()).await;
    assert_success(&output);
    let metrics = server.get("/metrics").await.text;
    for tool in
        ["nothing", "add", "half", "repeat", "paint", "measure", "count_tree", "count_words", "fail", "walk"]
    {
        assert!(metrics.contains(&format!("toolkit_web_calls_total{{tool=\"{tool}\"")), "{tool}\n{metrics}");
    }
}
