//! Deferred definitions: where the definitions of all tools would take too much of the context window, the model gets some of them,
//! and a tool that finds the others. A tool that is found follows the others from then on, so that a provider's cache holds.

use super::{Ending, Run};
use crate::deferral::Deferral;
use crate::loop_tools::FIND_TOOLS;
use std::collections::BTreeSet;
use toolkit::{
    ToolCall, Toolbox,
    descriptor::Definition,
    dialects::Dialect,
    discovery::{Showing, ToolSearch},
    text::estimated_tokens,
};
use toolkit_models::ToolOutput;

/// The share of the context window, in percent, that definitions may take.
const DEFINITIONS: u64 = 30;
/// The tools that are shown first, as far as they fit in half of that; the others follow by name.
const BASIC_TOOLS: [&str; 6] = ["read", "edit", "exec", "write", "grep", "glob"];

impl Run<'_> {
    /// The tokens that definitions may take; `None` where the size of the window is unknown.
    fn definition_budget(&self) -> Option<u64> {
        self.window().map(|window| window / 100 * DEFINITIONS + window % 100 * DEFINITIONS / 100)
    }

    /// Returns the definitions that the model gets, and whether some are deferred. Once some were, they are to the end of the
    /// conversation.
    pub(super) fn select_definitions(
        &mut self,
        toolbox: &Toolbox,
        loop_tools: &[Definition],
    ) -> (Vec<Definition>, bool) {
        let is_narrowed = self.agent.within.is_some() || self.agent.admits.is_some();
        let of_agent = is_narrowed.then(|| self.usable(toolbox));
        let usable = |name: &str| of_agent.as_ref().is_none_or(|names| names.contains(name));
        let all = toolbox.definitions().into_iter().filter(|definition| usable(&definition.name));
        let all: Vec<Definition> = all.collect();
        let dialect = self.agent.model.dialect();
        let Some(budget) = self.definition_budget() else { return (all, false) };
        let room = budget.saturating_sub(tokens_of(dialect, loop_tools));
        if self.session.deferral.is_none() {
            if tokens_of(dialect, &all) <= room {
                return (all, false);
            }
            self.session.deferral = Some(self.called_before());
        }
        let deferral = self.session.deferral.clone().unwrap_or_default();
        let every = toolbox.all_definitions().into_iter();
        let every = every.filter(|(_, showing)| *showing != Showing::Search);
        let mut every: Vec<Definition> =
            every.map(|(definition, _)| definition).filter(|definition| usable(&definition.name)).collect();
        let place =
            |name: &str| BASIC_TOOLS.iter().position(|basic| *basic == name).unwrap_or(BASIC_TOOLS.len());
        every.sort_by(|one, other| (place(&one.name), &one.name).cmp(&(place(&other.name), &other.name)));
        let mut left = room / 2;
        let (mut shown, hidden): (Vec<Definition>, Vec<Definition>) =
            every.into_iter().partition(|definition| {
                let tokens = tokens_of(dialect, std::slice::from_ref(definition));
                let fits = tokens <= left;
                left = left.saturating_sub(if fits { tokens } else { 0 });
                fits
            });
        // The latest finds go before older ones; the latest of all is shown in any case.
        let mut left = room - room / 2;
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for name in deferral.found().iter().rev() {
            let Some(definition) = hidden.iter().find(|definition| definition.name == *name) else {
                continue;
            };
            let tokens = tokens_of(dialect, std::slice::from_ref(definition));
            if tokens > left && !names.is_empty() {
                break;
            }
            left = left.saturating_sub(tokens);
            names.insert(name);
        }
        let found = deferral.found().iter().filter(|name| names.contains(name.as_str()));
        shown.extend(
            found.filter_map(|name| hidden.iter().find(|definition| definition.name == *name).cloned()),
        );
        (shown, true)
    }

    /// Returns the tools that the conversation has called.
    fn called_before(&self) -> Deferral {
        let mut deferral = Deferral::default();
        for item in self.session.journal.conversation.items() {
            let toolkit_models::Message::Assistant(answer) = &item.message else { continue };
            for call in answer.tool_calls() {
                deferral.note(&call.name);
            }
        }
        deferral
    }

    /// Notes the tools of calls: one that the model called without its definition is shown from then on.
    pub(super) fn note_called(&mut self, calls: &[ToolCall]) {
        if let Some(deferral) = &mut self.session.deferral {
            for call in calls {
                deferral.note(&call.name);
            }
        }
    }

    /// Answers a search for tools.
    pub(super) async fn find_tools(
        &mut self,
        toolbox: &Toolbox,
        call: &ToolCall,
    ) -> Result<ToolOutput, Ending> {
        let tools = self.agent.loop_tools.clone();
        let search: ToolSearch = match tools.arguments(call).await {
            Ok(search) => search,
            Err(error) => return Ok(ToolOutput::error(call, error.message())),
        };
        let usable = self.usable(toolbox);
        let found = toolbox.answer_search(&search, |tool| usable.contains(tool.name()));
        if let Some(deferral) = &mut self.session.deferral {
            // The best one last: it is shown in any case.
            for tool in found.tools.iter().rev() {
                deferral.note(tool.name());
            }
        }
        Ok(ToolOutput::text(call, found.text))
    }

    /// Returns true if a call is a search for tools.
    pub(super) fn is_search(&self, toolbox: &Toolbox, call: &ToolCall) -> bool {
        let is_named = call.name == search_name(toolbox)
            || call.name == FIND_TOOLS && toolbox.tool(FIND_TOOLS).is_none();
        is_named && self.session.deferral.is_some()
    }
}

/// The name of the tool that finds others: that of the toolkit's own, unless another tool has it.
pub(super) fn search_name(toolbox: &Toolbox) -> &'static str {
    match toolbox.showing(ToolSearch::NAME) {
        None | Some(Showing::Search) => ToolSearch::NAME,
        Some(_) => FIND_TOOLS,
    }
}

fn tokens_of(dialect: Dialect, definitions: &[Definition]) -> u64 {
    if definitions.is_empty() {
        return 0;
    }
    estimated_tokens(&dialect.definitions(definitions.iter().cloned()).to_json().to_string()) as u64
}
