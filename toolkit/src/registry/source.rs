//! Tools that come from elsewhere once they are needed.

use super::{Inner, Toolkit};
use crate::escape::escape_line;
use crate::guard::guard;
use crate::toolbox;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Weak};

/// When what may have come has come.
pub type Bringing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Brings tools from elsewhere, such as those of a server, when somebody first needs them.
///
/// ```
/// use std::sync::Once;
/// use toolkit::prelude::*;
/// use toolkit::{Bringing, Source, Tool, ToolSource};
///
/// #[derive(Debug)]
/// struct Clock(Once);
///
/// impl ToolSource for Clock {
///     fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> Bringing<'a> {
///         Box::pin(async {
///             self.0.call_once(|| {
///                 let now = Tool::builder("clock__now").description("Tells the time.").read_only();
///                 let tools = now.build(|_, _| async { "noon" }).into_iter();
///                 for error in toolkit.replace_source(&Source::mcp("clock"), tools) {
///                     eprintln!("{error}");
///                 }
///             });
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::empty().tool_source(Clock(Once::new())).build()?;
/// assert!(toolkit.tool("clock__now").is_none());
/// assert!(toolkit.toolbox(&Caller::new()).await.tool("clock__now").is_some());
/// # Ok(()) }
/// ```
pub trait ToolSource: fmt::Debug + Send + Sync + 'static {
    /// Registers the tools with [`Toolkit::replace_source`] or [`Toolkit::register`], and comes back once they are there, or once
    /// it is clear that they will take long. It is called before each toolbox is made, by any number of tasks at once; what was
    /// brought before need not be brought again.
    ///
    /// All sources are waited for together, no longer than [`Builder::prepare_timeout`](crate::Builder::prepare_timeout). What comes
    /// later is in later toolboxes, so let a task of its own do what may take longer. To keep the toolkit there, take a
    /// [`WeakToolkit`]: the toolkit owns its sources.
    fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> Bringing<'a>;

    /// The names that rules of `permission` may have as their key for tools that it may bring, such as `mcp:docs` and
    /// `docs__*`. A configured key that means nothing is an error; nothing needs to be started for it.
    fn permission_keys(&self) -> Vec<String> {
        Vec::new()
    }

    /// Why no tool of this name is there, where it would be one of this source's: its server cannot be reached, say, or its definition
    /// cannot be used. As a clause: "the MCP server `docs` cannot be reached: …". `None` where the name is none of this source's.
    ///
    /// It is asked when a call names a tool that is not there, and must not block.
    fn absence(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
}

impl<T: ToolSource + ?Sized> ToolSource for Arc<T> {
    fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> Bringing<'a> {
        (**self).bring(toolkit)
    }

    fn permission_keys(&self) -> Vec<String> {
        (**self).permission_keys()
    }

    fn absence(&self, name: &str) -> Option<String> {
        (**self).absence(name)
    }
}

/// A toolkit that is not kept alive by this. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WeakToolkit(Weak<Inner>);

impl WeakToolkit {
    /// The toolkit, as long as somebody has it.
    pub fn upgrade(&self) -> Option<Toolkit> {
        self.0.upgrade().map(Toolkit)
    }
}

impl Toolkit {
    /// The same toolkit, without keeping it alive: for what it owns, or what outlives it.
    pub fn downgrade(&self) -> WeakToolkit {
        WeakToolkit(Arc::downgrade(&self.0))
    }

    /// Lets every source bring its tools.
    pub(super) async fn brought(&self) {
        let Inner { sources, settings, .. } = &*self.0;
        if !sources.is_empty() {
            let bringing = sources.iter().map(|source| async { source.bring(self).await });
            toolbox::all_within(bringing, settings.prepare_timeout).await;
        }
    }
}

impl Inner {
    /// Why no tool of this name is there, if a source knows. One that panics knows nothing.
    pub(crate) fn absence(&self, name: &str) -> Option<String> {
        let why = self.sources.iter().find_map(|source| guard(name, || source.absence(name)).ok().flatten());
        why.map(|why| escape_line(&why).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Caller, Source, Tool};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// Brings a tool after so many milliseconds.
    #[derive(Debug)]
    struct After(u64, &'static str, AtomicU32);

    impl ToolSource for After {
        fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> Bringing<'a> {
            Box::pin(async move {
                let Self(after, name, called) = self;
                if called.fetch_add(1, Ordering::Relaxed) == 0 {
                    assert_ne!(*name, "panics");
                    tokio::time::sleep(Duration::from_millis(*after)).await;
                    let tool = Tool::builder(*name).build(|_, _| async { "" }).unwrap();
                    assert!(toolkit.replace_source(&Source::mcp(*name), [tool]).is_empty());
                }
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_is_slow_or_broken_hides_no_other() {
        let source = |after, name| After(after, name, AtomicU32::new(0));
        let toolkit = Toolkit::empty()
            .prepare_timeout(Duration::from_secs(1))
            .tool_source(source(60_000, "slow"))
            .tool_source(source(0, "panics"))
            .tool_source(source(900, "a"))
            .tool_source(Arc::new(source(900, "b")))
            .build()
            .unwrap();
        let begun = tokio::time::Instant::now();
        for _ in 0..2 {
            let toolbox = toolkit.toolbox(&Caller::new()).await;
            assert_eq!(toolbox.tools().map(Tool::name).collect::<Vec<_>>(), ["a", "b"]);
            assert_eq!(begun.elapsed().as_secs(), 1);
        }
    }

    #[test]
    fn a_weak_toolkit_keeps_nothing_alive() {
        let toolkit = Toolkit::empty().build().unwrap();
        let weak = toolkit.downgrade();
        assert!(weak.upgrade().is_some());
        drop(toolkit);
        assert!(weak.upgrade().is_none());
    }
}
