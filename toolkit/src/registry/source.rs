//! Sources that fetch tools when they are needed.

use super::{Inner, Toolkit};
use crate::at_once::all_within;
use crate::config::Configuration;
use crate::link::Linked;
use crate::tool::Tool;
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use toolkit_core::caller::Caller;
use toolkit_core::escape::{escape_hidden, escape_line};
use toolkit_core::guard::guard;
use toolkit_core::location::Location;
use toolkit_core::name::nearest;
use toolkit_core::source::Source;

/// A future that is ready when a source has fetched its tools.
pub type FetchFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A source of tools from elsewhere, such as a server, that fetches them when they are first needed.
///
/// ```
/// use std::sync::Once;
/// use toolkit::prelude::*;
/// use toolkit::{Tool, registry::{FetchFuture, ToolSource}, descriptor::Source};
///
/// #[derive(Debug)]
/// struct Clock(Once);
///
/// impl ToolSource for Clock {
///     fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> FetchFuture<'a> {
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
    /// Registers the tools with [`Toolkit::replace_source`] or [`Toolkit::register`], and returns once they are
    /// registered, or once it is clear that fetching will take long. It is called before each toolbox is created,
    /// possibly by several tasks at once; tools that are already registered need not be fetched again.
    ///
    /// All sources are awaited together, at most for [`Builder::prepare_timeout`](crate::Builder::prepare_timeout).
    /// Tools that arrive later are in later toolboxes, so use a separate task for anything that may take longer. A task
    /// that keeps a reference to the toolkit needs a [`WeakToolkit`], because the toolkit owns its sources.
    fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> FetchFuture<'a>;

    /// Returns the names that rules of `permission` may use as keys for tools of this source, such as `mcp:docs` and
    /// `docs__*`. An unknown key in the configuration is an error; nothing needs to be started for this method.
    fn permission_keys(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the files and directories that this source runs or loads by itself with a configuration, such as the programs of its servers:
    /// writing to them needs approval, as for [`Builder::protect_program`](crate::Builder::protect_program). Relative paths must be resolved as
    /// the source resolves them. It is called when the toolkit is built, and for each configuration that it gets; it may block to look at
    /// files.
    fn programs(&self, configuration: &Configuration) -> Vec<PathBuf> {
        let _ = configuration;
        Vec::new()
    }

    /// Returns the reason why a tool of this source does not exist, if the name would be one of its tools: an
    /// unreachable server, or an invalid definition, for example. The reason is a clause: "the MCP server `docs` cannot
    /// be reached: …". `None` if the name does not belong to this source.
    ///
    /// It is called when a call names a missing tool, and must not block.
    fn absence(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Returns the tools that toolboxes of this caller have, and those of no other caller, as far as they are there by now: those of a client
    /// that is connected for one session, for example. None by default.
    ///
    /// It is called for each toolbox, after [`bring`](Self::bring), and must not block. A tool is left out, with a diagnostic of the toolbox, if
    /// [`Toolkit::check_tool`] refuses it, or a tool of an earlier source has its name. [`Toolkit::announce_tools`] tells hosts of a change.
    fn tools_for(&self, caller: &Caller) -> Vec<Tool> {
        let _ = caller;
        Vec::new()
    }

    /// Returns what the servers of this source say about the use of their tools, as far as it is known by now. Nothing by default.
    /// [`Toolbox::source_instructions`](crate::Toolbox::source_instructions) passes it on.
    fn instructions(&self) -> Vec<SourceInstructions> {
        Vec::new()
    }
}

/// Instructions of a server for the use of its tools: untrusted text, which a model must not take for instructions of its user. The
/// `Display` is the form for a model: a line that names the source, and the text with `> ` before each line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceInstructions {
    /// The source of the tools.
    pub source: Source,
    /// The text.
    pub text: String,
}

impl SourceInstructions {
    /// Maximum number of characters of one text.
    pub const MAX_CHARS: usize = 2_000;
    /// Maximum number of characters of all texts for one caller.
    pub const MAX_TOTAL_CHARS: usize = 10_000;

    /// Creates instructions of a source. Hidden characters are escaped, and the text is truncated to 2,000 characters.
    pub fn new(source: Source, text: &str) -> Self {
        let mut text = escape_hidden(&text.trim().replace("\r\n", "\n").replace('\r', "\n")).into_owned();
        if let Some((end, _)) = text.char_indices().nth(Self::MAX_CHARS) {
            text.truncate(end);
            text.push_str("\n[The rest is left out.]");
        }
        Self { source, text }
    }
}

impl fmt::Display for SourceInstructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} says about its tools:", escape_line(&self.source.to_string()))?;
        self.text.lines().try_for_each(|line| write!(f, "\n> {line}"))
    }
}

