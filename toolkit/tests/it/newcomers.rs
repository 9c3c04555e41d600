//! Mistakes of a first program: each error says what to write instead.

use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use toolkit::config::{Configuration, LoadOptions};
use toolkit::prelude::*;
use toolkit::testing::TestToolbox;
use toolkit::{ToolErrorKind, tool_ref};

/// Greets somebody.
#[tool(read_only)]
async fn greet_newcomer(
    /// The name.
    name: String,
    /// The number of greetings.
    count: u32,
) -> Result<String, ToolError> {
    if count == 0 {
        return Err(ToolError::invalid_arguments("`count` must be 1 or more"));
    }
    Ok(format!("Hello, {name}!"))
}

struct Ledger;

/// Takes a service while it runs.
#[tool(read_only)]
async fn take_ledger(ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.require_service::<Ledger>().map(|_| "taken".to_owned())
}

#[toolkit::args]
struct Account {
    /// The key.
    key: String,
}

/// Needs a section.
#[tool(read_only)]
async fn open_account(config: Config<Account>) -> String {
    config.key.clone()
}

struct Archive;

#[toolkit::service]
fn newcomers_archive() -> Archive {
    Archive
}

/// Takes a service that a function makes.
#[tool(read_only)]
async fn open_archive(_archive: State<Archive>) {}

async fn call(toolkit: &Toolkit, call: ToolCall) -> toolkit::ToolResult {
    toolkit.toolbox(&Caller::new()).await.call(call).await
}

/// Returns the file and the message of a panic on this thread.
fn panic_of(action: impl FnOnce()) -> (String, String) {
    let thread = std::thread::current().id();
    let (sender, panics) = std::sync::mpsc::channel();
    let before = Arc::new(std::panic::take_hook());
    let others = Arc::clone(&before);
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() != thread {
            return others(panic);
        }
        let file = panic.location().map(|place| place.file().to_owned()).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or_default().to_owned();
        drop(sender.send((file, message)));
    }));
    let caught = catch_unwind(AssertUnwindSafe(action));
    std::panic::set_hook(Box::new(move |panic| before(panic)));
    assert!(caught.is_err(), "the action panics");
    panics.try_recv().expect("the hook saw the panic")
}

async fn failure(toolkit: &Toolkit, made: ToolCall) -> (ToolErrorKind, String) {
    let result = call(toolkit, made).await;
    let error = result.error().expect("the call fails");
    (error.kind(), error.message().to_owned())
}

fn greeter() -> Toolkit {
    Toolkit::empty().tool(tool_ref!(greet_newcomer)).build().expect("a toolkit")
}

#[tokio::test]
async fn a_text_is_an_error_of_invalid_arguments() {
    let made = ToolCall::new("1", "greet_newcomer", json!({ "name": "Ada", "count": 0 }));
    let (kind, message) = failure(&greeter(), made).await;
    assert_eq!(kind, ToolErrorKind::InvalidArguments);
    assert_eq!(message, "`count` must be 1 or more");
}

#[tokio::test]
async fn a_call_whose_id_and_name_are_swapped_is_told_the_order() {
    let toolkit = greeter();
    let (kind, message) = failure(&toolkit, ToolCall::new("greet_newcomer", "call_1", "{}")).await;
    assert_eq!(kind, ToolErrorKind::UnknownTool);
    let order = "the id of this call, `greet_newcomer`, is the name of a tool: the order is `ToolCall::new(id, name, arguments)`";
    assert!(message.ends_with(order), "{message}");
    let (_, message) = failure(&toolkit, ToolCall::new("call_1", "call_2", "{}")).await;
    assert!(!message.contains("the order is"), "{message}");
}

#[tokio::test]
async fn a_toolkit_without_the_linked_tools_says_how_to_begin_with_them() {
    let empty = Toolkit::empty().build().expect("a toolkit");
    let (_, message) = failure(&empty, ToolCall::new("1", "greet_newcomer", "{}")).await;
    let way = "`Toolkit::empty()` begins without those that are linked, `Toolkit::builder()` with them";
    assert!(message.contains(way), "{message}");
    let (_, message) = failure(&greeter(), ToolCall::new("1", "unlike_any_other", "{}")).await;
    assert!(!message.contains("Toolkit::empty()"), "{message}");
}

#[tokio::test]
async fn a_service_that_is_not_there_is_named_with_the_way_to_it() {
    let toolkit = Toolkit::empty().tool(tool_ref!(take_ledger)).build().expect("a toolkit");
    let (kind, message) = failure(&toolkit, ToolCall::new("1", "take_ledger", "{}")).await;
    assert_eq!(kind, ToolErrorKind::Unavailable);
    assert!(message.contains("newcomers::Ledger`, which the host does not provide"), "{message}");
    assert!(message.contains("only for tools that take it as a parameter, `State<..>`"), "{message}");
    let toolkit = Toolkit::empty().tool(tool_ref!(take_ledger)).service(Ledger).build().expect("a toolkit");
    assert_eq!(call(&toolkit, ToolCall::new("1", "take_ledger", "{}")).await.text(), "taken");
}

