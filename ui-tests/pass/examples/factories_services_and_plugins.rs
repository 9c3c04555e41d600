//! `#[tool_factory]`, `#[service]`, `plugin!` and `Config<T>` in every form.
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{Config, Tool};

toolkit::plugin! { id: "my-plugin", title: TITLE, description: "Has everything.", optional: false, channel: "telegram" }

const TITLE: &str = "Mine";

#[toolkit::args]
struct Settings {
    /// A word.
    #[arg(default = "word")]
    word: String,
}

struct Plain(String);
struct Fallible;
trait Store: Send + Sync {}
impl Store for Fallible {}

#[toolkit::service]
fn plain(settings: Config<Settings>) -> Plain {
    Plain(settings.word.clone())
}

#[toolkit::service]
async fn fallible(plain: &State<Plain>) -> Result<Fallible, std::io::Error> {
    assert!(!plain.0.0.is_empty());
    Ok(Fallible)
}

/// With docs, and private.
#[toolkit::service(crate = ::toolkit)]
#[allow(dead_code)]
async fn shared(_: State<Fallible>) -> Result<Arc<dyn Store>, toolkit::ToolError> {
    Ok(Arc::new(Fallible))
}

#[toolkit::tool_factory]
fn none() -> Option<Tool> {
    None
}

#[toolkit::tool_factory]
async fn one(
    caller: &Caller,
    plain: State<Plain>,
    settings: &Config<Settings>,
) -> Result<Tool, toolkit::descriptor::InvalidTool> {
    let text = format!("{:?} {} {}", caller.agent, plain.0.0, settings.word);
    Tool::builder("one").description("Is one.").build(move |_, _| {
        let text = text.clone();
        async move { text }
    })
}

/// Names like those of the expansion do no harm.
#[tool]
async fn value_0(making: State<Plain>, config: Config<Settings>, store: State<dyn Store>) -> String {
    let _ = store;
    format!("{} {}", making.0.0, config.word)
}

mod inner {
    #[toolkit::tool_factory]
    pub(super) async fn value_0() -> Vec<toolkit::Tool> {
        Vec::new()
    }
}

fn main() {
    let toolkit = Toolkit::builder().without_asking_first().build().unwrap();
    let plugin = &toolkit.plugins()[0];
    assert_eq!((&*plugin.id, plugin.title, plugin.channel), ("my-plugin", Some("Mine"), Some("telegram")));
    assert_eq!(plugin.description, Some("Has everything."));
    assert_eq!(ui_tests::call_in(&toolkit, "one", "{}").text(), "None word word");
    assert_eq!(ui_tests::call_in(&toolkit, "value_0", "{}").text(), "word word");
    // Still ordinary functions.
    assert!(none().is_none() && plain(Config::new(Settings { word: "w".into() })).0 == "w");
    drop(inner::value_0());
}