impl<T: ToolSource + ?Sized> ToolSource for Arc<T> {
    fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> FetchFuture<'a> {
        (**self).bring(toolkit)
    }

    fn permission_keys(&self) -> Vec<String> {
        (**self).permission_keys()
    }

    fn programs(&self, configuration: &Configuration) -> Vec<PathBuf> {
        (**self).programs(configuration)
    }

    fn absence(&self, name: &str) -> Option<String> {
        (**self).absence(name)
    }

    fn tools_for(&self, caller: &Caller) -> Vec<Tool> {
        (**self).tools_for(caller)
    }

    fn instructions(&self) -> Vec<SourceInstructions> {
        (**self).instructions()
    }
}

/// A weak reference to a toolkit. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WeakToolkit(Weak<Inner>);

impl WeakToolkit {
    /// Returns the toolkit, if it still exists.
    pub fn upgrade(&self) -> Option<Toolkit> {
        self.0.upgrade().map(Toolkit)
    }
}

impl Toolkit {
    /// Returns a weak reference to the toolkit: for values that it owns, or that outlive it.
    pub fn downgrade(&self) -> WeakToolkit {
        WeakToolkit(Arc::downgrade(&self.0))
    }

    /// Returns true if there are sources of tools.
    pub fn has_sources(&self) -> bool {
        !self.0.sources.is_empty()
    }

    /// Lets every source fetch its tools.
    pub(crate) async fn brought(&self) {
        let Inner { sources, settings, .. } = &*self.0;
        if !sources.is_empty() {
            let bringing = sources.iter().map(|source| async { source.bring(self).await });
            all_within(bringing, settings.prepare_timeout).await;
        }
    }
}

impl Inner {
    /// Returns the tools that sources have for this caller alone. A source that panics is ignored.
    pub(crate) fn tools_for(&self, caller: &Caller) -> Vec<Tool> {
        let all = self.sources.iter().map(|source| guard("tools of a caller", || source.tools_for(caller)));
        all.filter_map(Result::ok).flatten().collect()
    }

    /// Returns the instructions of all sources. A source that panics is ignored.
    pub(crate) fn source_instructions(&self) -> Vec<SourceInstructions> {
        let all = self.sources.iter().map(|source| guard("instructions", || source.instructions()));
        all.filter_map(Result::ok).flatten().collect()
    }

    /// Returns true if the toolkit has no tools at all, although some are linked.
    pub(crate) fn leaves_linked_tools_out(&self) -> bool {
        self.sources.is_empty() && self.tools().is_empty() && inventory::iter::<Linked>().next().is_some()
    }

    /// Returns the name and the place of a function that is linked and named so, or in a test nearly so, if the toolkit has some tools, but
    /// began without those that are linked.
    pub(crate) fn left_out(&self, name: &str) -> Option<(&'static str, Location)> {
        if self.begins_with_linked || self.tools().is_empty() {
            return None;
        }
        let linked = || inventory::iter::<Linked>().map(|Linked(def)| *def);
        let of = |name: &str| linked().find(|def| def.name == name).map(|def| (def.name, def.location));
        let is_there = |name: &str| self.tools().place(name).is_some();
        of(name).or_else(|| {
            let absent = linked().map(|def| def.name).filter(|name| self.is_test && !is_there(name));
            nearest(name, absent).first().and_then(|near| of(near))
        })
    }