#[test]
fn a_toolkit_without_the_linked_tools_names_the_function_that_it_leaves_out() {
    let error = Toolkit::empty().tool(tool_ref!(open_archive)).build().expect_err("no service").to_string();
    for part in [
        "newcomers::Archive>`, which is not provided: `Toolkit::empty()` leaves out the function `newcomers_archive` (",
        "), which makes it; begin with `Toolkit::builder()`, or call `.service(value)` on the toolkit's builder",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(Toolkit::empty().tool(tool_ref!(open_archive)).service(Archive).build().is_ok());
}

#[test]
fn a_test_without_the_service_of_its_tool_panics_in_the_test() {
    let bench = TestToolbox::new(tool_ref!(open_archive));
    let (place, message) = panic_of(|| drop(bench.call(json!({}))));
    assert!(place.ends_with("newcomers.rs"), "{place}");
    let way = "), which makes it; call `.service(value)` on the `TestToolbox`";
    assert!(message.contains("a `TestToolbox` leaves out the function `newcomers_archive` ("), "{message}");
    assert!(message.contains(way), "{message}");
    assert_eq!(panic_of(|| drop(bench.toolbox())), (place, message));
}

#[test]
fn the_settings_of_a_tool_below_tools_are_shown_their_place() {
    for set in ["tools.greet_newcomer={}", "tools.greet_newcomer.word=Hi"] {
        let error = Configuration::load(LoadOptions::new().set(set)).expect_err("an unknown key");
        let place = "the settings of a tool are in `tools.settings.greet_newcomer`";
        assert!(error.to_string().contains(place), "{set}: {error}");
    }
}

/// A value of the command line elsewhere is not the origin of what is absent.
#[tokio::test]
async fn an_absent_section_is_named_as_absent_and_without_the_source_of_another() {
    for set in ["tools.settings.other.enabled=false", "loopGuard.tell=3"] {
        let configuration = Configuration::load(LoadOptions::new().set(set)).expect("a configuration");
        let error = configuration.section::<Account>("plugins.bank").map(|_| ()).expect_err("no section");
        let told = error.to_string();
        assert!(told.contains("plugins.bank: the section is not configured: "), "{set}: {told}");
        assert!(!told.contains("--set"), "{set}: {told}");
    }
    let configuration = Configuration::load(LoadOptions::new().set("tools.settings.other.enabled=false"));
    let configuration = configuration.expect("a configuration");
    let toolkit = Toolkit::empty().tool(tool_ref!(open_account)).configuration(configuration).build();
    let made = ToolCall::new("1", "open_account", "{}");
    let (_, message) = failure(&toolkit.expect("a toolkit"), made).await;
    assert!(message.contains("tools.settings.open_account: the section is not configured"), "{message}");
    assert!(!message.contains("--set"), "{message}");
}

/// Draws a point, as messages of MCP have it.
#[tool(read_only)]
async fn draw_as_base64() -> Image {
    Image::new(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
        "image/png",
    )
}

#[tokio::test]
async fn a_picture_as_base64_fails_with_what_to_return() {
    let toolkit = Toolkit::empty().tool(tool_ref!(draw_as_base64)).build().unwrap();
    let (kind, message) = failure(&toolkit, ToolCall::new("1", "draw_as_base64", ())).await;
    assert_eq!(kind, ToolErrorKind::Failed);
    assert!(message.contains("the bytes of the file"), "{message}");
}

struct Words(&'static str);

/// Returns the first word.
#[tool(read_only)]
async fn first_of(words: State<Words>) -> &'static str {
    words.0.0.split(' ').next().unwrap_or_default()
}

#[tokio::test]
async fn a_function_with_a_service_is_called_directly() {
    assert_eq!(first_of(State::new(Words("one two"))).await, "one");
    assert_eq!(first_of(Words("three four").into()).await, "three");
    assert_eq!(first_of(Arc::new(Words("five six")).into()).await, "five");
}

/// Writes lines.
#[tool(read_only)]
async fn write_lines(ctx: &ToolContext) -> Result<(), ToolError> {
    let mut output = ctx.output();
    output.write_all(b"one\n").await?;
    ctx.output().write_all(format!("{}\n", "two").as_bytes()).await?;
    Ok(())
}

#[tokio::test]
async fn output_is_written_without_an_import() {
    let toolkit = Toolkit::empty().tool(tool_ref!(write_lines)).build().unwrap();
    let result = call(&toolkit, ToolCall::new("1", "write_lines", ())).await;
    assert!(result.text().starts_with("one\ntwo\n"), "{result}");
}
