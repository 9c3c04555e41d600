//! Return types that hold a type whose name tells nothing, among them types named like those of this crate.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use toolkit::output::IntoToolOutput;
use toolkit::prelude::*;

#[toolkit::args]
struct Row {
    id: u32,
}

/// Text, and no JSON.
struct Page(&'static str);

impl IntoToolOutput for Page {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self.0.into())
    }
}

struct Opaque;

mod web {
    use super::*;

    pub struct Json<T>(pub T);

    impl<T> IntoToolOutput for Json<T> {
        fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
            drop(self.0);
            Ok("web".into())
        }
    }
}

#[derive(Debug)]
struct Fault;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fault")
    }
}

impl std::error::Error for Fault {}

type Block = Content;

macro_rules! returns {
    ($($name:ident: $ty:ty = $value:expr;)*) => {
        $(
            /// Returns it.
            #[tool(read_only)]
            async fn $name() -> $ty {
                $value
            }
        )*

        fn tools() -> Vec<Tool> {
            vec![$(tool_ref!($name)),*]
        }
    };
}

returns! {
    maybe_list: Option<Vec<Row>> = Some(vec![Row { id: 1 }]);
    list_or_text: Result<Vec<Row>, String> = Err("text".into());
    list_or_error: Result<Vec<Row>, Fault> = Err(Fault);
    list_or_tool_error: Result<Option<Row>, ToolError> = Ok(None);
    list_of_maybe: Vec<Option<Row>> = vec![None];
    pairs: Json<Vec<(u32, Row)>> = Json(vec![(1, Row { id: 2 })]);
    map: HashMap<String, Row> = HashMap::new();
    sorted: Option<BTreeMap<String, Row>> = None;
    page: Option<Page> = Some(Page("page"));
    fallible_page: Result<Option<Page>, Box<dyn std::error::Error + Send + Sync>> = Ok(None);
    blocks: Vec<Block> = vec!["a".into()];
    fallible_blocks: Result<Vec<Block>, ToolError> = Ok(vec![]);
    other: web::Json<Opaque> = web::Json(Opaque);
    fallible_other: Result<web::Json<Opaque>, String> = Ok(web::Json(Opaque));
}

fn main() {
    let toolkit = Toolkit::empty().tools(tools()).build().expect("the tools are valid");
    let has_schema = |name: &str| toolkit.tool(name).is_some_and(|tool| tool.output_schema().is_some());
    assert!(
        ["maybe_list", "list_or_text", "list_or_error", "pairs", "map", "sorted"]
            .iter()
            .all(|name| has_schema(name))
    );
    assert!(!["page", "blocks", "other", "fallible_other"].iter().any(|name| has_schema(name)));
}
