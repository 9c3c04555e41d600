//! Valid forms that are near to mistakes which the macros report.
use toolkit::prelude::*;

const KILO: u32 = 1 << 10;
const TEXT: &&str = &"A title";

fn limit() -> u32 {
    5
}

struct Limits;

impl Limits {
    const LIMIT: u32 = 5;
}

/// Returns a number. A function, a constant and a field may be named like a parameter.
#[tool(title = TEXT, icon = if cfg!(unix) { "unix" } else { "other" })]
fn number(
    #[arg(default = limit())] limit: u32,
    #[arg(default = Limits::LIMIT + [limit()].len() as u32)] count: u32,
    #[arg(default = { let limit = 3; limit })] other: u32,
    #[arg(default = "{limit}")] text: String,
    #[arg(range(1..=1 << 20), default = 2)] shifted: u32,
    #[arg(range(1..=2 * KILO), default = 2)] computed: u64,
    #[arg(range(-1..=KILO), default = 2)] float: f64,
    #[arg(length(1..=KILO), default = "a")] long: String,
) -> String {
    format!("{limit}{count}{other}{text}{shifted}{computed}{float}{long}")
}

/// Types named like those without a known size.
mod named {
    use toolkit::prelude::*;

    /// A path in a graph.
    #[toolkit::args]
    pub(super) struct Path {
        /// The nodes.
        pub(super) nodes: Vec<u32>,
    }

    /// A state of the machine.
    #[toolkit::args]
    pub(super) enum State {
        /// It runs.
        On,
        /// It stands still.
        Off,
    }

    /// Returns the length of a path.
    #[tool]
    pub(super) fn length(path: Path, state: State) -> usize {
        match state {
            State::On => path.nodes.len(),
            State::Off => 0,
        }
    }
}

/// A type with a parameter that needs no default.
#[toolkit::args]
struct Page<T> {
    /// The items.
    #[serde(default)]
    items: Vec<T>,
    #[serde(default, rename = "next")]
    following: u32,
    #[arg(range(..=2 * KILO), default = KILO)]
    size: u32,
}

/// Returns the size of a page.
#[tool]
fn size(#[args] page: Page<u32>) -> u32 {
    page.following + page.size + page.items.len() as u32
}

macro_rules! within {
    ($($item:item)*) => {
        $($item)*
    };
}

within! {
    toolkit::link!(core: ui_tests_renamed);
}

fn main() {
    let tools = || {
        /// Returns nothing.
        #[tool]
        fn nothing() {}
        nothing();
    };
    tools();
    let path = named::Path { nodes: vec![1] };
    assert_eq!(named::length(path, named::State::On), 1);
    let toolkit = Toolkit::builder().build().unwrap();
    for name in ["number", "length", "size", "nothing"] {
        assert!(toolkit.tool(name).is_some(), "{name}");
    }
}
