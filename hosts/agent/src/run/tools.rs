//! The tools of a turn, and how the model chooses among them.

use super::deferral::search_name;
use super::{Ending, MAX_REMINDERS, Run};
use crate::loop_tools::{DELEGATE, FINISH};
use crate::prompt::{FinalAnswer, source_instructions};
use crate::rewind::note_turn;
use std::collections::BTreeSet;
use std::sync::Arc;
use toolkit::{Toolbox, descriptor::Definition, dialects::Definitions, text::estimated_tokens};
use toolkit_models::ToolChoice;

impl Run<'_> {
    /// The tools of this turn.
    pub(super) async fn toolbox(&mut self) -> Result<Toolbox, Ending> {
        let agent = Arc::clone(&self.agent);
        let turn = self.session.journal.conversation.turns;
        note_turn(&mut self.caller, &self.session.header.id, turn);
        let caller = self.caller.clone();
        let toolbox = self.or_stop(agent.toolkit.toolbox(&caller)).await?;
        if self.session.events.is_none() {
            self.session.events = Some(toolbox.events());
        }
        Ok(toolbox)
    }

    /// Adds what servers say about their tools to the system prompt, once for the run, so that a provider's cache holds. A server that is
    /// connected later is not in it.
    pub(super) async fn add_source_instructions(&mut self) {
        // A run that is cancelled meanwhile ends at its first turn.
        let Ok(toolbox) = self.toolbox().await else { return };
        let usable = self.usable(&toolbox);
        let mut said = toolbox.source_instructions();
        let is_used = |tool: &&toolkit::Tool| usable.contains(tool.name());
        said.retain(|said| toolbox.tools().filter(is_used).any(|tool| *tool.source() == said.source));
        self.system.push_str(&source_instructions(&said));
    }

    fn offers_delegate(&self, toolbox: &Toolbox) -> bool {
        self.caller.depth < self.agent.limits.max_depth
            && self.agent.within.as_ref().is_none_or(|within| within.contains(DELEGATE))
            && toolbox.admits(self.agent.loop_tools.delegate()).is_ok()
    }

    /// The names of the tools that the agent may use.
    pub(crate) fn usable(&self, toolbox: &Toolbox) -> BTreeSet<String> {
        let admits = |tool: &&toolkit::Tool| self.agent.admits.as_ref().is_none_or(|admits| admits(tool));
        let mut names: BTreeSet<String> =
            toolbox.tools().filter(admits).map(|tool| tool.name().to_owned()).collect();
        if let Some(within) = &self.agent.within {
            names.retain(|name| within.contains(name));
        }
        if self.offers_delegate(toolbox) {
            names.insert(DELEGATE.to_owned());
        }
        names
    }

    /// The definitions for the model: the loop's own first, so that what is found later only follows.
    pub(super) fn definitions(&mut self, toolbox: &Toolbox) -> Definitions {
        let own = &self.agent.loop_tools;
        let with_finish = self.agent.final_answer == FinalAnswer::Tool;
        let finish = with_finish.then(|| own.finish(self.max_answer_tokens())).flatten();
        let delegate = self.offers_delegate(toolbox).then(|| own.delegate_definition()).flatten();
        let mut loop_tools: Vec<Definition> = finish.into_iter().chain(delegate).collect();
        let (others, is_deferring) = self.select_definitions(toolbox, &loop_tools);
        if is_deferring {
            loop_tools.extend(self.agent.loop_tools.search(search_name(toolbox)));
        }
        self.agent.model.dialect().definitions(loop_tools.into_iter().chain(others))
    }

    /// The most tokens of an answer, if there is a limit.
    pub(super) fn max_answer_tokens(&self) -> Option<u32> {
        self.agent.context.max_answer_tokens.or_else(|| self.agent.model.max_tokens())
    }

    /// How the model is to choose among its tools: once reminded in vain, it has to finish.
    pub(super) fn choice(&self) -> ToolChoice {
        let must_finish = self.reminders >= MAX_REMINDERS || self.closing.is_some() && self.turns > 1;
        match self.agent.final_answer {
            FinalAnswer::Tool if must_finish => ToolChoice::Named(FINISH.to_owned()),
            FinalAnswer::Json | FinalAnswer::Text if must_finish => ToolChoice::None,
            _ => ToolChoice::Auto,
        }
    }

    /// The estimated tokens of what every request has beside the conversation.
    pub(crate) fn fixed_tokens(&self, tools: &Definitions) -> u64 {
        (estimated_tokens(&self.system) + estimated_tokens(&tools.to_json().to_string())) as u64
    }
}
