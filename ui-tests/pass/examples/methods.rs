//! Methods that are tools: with state, without, borrowed arguments, the context, `Self` in types, and two types with methods of one name.

use std::sync::Mutex;
use toolkit::prelude::*;

#[toolkit::args]
struct Entry {
    /// The text.
    text: String,
}

struct Notes(Mutex<Vec<String>>);

#[toolkit::tools]
impl Notes {
    /// The longest list.
    const MAX: usize = 100;

    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Keeps notes.
    #[tool(name = "keep", auto_execute)]
    async fn keep(
        &self,
        ctx: &ToolContext,
        /** The notes. */
        #[arg(length(1..=3))]
        entries: Vec<Entry>,
        /** A mark before each. */
        mark: Option<&str>,
    ) -> Result<String, ToolError> {
        assert_eq!(ctx.tool_name(), "keep");
        let mut notes = self.0.lock().unwrap();
        if notes.len() + entries.len() > Self::MAX {
            return Err(ToolError::failed("the list is full"));
        }
        notes.extend(entries.into_iter().map(|entry| format!("{}{}", mark.unwrap_or_default(), entry.text)));
        Ok(notes.join(", "))
    }

    /// Counts the notes.
    #[tool(name = "count", read_only)]
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Describes the list.
    #[tool(name = "limits", read_only)]
    fn limits() -> String {
        format!("at most {} notes", Self::MAX)
    }

    #[cfg(any())]
    /// Not compiled.
    #[tool(name = "gone")]
    fn gone(&self, nothing: Missing) -> Missing {}
}

struct Letters;

#[toolkit::tools]
impl Letters {
    /// Counts the letters of a text.
    #[tool(name = "letters", read_only)]
    fn count(
        &self,
        /** The text. */
        text: &str,
    ) -> usize {
        text.chars().count()
    }
}

fn main() {
    let toolkit = Toolkit::builder().service(Notes::new()).service(Letters).build().unwrap();
    for (name, arguments, expected) in [
        ("keep", r#"{ "entries": [{ "text": "ebb" }, { "text": "flow" }], "mark": "- " }"#, "- ebb, - flow"),
        ("count", "{}", "2"),
        ("limits", "{}", "at most 100 notes"),
        ("letters", r#"{ "text": "tide" }"#, "4"),
    ] {
        assert_eq!(ui_tests::call_in(&toolkit, name, arguments).text(), expected, "{name}");
    }
    assert!(toolkit.tool("gone").is_none());
    // A tool is found by its method, also if another type has a method of this name.
    assert_eq!(toolkit::tool_ref!(Notes::count).name(), "count");
    assert_eq!(toolkit::tool_ref!(Letters::count).name(), "letters");
    assert_eq!(toolkit::tool_ref!(Notes::keep).name(), "keep");
    assert_eq!(toolkit::tool_ref!(Notes::limits).name(), "limits");
    // They are methods as before.
    assert_eq!(Letters.count("ebb"), 3);
    let error = Toolkit::builder().service(Letters).build().unwrap_err();
    assert!(error.to_string().contains("Notes"), "{error}");
}
