//! Tools that answer with the arguments that they got.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use toolkit::prelude::*;
use toolkit::{Tool, tool_ref};

/// How to search.
#[toolkit::args]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// As words.
    Plain,
    /// As a regular expression.
    Regex,
    /// Whole words.
    WholeWord,
}

#[toolkit::args]
pub(crate) struct Read {
    /// The file.
    #[arg(alias = "path")]
    file_path: String,
    /// The first line.
    #[arg(default = 1, range(1..))]
    offset: u64,
    /// How many lines.
    #[arg(range(1..=2000))]
    limit: Option<u32>,
}

#[toolkit::args]
pub(crate) struct Search {
    /// The text to search for.
    #[arg(length(1..=80))]
    query: String,
    /// Where.
    paths: Option<Vec<String>>,
    #[arg(range(1..=50))]
    max_results: Option<u8>,
    case_sensitive: Option<bool>,
    mode: Option<Mode>,
    since: Option<i64>,
}

#[toolkit::args]
pub(crate) struct Measure {
    value: f64,
    #[arg(default)]
    samples: Vec<f64>,
    #[arg(range(0.0..1.0))]
    ratio: Option<f64>,
    counts: Option<[u8; 2]>,
}

#[toolkit::args]
pub(crate) struct ListFiles {
    depth: Option<u8>,
    hidden: Option<bool>,
}

#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub(crate) struct Limits {
    max_retries: u8,
    dry_run: Option<bool>,
}

#[toolkit::args]
pub(crate) struct Configure {
    verbose: bool,
    limits: Option<Limits>,
    labels: Option<BTreeMap<String, i64>>,
    #[arg(default)]
    steps: Vec<Limits>,
}

#[toolkit::args]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Shape {
    Circle {
        #[arg(range(0.0..))]
        radius: f64,
    },
    Rect {
        width: u32,
        height: u32,
    },
}

#[toolkit::args]
pub(crate) struct Draw {
    shapes: Vec<Shape>,
    background: Option<Shape>,
}

#[toolkit::args]
pub(crate) struct Edit {
    old_text: String,
    new_text: String,
    replace_all: Option<bool>,
}

#[toolkit::args]
pub(crate) struct EditFile {
    file_path: String,
    edits: Vec<Edit>,
}

#[toolkit::args]
#[serde(untagged)]
pub(crate) enum Target {
    User { user_id: u64 },
    Channel { channel: String },
}

#[toolkit::args]
pub(crate) struct Send {
    target: Target,
    body: String,
    #[arg(secret)]
    token: Option<u32>,
}

#[toolkit::args]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(i64),
    Many(Vec<i64>),
}

#[toolkit::args]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    Start { delay: u8 },
    SetSpeed(i64),
    Stop,
}

#[toolkit::args]
#[serde(tag = "type", content = "data")]
pub(crate) enum Event {
    Key(String),
    Click { x: i32, y: i32 },
}

#[toolkit::args]
pub(crate) struct Store {
    ids: Option<OneOrMany>,
    rows: Option<Vec<Vec<i64>>>,
    points: Option<Vec<[f64; 2]>>,
    tags: Option<BTreeSet<String>>,
    pair: Option<(i64, String)>,
    letter: Option<char>,
    any: Option<Value>,
    action: Option<Action>,
    event: Option<Event>,
}

#[toolkit::args]
pub(crate) struct Tree {
    name: String,
    #[arg(default)]
    children: Vec<Tree>,
}

#[toolkit::args(allow_unknown_fields)]
pub(crate) struct Open {
    user_name: String,
    age: Option<u8>,
}

/// Answers at once.
#[tool(read_only)]
async fn ping() -> &'static str {
    "{}"
}

macro_rules! echo {
    ($($name:ident: $type:ty),* $(,)?) => {
        $(
            /// Answers with what it got.
            #[tool(read_only)]
            async fn $name(#[args] all: $type) -> String {
                without_nulls(serde_json::to_value(&all).unwrap()).to_string()
            }
        )*

        pub(crate) fn all() -> Vec<Tool> {
            vec![tool_ref!(ping), $(tool_ref!($name)),*]
        }
    };
}

echo!(
    read: Read, search: Search, measure: Measure, list_files: ListFiles, configure: Configure, draw: Draw,
    edit_file: EditFile, send: Send, store: Store, tree: Tree, open: Open,
);

/// An absent argument is not shown.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, member)| !member.is_null());
            members.map(|(name, member)| (name, without_nulls(member))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
