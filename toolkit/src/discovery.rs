//! Discovery: shows a model only some of many tools, with one tool that finds the others.

mod answer;
mod show;

pub use crate::discovery_settings::DiscoverySettings;
pub(crate) use answer::search_tool;
pub use answer::{ToolSearch, ToolsFound};

use crate::config::Configuration;
use crate::policy::Entry;
use crate::tool::Tool;
use show::Show;
use toolkit_core::escape::escape_line;

/// The limits beyond which not every definition is shown, and the tools that are shown then.
///
/// Definitions take space in a model's context, and a model chooses badly among hundreds. Beyond the limits, a
/// [toolbox](crate::Toolbox) shows the tools of core crates, or those that [`show`](Self::show) names, and a tool that finds the
/// others, `tool_search`. Tools that it finds are shown from then on in the session, after those shown before, so that a
/// provider's cache of the beginning of a prompt stays valid. Without a `Discovery`, every tool is shown.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::{Tool, discovery::Discovery};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = Toolkit::empty().discovery(Discovery::new().max_tools(2));
/// for name in ["create_invoice", "send_mail", "book_flight"] {
///     builder = builder.tool(Tool::builder(name).description("Does what it says.").build(|_, _| async { "done" })?);
/// }
/// let toolbox = builder.build()?.toolbox(&Caller::new()).await;
/// let shown = || toolbox.definitions().into_iter().map(|definition| definition.name).collect::<Vec<_>>();
/// assert_eq!(shown(), ["tool_search"]);
/// toolbox.call(ToolCall::new("1", "tool_search", r#"{ "query": "sending e-mails" }"#)).await;
/// assert_eq!(shown(), ["tool_search", "send_mail"]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Discovery {
    pub(crate) name: String,
    max_tokens: Option<usize>,
    max_tools: Option<usize>,
    /// The entries; without any, the tools of core crates.
    show: Option<Vec<String>>,
}

/// The default limit of tokens of all definitions.
const MAX_TOKENS: usize = 10_000;

impl Default for Discovery {
    fn default() -> Self {
        Self::new()
    }
}

impl Discovery {
    /// Shows every definition up to 10,000 [tokens](crate::text::estimated_tokens), however many they are.
    pub fn new() -> Self {
        Self { name: ToolSearch::NAME.to_owned(), max_tokens: None, max_tools: None, show: None }
    }

    /// Sets how many [estimated tokens](crate::text::estimated_tokens) all definitions together may take before some are not shown.
    #[must_use]
    pub fn max_tokens(self, tokens: usize) -> Self {
        Self { max_tokens: Some(tokens), ..self }
    }

    /// Sets how many tools there may be before some are not shown. If this is the only limit, no tokens are estimated.
    #[must_use]
    pub fn max_tools(self, tools: usize) -> Self {
        Self { max_tools: Some(tools), ..self }
    }

    /// Sets the tools that are shown regardless of the limits: names, `group:<group>`, ids of plugins, also patterns with `*`.
    /// By default those of core crates.
    #[must_use]
    pub fn show(self, entries: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { show: Some(entries.into_iter().map(Into::into).collect()), ..self }
    }

    /// Sets the name of the tool that finds others; by default `tool_search`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Combines the program's settings with the configuration. Returns `None`, so that every tool is shown, if neither enables
    /// it.
    pub(crate) fn configured(own: Option<Self>, configuration: &Configuration) -> Option<Self> {
        let said = configuration.discovery();
        let is_on =
            said.enabled.unwrap_or(own.is_some() || said.max_tokens.is_some() || said.max_tools.is_some());
        let own = is_on.then(|| own.unwrap_or_default())?;
        let count = |said: Option<u32>| said.and_then(|count| usize::try_from(count).ok());
        Some(Self {
            name: own.name,
            max_tokens: count(said.max_tokens).or(own.max_tokens),
            max_tools: count(said.max_tools).or(own.max_tools),
            show: said.show.or(own.show),
        })
    }

    /// Returns true if the tools exceed the limits.
    pub(crate) fn exceeds<'a>(&self, tools: impl Iterator<Item = &'a Tool> + Clone) -> bool {
        if self.max_tools.is_some_and(|most| tools.clone().nth(most).is_some()) {
            return true;
        }
        let most = match (self.max_tokens, self.max_tools) {
            (Some(tokens), _) => tokens,
            (None, Some(_)) => return false,
            (None, None) => MAX_TOKENS,
        };
        // Stops early: of many tools only the first need be estimated.
        let mut sum = 0_usize;
        tools.into_iter().any(|tool| {
            sum = sum.saturating_add(tool.estimated_tokens());
            sum > most
        })
    }

    /// Returns a function that returns true if a tool is shown regardless of the limits.
    pub(crate) fn shows(&self) -> impl Fn(&Tool) -> bool {
        let show = Show::of(self.show.as_deref());
        move |tool| show.shows(tool)
    }

    /// Returns the problems of the settings: entries that name nothing.
    pub(crate) fn problems(&self) -> Vec<String> {
        let show = self.show.iter().flatten();
        show.filter_map(|entry| {
            let why = Entry::parse(entry).err()?;
            Some(format!("the entry `{}` of the always-shown tools {why}", escape_line(entry)))
        })
        .collect()
    }

    /// Returns the limits in words, for a diagnostic.
    pub(crate) fn budget(&self) -> String {
        match (self.max_tools, self.max_tokens) {
            (Some(tools), Some(tokens)) => format!("{tools} tools or {tokens} estimated tokens"),
            (Some(tools), None) => format!("{tools} tools"),
            (None, tokens) => format!("{} estimated tokens", tokens.unwrap_or(MAX_TOKENS)),
        }
    }
}

/// The way in which the definition of a tool reaches a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Showing {
    /// It is shown from the beginning.
    Always,
    /// It is the tool that finds others. A provider with a tool search of its own uses that one instead.
    Search,
    /// It was not shown at the beginning, but since it was found or called.
    Found,
    /// It is not shown.
    Deferred,
}

impl Showing {
    /// Returns true if a model gets the definition now.
    pub fn is_shown(self) -> bool {
        self != Self::Deferred
    }

    /// Returns true if a provider that defers definitions itself should defer this one. Found tools are included, so that the
    /// request stays the same throughout a session.
    pub fn is_deferred_natively(self) -> bool {
        matches!(self, Self::Found | Self::Deferred)
    }
}

/// A tool that was found.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SearchHit<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// The score of the match; comparable within one search only.
    pub score: f32,
}
