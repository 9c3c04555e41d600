//! What a model is shown of many tools: some of them, and one that finds the others.

mod answer;
mod show;

pub(crate) use answer::search_tool;

use crate::config::Configuration;
use crate::escape::escape_line;
use crate::policy::Entry;
use crate::tool::Tool;
use show::Show;

/// When not every definition is shown at once, and what is shown then.
///
/// Definitions take room in a model's context, and a model chooses badly among hundreds. Beyond a budget a
/// [toolbox](crate::Toolbox) shows the tools of core crates, or those that [`show`](Self::show) names, and a tool that finds the
/// others, `tool_search`. What it finds is shown from then on in the session, after what was shown before, so that a
/// provider's cache of the beginning of a prompt holds. Without it, every tool is shown.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::{Discovery, Tool};
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
    /// The tools of core crates where there is none.
    show: Option<Vec<String>>,
}

/// The most tokens of definitions that are shown without further ado.
const MAX_TOKENS: usize = 10_000;

impl Default for Discovery {
    fn default() -> Self {
        Self::new()
    }
}

impl Discovery {
    /// Shows every definition up to 10,000 [tokens](crate::estimated_tokens), however many they are.
    pub fn new() -> Self {
        Self { name: "tool_search".to_owned(), max_tokens: None, max_tools: None, show: None }
    }

    /// How many [estimated tokens](crate::estimated_tokens) all definitions together may take before some are not shown.
    #[must_use]
    pub fn max_tokens(self, tokens: usize) -> Self {
        Self { max_tokens: Some(tokens), ..self }
    }

    /// How many tools there may be before some are not shown. Where this alone is said, nothing is estimated.
    #[must_use]
    pub fn max_tools(self, tools: usize) -> Self {
        Self { max_tools: Some(tools), ..self }
    }

    /// Which tools are shown whatever the budget: names, `group:<group>`, ids of plugins, also patterns with `*`. Otherwise
    /// those of core crates.
    #[must_use]
    pub fn show(self, entries: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { show: Some(entries.into_iter().map(Into::into).collect()), ..self }
    }

    /// What the tool that finds others is called; `tool_search` otherwise.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// With what is configured. Nothing is hidden where neither the program nor the configuration says so.
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

    /// Whether the tools are more than may be shown at once.
    pub(crate) fn exceeds<'a>(&self, tools: impl Iterator<Item = &'a Tool> + Clone) -> bool {
        if self.max_tools.is_some_and(|most| tools.clone().nth(most).is_some()) {
            return true;
        }
        let most = match (self.max_tokens, self.max_tools) {
            (Some(tokens), _) => tokens,
            (None, Some(_)) => return false,
            (None, None) => MAX_TOKENS,
        };
        // Of ten thousand tools only the first need be looked at.
        let mut sum = 0_usize;
        tools.into_iter().any(|tool| {
            sum = sum.saturating_add(tool.estimated_tokens());
            sum > most
        })
    }

    /// Says of a tool whether it is shown whatever the budget.
    pub(crate) fn shows(&self) -> impl Fn(&Tool) -> bool {
        let show = Show::of(self.show.as_deref());
        move |tool| show.shows(tool)
    }

    /// What is wrong with it: entries that name nothing.
    pub(crate) fn problems(&self) -> Vec<String> {
        let show = self.show.iter().flatten();
        show.filter_map(|entry| {
            let why = Entry::parse(entry).err()?;
            Some(format!("of the tools that discovery shows, the entry `{}` {why}", escape_line(entry)))
        })
        .collect()
    }

    /// How it is in words, for a diagnostic.
    pub(crate) fn budget(&self) -> String {
        match (self.max_tools, self.max_tokens) {
            (Some(tools), Some(tokens)) => format!("{tools} tools or {tokens} estimated tokens"),
            (Some(tools), None) => format!("{tools} tools"),
            (None, tokens) => format!("{} estimated tokens", tokens.unwrap_or(MAX_TOKENS)),
        }
    }
}

/// How the definition of a tool reaches a model now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Showing {
    /// It is shown from the beginning.
    Always,
    /// It is the tool that finds others. A provider that has such a tool itself gets its own in place of it.
    Search,
    /// It was not shown at the beginning, and is since it was found or called.
    Found,
    /// It is not shown.
    Deferred,
}

impl Showing {
    /// Whether a model gets its definition now.
    pub fn is_shown(self) -> bool {
        self != Self::Deferred
    }

    /// Whether a provider that defers definitions itself is told to defer this one: found or not, so that what it gets stays
    /// the same throughout a session.
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
    /// How well it fits; comparable within one search only.
    pub score: f32,
}
