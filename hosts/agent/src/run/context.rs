//! Keeping a conversation within the context window.
//!
//! It is shortened in large steps, so that a provider's cache holds in between: first old tool results are cut, then old messages are
//! replaced by a summary that the model writes. The current task and what the user added stay as they are, and no call is parted
//! from its result. What cannot be shortened any more ends the run; the transcript keeps everything.

use super::{Ending, Run};
use crate::events::{AgentEvent, Compaction};
use crate::prompt::{SUMMARISE, SUMMARY_HEADING};
use crate::result::StopReason;
use crate::transcript::{Item, Kind, Record};
use std::sync::Arc;
use toolkit::dialects::Definitions;
use toolkit_models::{Message, Request, ToolChoice, Usage};

/// The share of the window, in percent, beyond which a conversation is shortened, and to which.
const FULL: u64 = 85;
const ENOUGH: u64 = 70;
/// The share of the window that the latest messages may keep when the others are summarised.
const TAIL: u64 = 25;
/// The share of the window that the user's messages may keep then.
const USERS: u64 = 20;
/// The results that stay whole when older ones are cut.
const WHOLE_RESULTS: usize = 3;
/// The characters that are left of a cut text: of older results, then of all, in two steps.
const OLD_CHARS: usize = 1_000;
const ALL_CHARS: [usize; 2] = [4_000, 600];
/// How often a summary is tried, each time of half as many messages.
const MAX_TRIES: u32 = 3;
/// In how many turns, one right after the other, a summary may be needed.
const MAX_IN_A_ROW: u32 = 3;
/// The tokens that are left free for an answer, at most a quarter of the window.
const ANSWER_TOKENS: u64 = 8_192;

/// The state of a run's context window.
#[derive(Debug)]
pub(crate) struct Room {
    /// The current task.
    pub(crate) task: Option<u64>,
    /// The tokens of the provider for each estimated one.
    ratio: f64,
    /// A size that proved too large.
    learned: Option<u64>,
    summarised_at: Option<u32>,
    in_a_row: u32,
}

impl Default for Room {
    fn default() -> Self {
        Self { task: None, ratio: 1.0, learned: None, summarised_at: None, in_a_row: 0 }
    }
}

impl Room {
    /// Learns from what the provider counted for a request that was estimated.
    #[expect(clippy::cast_precision_loss, reason = "a ratio need not be exact")]
    pub(crate) fn learn(&mut self, usage: Option<&Usage>, estimate: u64) {
        let Some(counted) = usage.map(|usage| usage.input_tokens).filter(|tokens| *tokens > 0) else {
            return;
        };
        let estimated = estimate.max(1) as f64 / self.ratio;
        self.ratio = (counted as f64 / estimated).clamp(0.5, 4.0);
    }

    /// Learns that a conversation of so many tokens does not fit.
    pub(crate) fn is_smaller_than(&mut self, tokens: u64) {
        let smaller = tokens - tokens / 10;
        self.learned = Some(self.learned.map_or(smaller, |learned| learned.min(smaller)));
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate need not be exact, and is not negative"
    )]
    fn scale(&self, tokens: u64) -> u64 {
        (tokens as f64 * self.ratio).ceil() as u64
    }
}

