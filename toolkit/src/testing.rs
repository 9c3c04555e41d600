//! Helpers for the tests of tool authors; behind the cargo feature `testing`.
//!
//! ```toml
//! [dev-dependencies]
//! toolkit = { version = "0.1", features = ["testing"] }
//! tokio = { version = "1", features = ["macros", "rt"] }
//! ```
//!
//! # Calling a tool
//!
//! A tool's function can be called like any other. [`TestToolbox`] calls it as a model does: with JSON, validated by
//! its schema, in a workspace of its own that is removed afterwards.
//!
//! ```
//! use serde_json::json;
//! use toolkit::prelude::*;
//! use toolkit::testing::TestToolbox;
//! use toolkit::{ToolErrorKind, tool_ref};
//!
//! /// Replaces a text in a file.
//! #[tool]
//! async fn edit(
//!     ctx: &ToolContext,
//!     /// The file.
//!     path: &std::path::Path,
//!     /// What to replace.
//!     #[arg(length(1..))]
//!     old: &str,
//!     /// What to put there.
//!     new: &str,
//! ) -> Result<String, ToolError> {
//!     let file = ctx.resolve(path)?;
//!     let text = std::fs::read_to_string(&file)?;
//!     if !text.contains(old) {
//!         return Err(ToolError::not_found(format!("`{old}` is not in {}", path.display())));
//!     }
//!     std::fs::write(&file, text.replace(old, new))?;
//!     Ok(format!("Edited {}.", path.display()))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() { // #[tokio::test] async fn edits() {
//! let bench = TestToolbox::new(tool_ref!(edit)).file("src/lib.rs", "one two");
//!
//! let call = bench.call(json!({ "path": "src/lib.rs", "old": "two", "new": "2" })).await;
//! assert_eq!(call.text(), "Edited src/lib.rs.");
//! assert_eq!(call.file("src/lib.rs"), "one 2");
//!
//! let call = bench.call(json!({ "path": "src/lib.rs", "old": "", "new": "2" })).await;
//! call.expect_error(ToolErrorKind::InvalidArguments);
//! let call = bench.call(json!({ "path": "../other", "old": "two", "new": "2" })).await;
//! call.expect_error(ToolErrorKind::Denied);
//! # }
//! ```
//!
//! [`TestCall`] has the result, the [events](TestCall::events) and the [questions](TestCall::asks). Add services with
//! [`service`](TestToolbox::service), other tools that the tool calls with [`tool`](TestToolbox::tool), and a time
//! limit or a cancellation token with [`options`](TestToolbox::options).
//!
//! # Answering for a person
//!
//! Every approval that the tool asks for is denied, unless the test provides an approver.
//!
//! ```
//! use serde_json::json;
//! use toolkit::prelude::*;
//! use toolkit::testing::TestToolbox;
//! use toolkit::{Ask, ToolErrorKind, tool_ref, approval::{Answer, ScriptedApprover}};
//!
//! /// Empties the bin.
//! #[tool(destructive)]
//! async fn empty_bin(ctx: &ToolContext) -> Result<String, ToolError> {
//!     ctx.ask(Ask::new("empty", "remove 3 files for good")).await?;
//!     Ok("Emptied.".to_owned())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() { // #[tokio::test] async fn asks_first() {
//! let bench = TestToolbox::new(tool_ref!(empty_bin));
//! bench.call(json!({})).await.expect_error(ToolErrorKind::Denied);
//!
//! let bench = TestToolbox::new(tool_ref!(empty_bin)).approve(ScriptedApprover::new([Answer::allow()]));
//! let call = bench.call(json!({})).await;
//! assert_eq!(call.text(), "Emptied.");
//! assert!(call.asks[0].to_text().contains("remove 3 files for good"));
//! # }
//! ```
//!
//! # Keeping the definition
//!
//! The definition that a model sees is an interface: keep it in a file, so that a change shows in review.
//!
//! ```no_run
//! # use toolkit::prelude::*;
//! # /// Edits.
//! # #[tool]
//! # async fn edit() {}
//! use toolkit::testing::Snapshot;
//! use toolkit::tool_ref;
//!
//! # fn main() -> Result<(), ToolError> { // #[test] fn the_definition_of_edit() -> Result<(), ToolError> {
//! Snapshot::of(&tool_ref!(edit))?.assert_matches("tests/snapshots/edit.json");
//! # Ok(()) }
//! ```
//!
//! `UPDATE_SNAPSHOTS=1 cargo test` writes the files. If `CI` is set, nothing is ever written.
//!
//! # Compatibility
//!
//! A model may know an older definition, from earlier in its conversation or from its training; so does every recorded
//! call. [`compatibility`] reports what a new definition breaks for them, and a test can compare a tool with its
//! released definition:
//!
//! ```
//! # use toolkit::prelude::*;
//! use toolkit::testing::{Severity, Snapshot, compatibility};
//! use toolkit::tool_ref;
//!
//! /// Finds files.
//! #[tool(read_only)]
//! async fn find(
//!     /// What to look for.
//!     #[arg(alias = "glob")]
//!     pattern: String,
//!     /// How many to return.
//!     #[arg(default = 100, range(1..=1000))]
//!     limit: u32,
//! ) {}
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("find.json");
//! # let mut old = Snapshot::of(&tool_ref!(find)).unwrap();
//! # old.parameter_aliases.clear();
//! # old.input_schema["properties"] = serde_json::json!({
//! #     "glob": old.input_schema["properties"]["pattern"], "limit": old.input_schema["properties"]["limit"] });
//! # old.input_schema["properties"]["limit"]["maximum"] = 2000.into();
//! # old.input_schema["required"] = serde_json::json!(["glob"]);
//! # old.write(&path)?;
//! let released = Snapshot::read(path)?; // "tests/released/find.json"
//! let changes = compatibility(&released, &Snapshot::of(&tool_ref!(find)).unwrap());
//! let broken: Vec<String> =
//!     changes.iter().filter(|change| change.severity >= Severity::MayBreak).map(ToString::to_string).collect();
//! assert_eq!(
//!     broken,
//!     ["breaking: `limit` no longer takes integers above 1000 (/inputSchema/properties/limit/maximum)"]
//! );
//! # Ok(()) }
//! ```

mod call;
mod compare;
mod compatibility;
mod diff;
mod place;
mod recorded;
mod snapshot;
mod toolbox;

pub use crate::file_access::own_path_resolutions;
pub use crate::files::{FileSystems, at_fault_points, take_file_systems_for};
#[doc(hidden)]
pub use call::AsErrorKind;
pub use call::{Calling, TestCall};
pub use compare::Update;
pub use compatibility::{Change, Severity, compatibility};
pub use place::TestWorkspace;
#[doc(hidden)]
pub use recorded::AsAnswers;
pub use snapshot::{Snapshot, SnapshotError};
pub use toolbox::TestToolbox;
