//! A plugin that defines tools without the runtime: it uses each kind of definition. Its host has the runtime.

use toolkit::config::Secret;
use toolkit::prelude::*;
use toolkit::{Ask, Config, approval::AskDetail};

toolkit::plugin! { id: "lean", title: "Lean" }
toolkit::permission_keys!["tidy"];

/// The settings of the plugin.
#[toolkit::args]
struct Settings {
    /// The word that each answer begins with.
    #[arg(default = "tidied")]
    word: String,
    /// A key, if there is one.
    key: Option<Secret>,
}

/// Something that the tools share.
struct Shelf {
    word: String,
    has_key: bool,
}

#[toolkit::service]
fn shelf(config: &Config<Settings>) -> Shelf {
    Shelf { word: config.word.clone(), has_key: config.key.is_some() }
}

/// A thing to put away.
#[toolkit::args]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Thing {
    /// A book.
    Book {
        /// Its title.
        #[arg(length(1..=80), pattern = "^[A-Z]")]
        title: String,
    },
    /// Some cups.
    Cups {
        /// How many.
        #[arg(range(1..=12))]
        count: u8,
    },
}

/// Puts a thing away.
#[tool(group = "home", asks, timeout = "30s")]
async fn tidy(
    ctx: &ToolContext,
    shelf: State<Shelf>,
    /** The thing. */
    thing: Thing,
) -> Result<String, ToolError> {
    let what = match thing {
        Thing::Book { title } => format!("the book {title}"),
        Thing::Cups { count } => format!("{count} cups"),
    };
    let detail = AskDetail::Text { label: "thing".to_owned(), value: what.clone() };
    ctx.ask(Ask::new("tidy", format!("Put {what} away")).with_detail(detail)).await?;
    ctx.set_title(&what);
    let key = if shelf.has_key { " with a key" } else { "" };
    Ok(format!("{} {what}{key}", shelf.word))
}

struct Drawer {
    things: usize,
}

#[toolkit::tools]
impl Drawer {
    /// Counts what is in the drawer.
    #[tool(read_only)]
    fn count_drawer(&self) -> usize {
        self.things
    }
}

#[toolkit::service]
fn drawer() -> Drawer {
    Drawer { things: 0 }
}

/// Another name of a tool, for callers that are agents.
#[toolkit::tool_factory]
fn of_agent(caller: &Caller) -> Option<Tool> {
    caller.agent.is_some().then(|| toolkit::tool_ref!(tidy).named("tidy_room"))
}