impl Run<'_> {
    /// The estimated tokens of the next request.
    pub(crate) fn estimate(&self, tools: &Definitions) -> u64 {
        self.room.scale(self.fixed_tokens(tools) + self.session.journal.conversation.tokens())
    }

    /// The size of the context window, if it is configured.
    pub(super) fn window(&self) -> Option<u64> {
        self.agent.context.window_tokens.or_else(|| self.agent.model.context_tokens())
    }

    /// The tokens that a request may have; `None` where nobody knows.
    fn budget(&self) -> Option<u64> {
        let known = self.window();
        let window = match (known, self.room.learned) {
            (Some(known), Some(learned)) => Some(known.min(learned)),
            (known, learned) => known.or(learned),
        }?;
        let answer = self.agent.context.max_answer_tokens.map_or(ANSWER_TOKENS, u64::from);
        Some(window.saturating_sub(answer.min(window / 4)))
    }

    /// Shortens the conversation if it fills the context window, or in any case if it is `forced`.
    pub(crate) async fn make_room(&mut self, tools: &Arc<Definitions>, forced: bool) -> Result<(), Ending> {
        let Some(budget) = self.budget() else { return Ok(()) };
        let part = |percent: u64| budget / 100 * percent + budget % 100 * percent / 100;
        let before = self.estimate(tools);
        if before <= part(FULL) && !forced {
            return Ok(());
        }
        let old = self.before_last_results(WHOLE_RESULTS);
        let saved = old.map_or(0, |until| self.room.scale(self.saved_by(until, OLD_CHARS)));
        // A summary is asked for with the messages as they are: what the provider has cached of them counts.
        if before > budget || before - saved.min(before) <= part(ENOUGH) {
            self.shorten_old(tools, old)?;
        }
        if self.estimate(tools) <= part(ENOUGH) {
            return Ok(());
        }
        self.summarise(tools, part(TAIL), part(USERS)).await?;
        if self.estimate(tools) > part(ENOUGH) {
            self.shorten_old(tools, self.before_last_results(WHOLE_RESULTS))?;
        }
        for max_chars in ALL_CHARS {
            if self.estimate(tools) <= part(FULL) {
                return Ok(());
            }
            let until = self.session.journal.conversation.next_id();
            self.shorten(tools, until, max_chars)?;
        }
        let after = self.estimate(tools);
        if after <= budget {
            return Ok(());
        }
        Err(Ending::error(
            StopReason::ContextFull,
            format!(
                "The conversation does not fit the context window: about {after} tokens are left after it was shortened, and there \
                 is room for {budget}. Use a model with a larger window, or a shorter task."
            ),
        ))
    }

    /// The last message before the latest results that stay whole.
    fn before_last_results(&self, whole: usize) -> Option<u64> {
        let items = self.session.journal.conversation.items();
        let results = items.iter().rev().filter(|item| item.kind == Kind::Results);
        results.skip(whole).map(|item| item.id).next()
    }

    fn shorten_old(&mut self, tools: &Definitions, until: Option<u64>) -> Result<(), Ending> {
        until.map_or(Ok(()), |until| self.shorten(tools, until, OLD_CHARS))
    }

    /// The tokens that cutting the texts of tool results would save.
    fn saved_by(&self, until: u64, max_chars: usize) -> u64 {
        let conversation = &self.session.journal.conversation;
        let mut shortened = conversation.clone();
        match shortened.apply(&Record::Shortened { until, max_chars }) {
            Ok(()) => conversation.tokens().saturating_sub(shortened.tokens()),
            Err(_) => 0,
        }
    }

    /// Cuts the texts of tool results, if that saves anything.
    fn shorten(&mut self, tools: &Definitions, until: u64, max_chars: usize) -> Result<(), Ending> {
        if self.saved_by(until, max_chars) == 0 {
            return Ok(());
        }
        let before = self.estimate(tools);
        self.session.journal.record(&Record::Shortened { until, max_chars })?;
        let after = self.estimate(tools);
        self.observer.send(AgentEvent::Compacted { how: Compaction::Shortened, before, after });
        Ok(())
    }

    /// Replaces the older messages by a summary. Where that fails, fewer are tried.
    async fn summarise(&mut self, tools: &Arc<Definitions>, tail: u64, users: u64) -> Result<(), Ending> {
        let turn = self.session.journal.conversation.turns;
        let is_right_after = self.room.summarised_at.is_some_and(|at| turn <= at + 1);
        self.room.in_a_row = if is_right_after { self.room.in_a_row + 1 } else { 1 };
        self.room.summarised_at = Some(turn);
        if self.room.in_a_row > MAX_IN_A_ROW {
            return Err(Ending::error(
                StopReason::ContextFull,
                "The conversation fills the context window again right after each time that it was shortened. Use a model with a \
                 larger window, or a shorter task.",
            ));
        }
        let mut end = self.tail_start(tail);
        let mut why = None;
        for _ in 0..MAX_TRIES {
            let Some((until, keep, replaced)) = self.replaceable(end, users) else { break };
            match self.write_summary(tools, end, replaced).await? {
                Ok((message, usage)) => {
                    let before = self.estimate(tools);
                    let id = self.session.journal.conversation.next_id();
                    self.session.journal.record(&Record::Summarised { id, until, keep, message, usage })?;
                    self.session.begin_segment().await?;
                    let after = self.estimate(tools);
                    self.observer.send(AgentEvent::Compacted { how: Compaction::Summarised, before, after });
                    return Ok(());
                }
                Err(reason) => why = Some(reason),
            }
            end = self.boundary(end / 2);
        }
        match why {
            // There is nothing to summarise; other ways remain.
            None => Ok(()),
            Some(reason) => Err(Ending::error(
                StopReason::ContextFull,
                format!("The conversation fills the context window and could not be summarised: {reason}"),
            )),
        }
    }

    /// The place of the first message that stays as it is.
    fn tail_start(&self, tail: u64) -> usize {
        let items = self.session.journal.conversation.items();
        let mut left = tail;
        let kept = items.iter().rev().take_while(|item| {
            let tokens = self.room.scale(item.tokens);
            let fits = tokens <= left;
            left = left.saturating_sub(tokens);
            fits
        });
        self.boundary_after(items.len() - kept.count())
    }

    /// The nearest place at or before this one that parts no call from its result.
    fn boundary(&self, mut place: usize) -> usize {
        let items = self.session.journal.conversation.items();
        while place > 0 && items.get(place).is_some_and(|item| item.kind == Kind::Results) {
            place -= 1;
        }
        place
    }

    /// The nearest such place at or after this one.
    fn boundary_after(&self, mut place: usize) -> usize {
        let items = self.session.journal.conversation.items();
        while items.get(place).is_some_and(|item| item.kind == Kind::Results) {
            place += 1;
        }
        place
    }

    /// The last message before `end`, those before it that stay, and the tokens of the others; `None` where there are no others.
    fn replaceable(&self, end: usize, users: u64) -> Option<(u64, Vec<u64>, u64)> {
        let head = self.session.journal.conversation.items().get(..end)?;
        let until = head.last()?.id;
        let mut left = users;
        let mut keep: Vec<u64> = Vec::new();
        // The latest wishes of the user go before older ones; the current task stays in any case.
        for item in head.iter().rev() {
            let is_users = matches!(item.kind, Kind::Task | Kind::Addition);
            let tokens = self.room.scale(item.tokens);
            if Some(item.id) == self.room.task || is_users && tokens <= left {
                left = left.saturating_sub(tokens);
                keep.push(item.id);
            }
        }
        keep.reverse();
        let others = head.iter().filter(|item| !keep.contains(&item.id));
        let is_news = |item: &&Item| item.kind != Kind::Summary;
        if others.clone().filter(is_news).count() == 0 {
            return None;
        }
        let replaced = others.map(|item| item.tokens).sum();
        Some((until, keep, replaced))
    }

    /// Has the model write a summary of the messages before `end`. A failure says why.
    async fn write_summary(
        &mut self,
        tools: &Arc<Definitions>,
        end: usize,
        replaced: u64,
    ) -> Result<Result<(Message, Option<Usage>), String>, Ending> {
        let head = &self.session.journal.conversation.items()[..end];
        let mut messages: Vec<Message> = head.iter().map(|item| item.message.clone()).collect();
        messages.push(Message::user(SUMMARISE));
        // The same beginning as that of any other request: what the provider has cached of it counts.
        let mut request =
            Request::new(messages).system(self.system.clone()).cache(true).cancel(self.cancel.child_token());
        if !tools.tools().is_empty() {
            request = request.tools(Arc::clone(tools)).tool_choice(ToolChoice::None);
        }
        request.max_tokens = self.agent.context.max_answer_tokens;
        let estimate = self.room.scale(
            self.fixed_tokens(tools) + request.messages.iter().map(Message::estimated_tokens).sum::<u64>(),
        );
        // Nobody watches a summary being written.
        let answer = match self.ask(&request, estimate, &mut |_| {}).await? {
            Ok(answer) => answer,
            Err(error) => {
                self.failed(&error)?;
                return Ok(Err(error.to_string()));
            }
        };
        let text = answer.message.to_text();
        if text.trim().is_empty() {
            return Ok(Err("the model wrote no summary".to_owned()));
        }
        let message = Message::user(format!("{SUMMARY_HEADING}\n\n{}", text.trim()));
        if message.estimated_tokens() >= replaced {
            return Ok(Err("the summary is longer than what it would replace".to_owned()));
        }
        Ok(Ok((message, answer.usage)))
    }
}
