//! The command with tools of its own: what the tests of this crate call.
//!
//! Together they have a parameter of every kind, and an outcome of every kind.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::ExitCode;
use toolkit::prelude::*;
use toolkit::{
    Content, ToolErrorKind,
    config::{ConfigOrigin, ConfigOrigins},
    policy::{PolicySettings, ToolPolicy, ToolRules},
};

/// How fast to go.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Speed {
    Slow,
    Fast,
}

/// A place in the plane.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Point {
    /// Across.
    x: f64,
    /// Up.
    y: f64,
}

/// A number of lines, or a word for it.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Amount {
    Number(i64),
    Word(String),
}

/// The depth: true for all levels, or a number of them.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Depth {
    All(bool),
    Levels(i64),
}

/// A tree: its schema refers to itself.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Tree {
    value: i64,
    #[serde(default)]
    children: Vec<Tree>,
}

/// Repeats its arguments as JSON. It is there for tests.
#[expect(clippy::too_many_arguments, reason = "one parameter of each kind")]
#[tool(group = "mirror", read_only, alias = "mirror")]
async fn repeat(
    /// A text.
    #[arg(alias = "words")]
    text: Option<String>,
    /// A number of lines.
    #[arg(range(..=100))]
    line_count: Option<i32>,
    ratio: Option<f64>,
    /// Prints in upper case.
    loud: Option<bool>,
    speed: Option<Speed>,
    /// Labels.
    tags: Option<Vec<String>>,
    numbers: Option<Vec<i64>>,
    grid: Option<Vec<Vec<i64>>>,
    at: Option<Point>,
    path: Option<Vec<Point>>,
    sizes: Option<BTreeMap<String, u32>>,
    amount: Option<Amount>,
    depth: Option<Depth>,
    tree: Option<Tree>,
    anything: Option<Value>,
    #[arg(rename = "camelCase")] camel: Option<String>,
    model: Option<String>,
) -> Result<ToolOutput, ToolError> {
    let all = serde_json::json!({
        "text": text, "line_count": line_count, "ratio": ratio, "loud": loud, "speed": speed, "tags": tags,
        "numbers": numbers, "grid": grid, "at": at, "path": path, "sizes": sizes, "amount": amount, "depth": depth, "tree": tree,
        "anything": anything, "camelCase": camel, "model": model,
    });
    let Value::Object(mut given) = all else { return Err(ToolError::failed("no object")) };
    given.retain(|_, value| !value.is_null());
    Ok(ToolOutput::text(Value::Object(given).to_string()))
}

/// Takes arguments whose names resemble each other, or no flag.
#[tool(group = "mirror", read_only)]
async fn names(
    #[arg(rename = "file_path")] one: Option<i64>,
    #[arg(rename = "file-path")] two: Option<i64>,
    #[arg(rename = "filePath")] three: Option<i64>,
    #[arg(rename = "a-b.c")] four: Option<i64>,
    #[arg(rename = "Help")] five: Option<i64>,
    #[arg(rename = "-x")] six: Option<i64>,
) -> String {
    serde_json::json!([one, two, three, four, five, six]).to_string()
}

/// Writes a greeting.
///
/// It knows whom it greets.
#[tool(group = ["text", "people"], title = "Greet somebody", permission = "talk", idempotent, timeout = "5s")]
fn greet(
    /// Whom to greet.
    #[arg(length(1..20), example = "Ada")]
    name: &str,
    /// How often.
    #[arg(default = 1, range(1..))]
    times: usize,
    /// The word of greeting.
    #[arg(default = "Hello")]
    help: &str,
) -> String {
    vec![format!("{help}, {name}!"); times].join("\n")
}

/// Takes the arguments of a struct.
#[tool(group = "mirror", read_only)]
async fn place(#[args] point: Point) -> Json<Point> {
    Json(point)
}

/// Tells who calls.
#[tool(read_only, deprecated = "use nothing")]
async fn whoami(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(serde_json::to_string(ctx.caller())?)
}

/// The thing to look at.
#[toolkit::args]
#[derive(Debug)]
#[serde(rename_all = "snake_case")]
enum Target {
    /// Everything.
    All,
    /// One place.
    Place {
        /// Its name.
        name: String,
        /// How near, in metres.
        within: Option<u32>,
    },
}

/// Looks at something.
#[tool(group = "mirror", read_only)]
async fn look(
    /// The thing to look at.
    target: Target,
    /// The name of a label, and how often it may stand there at most before it is left out of what is shown.
    label: (String, u8),
    /// From where.
    from: Option<Vec<Point>>,
    /// The address of who looks.
    address: Option<std::net::IpAddr>,
) -> String {
    format!("{target:?} {label:?} {from:?} {address:?}")
}