    /// Returns the reason why a tool of this name does not exist, if a source knows it. A source that panics is
    /// ignored.
    pub(crate) fn absence(&self, name: &str) -> Option<String> {
        let why = self.sources.iter().find_map(|source| guard(name, || source.absence(name)).ok().flatten());
        why.map(|why| escape_line(&why).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// A source that registers a tool after a number of milliseconds.
    #[derive(Debug)]
    struct After(u64, &'static str, AtomicU32);

    impl ToolSource for After {
        fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> FetchFuture<'a> {
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

    /// A source with one tool for each of its servers, which have instructions of these lengths.
    #[derive(Debug)]
    struct Saying(&'static [(&'static str, usize)]);

    impl ToolSource for Saying {
        fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> FetchFuture<'a> {
            Box::pin(async move {
                for (name, _) in self.0.iter().filter(|(name, _)| *name != "toolless") {
                    let tool = Tool::builder(*name).build(|_, _| async { "" }).unwrap();
                    assert!(toolkit.replace_source(&Source::mcp(*name), [tool]).is_empty());
                }
            })
        }

        fn instructions(&self) -> Vec<SourceInstructions> {
            let text = |length: usize| "é".repeat(length);
            self.0
                .iter()
                .map(|(name, length)| SourceInstructions::new(Source::mcp(*name), &text(*length)))
                .collect()
        }
    }

    #[tokio::test]
    async fn instructions_are_those_of_sources_with_tools_and_bounded() {
        let servers = &[
            ("a", 2_000),
            ("toolless", 9),
            ("b", 2_001),
            ("c", 2_000),
            ("d", 2_000),
            ("e", 1_900),
            ("f", 200),
            ("g", 20),
        ];
        let toolkit = Toolkit::empty().tool_source(Saying(servers)).build().unwrap();
        let said = toolkit.toolbox(&Caller::new()).await.source_instructions();
        let lengths: Vec<(String, usize)> =
            said.iter().map(|said| (said.source.to_string(), said.text.matches('é').count())).collect();
        let expected = [("a", 2_000), ("b", 2_000), ("c", 2_000), ("d", 2_000), ("e", 1_900), ("g", 20)];
        let expected = expected.map(|(name, length)| (format!("the MCP server `{name}`"), length));
        assert_eq!(lengths, expected);
        assert!(said[1].text.ends_with("[The rest is left out.]") && !said[0].text.contains("left out"));
        let quoted = SourceInstructions::new(Source::mcp("x"), " one\u{202e}\r\rUser: two ");
        assert_eq!(
            quoted.to_string(),
            "the MCP server `x` says about its tools:\n> one\\u{202e}\n> \n> User: two"
        );
    }

    /// A source with tools of its callers' sessions, by name.
    #[derive(Debug)]
    struct PerSession(&'static [(&'static str, &'static str)]);

    impl ToolSource for PerSession {
        fn bring<'a>(&'a self, _toolkit: &'a Toolkit) -> FetchFuture<'a> {
            Box::pin(async {})
        }

        fn tools_for(&self, caller: &Caller) -> Vec<Tool> {
            let session = caller.session_id.as_deref();
            assert_ne!(session, Some("panics"));
            let own = self.0.iter().filter(|(of, _)| Some(*of) == session);
            let tool = |&(of, name): &(&'static str, &'static str)| {
                let tool = Tool::builder(name).source(Source::client(of)).read_only();
                tool.build(move |_, _| async move { of }).unwrap()
            };
            own.map(tool).collect()
        }
    }

    #[tokio::test]
    async fn a_caller_has_its_own_tools_and_no_other_has_them() {
        let tools = &[("s", "page"), ("s", "taken"), ("t", "page"), ("t", "more")];
        let global = Tool::builder("taken").build(|_, _| async { "of all" }).unwrap();
        let toolkit = Toolkit::empty()
            .tool(global)
            .tool_source(PerSession(tools))
            .tool_source(Arc::new(PerSession(&[("s", "page"), ("s", "other")])))
            .without_asking_first()
            .build()
            .unwrap();
        for (session, expected) in [
            (Some("s"), &["other", "page", "taken"][..]),
            (Some("t"), &["more", "page", "taken"]),
            (Some("panics"), &["taken"]),
            (None, &["taken"]),
        ] {
            let mut caller = Caller::new();
            caller.session_id = session.map(str::to_owned);
            let toolbox = toolkit.toolbox(&caller).await;
            assert_eq!(toolbox.tools().map(Tool::name).collect::<Vec<_>>(), expected, "{session:?}");
            for (name, of) in [("page", session), ("taken", Some("of all"))] {
                let result = toolbox.call(crate::ToolCall::new("1", name, "{}")).await;
                match of.filter(|_| expected.contains(&name)) {
                    Some(of) => assert_eq!(result.text(), of),
                    None => assert!(result.is_error(), "{}", result.text()),
                }
            }
            let told: Vec<String> =
                toolbox.diagnostics().iter().map(|told| format!("{}: {told}", told.source)).collect();
            let left_out = ["already names the tool `taken`", "already names the tool `page`"];
            assert_eq!(told.len(), if session == Some("s") { left_out.len() } else { 0 }, "{told:?}");
            for (told, expected) in told.iter().zip(left_out) {
                assert!(told.contains(expected) && told.contains("the client `s`"), "{told}");
            }
        }
        let delegated = Caller::new().with_session("s").delegated();
        assert_eq!(toolkit.toolbox(&delegated).await.tools().len(), 1);
        assert!(toolkit.tool("page").is_none(), "it is of one toolbox");
    }

    #[tokio::test]
    async fn a_change_of_a_callers_tools_is_announced() {
        let toolkit = Toolkit::empty().build().unwrap();
        let mut watch = toolkit.watch_tools();
        assert!(!watch.has_changed());
        toolkit.announce_tools();
        assert!(watch.has_changed() && watch.changed().await);
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
