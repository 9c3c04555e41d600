//! The common code of the programs: each prints the diagnostics of its toolkit, lists the tools that are linked, and calls `greet`.

use std::error::Error;
use toolkit::prelude::*;

/// The output of the program that links `second`.
pub const LINKED: &str = "double\ngreet\nHELLO, Ada\n";

/// A part of what the program prints that does not.
pub const UNLINKED: &str = "no tool `greet`";

/// The line that it begins with.
pub const NOTHING_LINKED: &str = "warning: no tools are linked into this program: the linker leaves out a dependency that no code mentions; name the crates that bring tools in `toolkit::link!(my_tools)`, or add tools with `.tool(..)`\n";

/// Prints the diagnostics and the names of all linked tools, a line each, and then what `greet` answers.
///
/// # Errors
///
/// If the toolkit or its runtime cannot be built.
#[expect(clippy::print_stdout, reason = "the tests read it")]
pub fn list_and_greet() -> Result<(), Box<dyn Error>> {
    let toolkit = Toolkit::builder().build()?;
    for diagnostic in toolkit.diagnostics() {
        println!("{diagnostic}");
    }
    tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        for definition in toolbox.definitions() {
            println!("{}", definition.name);
        }
        let call = ToolCall::new("call_1", "greet", r#"{ "name": "Ada", "tone": "loud" }"#);
        println!("{}", toolbox.call(call).await.text());
    });
    Ok(())
}
