//! The calls of one answer: each gets exactly one result, in order.
//!
//! Calls that only read run together, sub-agents run together, and every other call runs alone. Before calls begin, the transcript
//! says so; each result is written when it is there.

use super::delegate::DelegationOutcome;
use super::questions::{BeginningAgain, Questions, questions};
use super::{Ending, Run, limit_text};
use crate::approvals::AutoConfirm;
use crate::loop_tools::{Account, DELEGATE, FINISH};
use crate::result::StopReason;
use crate::session::{add_files, next};
use crate::transcript::Record;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use toolkit::{
    CallOptions, ToolCall, ToolErrorKind, ToolResult, Toolbox,
    output::{Message, MessageRole},
};
use toolkit_models::ToolOutput;

/// How long calls that were cancelled may take to give their results.
const GRACE: Duration = Duration::from_millis(50);

/// How a call is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallMode {
    Finish,
    /// A search for tools.
    Find,
    Delegate,
    /// With its neighbours that only read.
    Together,
    Alone,
}

/// The result of a call of either kind.
enum CallOutcome {
    Tool(Box<ToolResult>),
    Agent(Box<DelegationOutcome>),
}

impl Run<'_> {
    /// Runs the calls of the last answer; the final answer, if one of them gave it.
    pub(super) async fn run_calls(
        &mut self,
        toolbox: &Toolbox,
        calls: Vec<ToolCall>,
    ) -> Result<Option<Account>, Ending> {
        let Some(pending) = self.session.journal.conversation.pending() else { return Ok(None) };
        let answer = pending.answer;
        let is_done: Vec<bool> = pending.results.iter().map(Option::is_some).collect();
        let usable = self.usable(toolbox);
        let thinking = self.thinking();
        let modes: Vec<CallMode> = calls.iter().map(|call| self.call_mode(toolbox, &usable, call)).collect();
        let mut account = None;
        let mut place = 0;
        while place < calls.len() {
            if is_done[place] {
                place += 1;
                continue;
            }
            let mode = modes[place];
            let is_same = |other: &usize| {
                modes[*other] == mode
                    && !is_done[*other]
                    && matches!(mode, CallMode::Together | CallMode::Delegate)
            };
            let count = 1 + (place + 1..calls.len()).take_while(is_same).count();
            let group = place..place + count;
            place += count;
            if self.cancel.is_cancelled() {
                return Err(Ending::cancelled());
            }
            if mode == CallMode::Finish {
                let call = &calls[group.start];
                self.finish(answer, group.start, call, &mut account).await?;
                continue;
            }
            let mut begun = Vec::new();
            for place in group {
                let call = &calls[place];
                if let Some(refusal) = self.refusal(toolbox, &usable, call) {
                    self.forget_asks(answer, &call.id).await;
                    self.begin_step(toolbox, call, thinking.as_deref());
                    self.end_step(&call.id, Err(refusal.clone()), None);
                    self.give(answer, place, ToolOutput::error(call, refusal), Vec::new(), None)?;
                    continue;
                }
                self.ledger.count_call();
                if mode == CallMode::Find {
                    self.forget_asks(answer, &call.id).await;
                    self.begin_step(toolbox, call, thinking.as_deref());
                    let output = self.find_tools(toolbox, call).await?;
                    let text = output.to_text();
                    let outcome = if output.is_error { Err(text) } else { Ok(text) };
                    self.end_step(&call.id, outcome, None);
                    self.give(answer, place, output, Vec::new(), None)?;
                    continue;
                }
                begun.push((place, call.clone()));
            }
            if !begun.is_empty() {
                self.run_group(toolbox, &usable, answer, mode, begun, thinking.as_deref()).await?;
            }
        }
        Ok(account)
    }

    fn call_mode(&self, toolbox: &Toolbox, usable: &BTreeSet<String>, call: &ToolCall) -> CallMode {
        match &*call.name {
            FINISH if self.agent.final_answer == crate::FinalAnswer::Tool => CallMode::Finish,
            DELEGATE if usable.contains(DELEGATE) => CallMode::Delegate,
            _ if self.is_search(toolbox, call) => CallMode::Find,
            name => match toolbox.tool(name) {
                Some(tool) if !tool.annotations().read_only_hint => CallMode::Alone,
                // One that does not exist does nothing.
                _ => CallMode::Together,
            },
        }
    }

    /// Why a call is not run at all.
    fn refusal(&self, toolbox: &Toolbox, usable: &BTreeSet<String>, call: &ToolCall) -> Option<String> {
        if let Some(reason) = self.closing.filter(|_| self.turns > 1 || self.is_out_of_calls()) {
            return Some(format!("not run: {}", limit_text(reason)));
        }
        if self.is_out_of_calls() {
            return Some(format!("not run: {}", limit_text(StopReason::MaxToolCalls)));
        }
        let tool = toolbox.tool(&call.name)?;
        let is_narrowed = !usable.contains(tool.name());
        is_narrowed.then(|| format!("`{}` is not among the tools of this agent; do without it", tool.name()))
    }

    fn is_out_of_calls(&self) -> bool {
        self.ledger.is_out_of_calls()
    }

    /// The reasoning before the calls.
    fn thinking(&self) -> Option<String> {
        let answer = self.session.journal.conversation.items().last()?;
        let toolkit_models::Message::Assistant(message) = &answer.message else { return None };
        let texts = message.content.iter().filter_map(|part| match part {
            toolkit_models::AssistantPart::Reasoning { text, .. } => Some(text.as_str()),
            _ => None,
        });
        Some(texts.collect::<String>()).filter(|text| !text.is_empty())
    }

    /// Takes the final answer. A message of the user that came meanwhile goes before it.
    async fn finish(
        &mut self,
        answer: u64,
        place: usize,
        call: &ToolCall,
        account: &mut Option<Account>,
    ) -> Result<(), Ending> {
        self.drain_events();
        let tools = self.agent.loop_tools.clone();
        let output = match tools.arguments::<Account>(call).await {
            Err(error) => ToolOutput::error(call, error.message()),
            Ok(_) if self.session.steering.is_waiting() => ToolOutput::error(
                call,
                "not finished: a message came in meanwhile and follows. Take it into account, then call `finish` again",
            ),
            Ok(_) if account.is_some() => {
                ToolOutput::error(call, "finished already; only one final answer counts")
            }
            Ok(given) => {
                *account = Some(given);
                ToolOutput::text(call, "Finished.")
            }
        };
        self.give(answer, place, output, Vec::new(), None)
    }

    /// Writes the result of a call.
    pub(super) fn give(
        &mut self,
        answer: u64,
        call: usize,
        output: ToolOutput,
        files_modified: Vec<PathBuf>,
        error: Option<ToolErrorKind>,
    ) -> Result<(), Ending> {
        add_files(&mut self.session.files, files_modified.iter().cloned());
        self.session.journal.record(&Record::Result { answer, call, output, files_modified, error })?;
        Ok(())
    }

    /// Runs calls that may run at once.
    async fn run_group(
        &mut self,
        toolbox: &Toolbox,
        usable: &BTreeSet<String>,
        answer: u64,
        mode: CallMode,
        calls: Vec<(usize, ToolCall)>,
        thinking: Option<&str>,
    ) -> Result<(), Ending> {
        let mut again = self.beginning_again(&calls);
        let begun: Vec<_> = calls.iter().filter(|(place, _)| !again.contains(place)).collect();
        if !begun.is_empty() {
            let places = begun.iter().map(|(place, _)| *place).collect();
            self.session.journal.record(&Record::Started { answer, calls: places })?;
            // A remote tool may say of itself that it only reads.
            let is_remote =
                |call: &ToolCall| toolbox.tool(&call.name).is_some_and(|tool| tool.source().is_remote());
            if mode != CallMode::Together || begun.iter().any(|(_, call)| is_remote(call)) {
                // Records of read-only calls need not survive a loss of power.
                self.session.journal.sync().await?;
            }
        }
        for (_, call) in &calls {
            self.begin_step(toolbox, call, thinking);
        }
        let (questions, mut noted) = questions();
        let mut running: FuturesUnordered<BoxFuture<'static, (usize, ToolCall, CallOutcome)>> = match mode {
            CallMode::Delegate => self.delegate(usable, calls),
            _ => self.call(toolbox, answer, calls, &questions, &again),
        };
        let own_place = match (&self.agent.parent, mode) {
            (Some(parent), CallMode::Delegate) => Some(Arc::clone(&parent.place)),
            _ => None,
        };
        if let Some(place) = &own_place {
            place.give_up();
        }
        let mut stopped: Option<Ending> = None;
        let mut grace = None;
        loop {
            let is_going_on = stopped.is_none();
            tokio::select! {
                biased;
                () = self.cancel.cancelled(), if is_going_on => stopped = Some(Ending::cancelled()),
                () = self.clock.run_out(), if is_going_on => stopped = Some(Ending::timeout()),
                () = until(grace), if !is_going_on => break,
                event = next(&mut self.session.events) => match event {
                    Some(event) => self.event(&event),
                    None => self.session.events = None,
                },
                Some(note) = noted.recv() => self.note_question(answer, note, &mut again).await,
                done = running.next() => match done {
                    Some((place, call, done)) => self.done(answer, place, &call, done).await?,
                    None => break,
                },
            }
            if stopped.is_some() && grace.is_none() {
                self.stop_calls.cancel();
                grace = Some(Instant::now() + GRACE);
            }
        }
        // A call that is dropped leaves nothing running.
        drop(running);
        if let Some(ending) = stopped {
            return Err(ending);
        }
        if let Some(place) = own_place {
            self.or_stop(place.take_back()).await?;
        }
        Ok(())
    }

    /// Returns those of the calls that begin again because of a question. That they have started is written when they ask again, or when their function
    /// begins: if the program ends before, they still wait.
    fn beginning_again(&self, calls: &[(usize, ToolCall)]) -> BeginningAgain {
        let pending = self.session.journal.conversation.pending();
        let waits = |place: &usize| pending.is_some_and(|pending| pending.may_begin_again(*place));
        calls.iter().map(|(place, _)| *place).filter(waits).collect()
    }

    fn call(
        &self,
        toolbox: &Toolbox,
        answer: u64,
        calls: Vec<(usize, ToolCall)>,
        questions: &Questions,
        again: &BeginningAgain,
    ) -> FuturesUnordered<BoxFuture<'static, (usize, ToolCall, CallOutcome)>> {
        let mut options = CallOptions::new().cancel(self.stop_calls.clone()).messages(self.history());
        options = options.interrupt(self.interrupt.clone()).turn(self.session.header.turn(answer));
        if !self.session.journal.is_kept() || self.agent.parent.is_some() {
            // A sub-agent begins anew with its task.
            options = options.never_begins_again();
        }
        if self.agent.auto_confirm {
            options = options.approver(AutoConfirm { person: self.agent.approver.clone() });
        } else if let Some(approver) = &self.agent.approver {
            options = options.approver(Arc::clone(approver));
        }
        if let Some(hook) = self.agent.change_hook.clone() {
            options = options.change_hook(move |change| hook(change));
        }
        let run = |(place, call): (usize, ToolCall)| -> BoxFuture<'static, _> {
            let (toolbox, mut options) = (toolbox.clone(), options.clone());
            if self.session.journal.is_kept() {
                options =
                    options.ask_journal(questions.of_call(place, &toolbox, &call, again.contains(&place)));
            }
            Box::pin(async move {
                let result = toolbox.call_with(call.clone(), options).await;
                (place, call, CallOutcome::Tool(Box::new(result)))
            })
        };
        calls.into_iter().map(run).collect()
    }

    /// The texts of the conversation for tools that read it.
    fn history(&self) -> Vec<Message> {
        let items = self.session.journal.conversation.items();
        let text = |message: &toolkit_models::Message| match message {
            toolkit_models::Message::User(message) => {
                let texts = message.content.iter().filter_map(toolkit::Content::as_text);
                Some((MessageRole::User, texts.collect::<Vec<_>>().join("\n")))
            }
            toolkit_models::Message::Assistant(message) => Some((MessageRole::Assistant, message.to_text())),
            _ => None,
        };
        let messages = items.iter().filter_map(|item| {
            let (role, text) = text(&item.message)?;
            (!text.is_empty()).then(|| Message::new(role, text).with_id(item.id.to_string()))
        });
        messages.collect()
    }

    /// Takes the result of a call.
    async fn done(
        &mut self,
        answer: u64,
        place: usize,
        call: &ToolCall,
        outcome: CallOutcome,
    ) -> Result<(), Ending> {
        match outcome {
            CallOutcome::Tool(result) => {
                self.drain_events();
                let outcome = match result.error() {
                    None => Ok(String::new()),
                    Some(error) => Err(error.kind().to_string()),
                };
                self.end_step(&call.id, outcome, None);
                let files = result.output().map(|output| output.files_modified.clone()).unwrap_or_default();
                let is_aborted = result.error().is_some_and(|error| error.kind() == ToolErrorKind::Aborted);
                if is_aborted && self.is_left_open(place) {
                    return Ok(());
                }
                if self.interrupt.is_cancelled() {
                    // The toolkit cannot know that it is not made again.
                    self.forget_asks(answer, &call.id).await;
                }
                self.note_repeat(&result, call);
                let error = result.error().map(toolkit::ToolError::kind);
                self.give(answer, place, (*result).into(), files, error)
            }
            CallOutcome::Agent(delegated) => {
                let DelegationOutcome { output, result } = *delegated;
                let text = output.to_text();
                let outcome = if output.is_error { Err(text) } else { Ok(text) };
                let mut files = Vec::new();
                let mut shown = None;
                if let Some(result) = result {
                    files.clone_from(&result.files_modified);
                    shown = serde_json::to_value(&result).ok();
                }
                self.end_step(&call.id, outcome, shown);
                self.give(answer, place, output, files, None)
            }
        }
    }

    fn delegate(
        &mut self,
        usable: &BTreeSet<String>,
        calls: Vec<(usize, ToolCall)>,
    ) -> FuturesUnordered<BoxFuture<'static, (usize, ToolCall, CallOutcome)>> {
        let delegating = self.delegating(usable);
        let run = |(place, call): (usize, ToolCall)| -> BoxFuture<'static, _> {
            let delegating = delegating.clone();
            Box::pin(async move {
                let delegated = delegating.run(&call).await;
                (place, call, CallOutcome::Agent(Box::new(delegated)))
            })
        };
        calls.into_iter().map(run).collect()
    }
}

/// Waits until a time; forever without one.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
