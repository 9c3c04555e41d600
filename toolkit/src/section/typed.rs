//! Typed access to a section of the configuration.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use toolkit_core::arg::ToolArg;

/// A section of the configuration, as a tool's parameter.
///
/// A tool gets `tools.settings.<tool>`, beside `enabled` and `autoExecute`. A [service](macro@crate::service) and a [tool
/// factory](macro@crate::tool_factory) get `plugins.<id>` of their plugin, beside `enabled` and `joinGroups`. An absent
/// section is read from `{}`, so give each field a default or make it an `Option`. An invalid section fails when the host
/// loads the configuration; a reference to a missing variable or file makes the section unavailable.
///
/// ```standalone_crate
/// use toolkit::prelude::*;
/// use toolkit::{Config, config::{Configuration, LoadOptions}};
///
/// #[toolkit::args]
/// struct Greeting {
///     /// The word to greet with.
///     #[arg(default = "Hello")]
///     word: String,
/// }
///
/// /// Greets somebody.
/// #[tool(read_only)]
/// async fn greet(config: Config<Greeting>, /** Whom. */ name: String) -> String {
///     format!("{}, {name}!", config.word)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Still an ordinary function:
/// assert_eq!(greet(Config::new(Greeting { word: "Hi".into() }), "Ada".into()).await, "Hi, Ada!");
///
/// let configuration = Configuration::load(LoadOptions::new().set("tools.settings.greet.word=Ahoy"))?;
/// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(greet)).configuration(configuration).build()?;
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// assert_eq!(toolbox.call(ToolCall::new("1", "greet", r#"{ "name": "Ada" }"#)).await.text(), "Ahoy, Ada!");
/// # Ok(()) }
/// ```
pub struct Config<T>(pub Arc<T>);

impl<T> Config<T> {
    /// Creates a section from a value, for tests.
    pub fn new(config: T) -> Self {
        Self(Arc::new(config))
    }
}

impl<T> Deref for Config<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for Config<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Config<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Config").field(&&*self.0).finish()
    }
}

/// A type that a section of the configuration can have: it is read from JSON and can be shared between threads.
#[diagnostic::on_unimplemented(
    message = "`Config<{Self}>` cannot be read from the configuration",
    label = "not a type that is read from JSON and shared by all threads",
    note = "on a type of your own, put `#[toolkit::args]`, also on the types within it"
)]
pub trait Configured: ToolArg + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: ToolArg + Send + Sync + 'static> Configured for T {}