/// Tells how far it gets, and parts of its answer, also while it asks.
#[tool(asks)]
async fn work(ctx: &ToolContext, ask: Option<bool>) -> Result<&'static str, ToolError> {
    ctx.progress(toolkit::events::Progress::new(1).with_total(2).with_message("half \u{1b}[2Jdone"));
    ctx.partial("one\n");
    if ask == Some(true) {
        // It goes on to tell while the question stands there.
        let telling = async { ctx.partial("while asked\n") };
        let asking = ctx.ask(toolkit::Ask::new("work", "Go on"));
        let (answer, ()) = futures_join(asking, telling).await;
        answer?;
    }
    ctx.partial("two\n");
    Ok("one\ntwo\nthree")
}

/// Waits for both; each is polled whenever either is woken.
async fn futures_join<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    use std::task::Poll;
    let (mut one, mut other) = (std::pin::pin!(one), std::pin::pin!(other));
    let (mut first, mut second) = (None, None);
    std::future::poll_fn(|task| {
        if first.is_none()
            && let Poll::Ready(value) = one.as_mut().poll(task)
        {
            first = Some(value);
        }
        if second.is_none()
            && let Poll::Ready(value) = other.as_mut().poll(task)
        {
            second = Some(value);
        }
        match (first.take(), second.take()) {
            (Some(one), Some(other)) => Poll::Ready((one, other)),
            (one, other) => {
                (first, second) = (one, other);
                Poll::Pending
            }
        }
    })
    .await
}

/// Answers with exactly this text.
#[tool(read_only)]
async fn say(text: String) -> String {
    text
}

/// Draws a picture.
#[tool(read_only)]
async fn draw() -> Image {
    Image::new([0x89, b'P', b'N', b'G', 0, 255], "image/png").with_label("a dot")
}

/// Plays a sound after a picture.
#[tool(read_only)]
async fn blocks() -> Vec<Content> {
    vec![Content::text("first"), Content::audio([1, 2, 3], "audio/wav"), Content::text("last")]
}

/// Ends as it is told to.
#[tool(read_only)]
async fn end(
    /// The kind of error.
    kind: String,
) -> Result<(), ToolError> {
    let kind: ToolErrorKind = serde_json::from_value(kind.into())?;
    Err(ToolError::new(kind, "as you wish"))
}

/// Stops on an internal error.
#[tool(read_only)]
async fn panic() {
    panic!("on purpose");
}

/// Waits until it is cancelled, and says on standard error that it does.
#[tool(read_only)]
async fn wait() {
    announce();
    std::future::pending::<()>().await;
}

/// Waits on a thread that nothing can stop.
#[tool(read_only)]
fn block() {
    announce();
    loop {
        std::thread::park();
    }
}

/// Blocks the thread that it shares with all other tasks.
#[tool(read_only)]
async fn hog() {
    announce();
    loop {
        std::thread::park();
    }
}

fn announce() {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "waiting");
}

/// Counts in lines.
#[tool(read_only)]
async fn lines(count: u32) -> String {
    (1..=count).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n")
}

/// Reads a file.
#[tool(read_only)]
async fn open(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    Ok(std::fs::read_to_string(ctx.resolve(path)?)?)
}

/// Fills a file, with leave.
#[tool(permission = "edit", asks)]
async fn fill(ctx: &ToolContext, path: &Path) -> Result<&'static str, ToolError> {
    std::fs::write(ctx.check_file_access(path, toolkit::approval::Access::Write).await?, "filled")?;
    Ok("filled")
}

/// Puts the site online, with leave.
#[tool]
async fn deploy(ctx: &ToolContext) -> Result<&'static str, ToolError> {
    ctx.ask(toolkit::Ask::new("deploy", "Put the site online").with_pattern("the\tsite")).await?;
    Ok("online")
}

/// The agent `kid` may not repeat, and in a sandbox only the mirror is there.
fn policy() -> ToolPolicy {
    let mut settings = PolicySettings::default();
    settings.agents.insert("kid".to_owned(), ToolRules::default().deny(["mirror"]));
    settings.sandbox = ToolRules::default().allow(["group:mirror"]);
    settings.subagents = ToolRules::default().allow(["greet"]);
    settings.by_provider.insert("acme".to_owned(), ToolRules::default().deny(["greet"]));
    let origin = ConfigOrigin::in_file("toolkit.json5", 3, 30);
    settings.origins = ConfigOrigins::new([("/agents/kid/tools/deny/0".to_owned(), origin)]);
    ToolPolicy::new(settings)
}

fn main() -> ExitCode {
    // Its tests are about the command. What a tool asks by itself is asked all the same.
    let mut toolkit = Toolkit::builder().without_asking_first().policy(policy());
    if std::env::var_os("FIXTURE_IS_BROKEN").is_some() {
        toolkit = toolkit.tool(toolkit::tool_ref!(say).named("Not A Name"));
    }
    toolkit_cli::run(toolkit, std::env::args_os())
}
