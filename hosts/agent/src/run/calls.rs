//! The calls of one answer: each gets exactly one result, in order.
//!
//! Calls that only read run together, sub-agents run together, and every other call runs alone. Before calls begin, the transcript
//! says so; each result is written when it is there.

use super::delegate::Delegated;
use super::{Ending, Run, limit_text};
use crate::approvals::AutoConfirm;
use crate::own::{Account, DELEGATE, FINISH};
use crate::result::StopReason;
use crate::session::{add_files, next};
use crate::transcript::Record;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;
use toolkit::{
    CallOptions, ToolCall, ToolResult, Toolbox,
    output::{Message, MessageRole},
};
use toolkit_models::ToolOutput;

/// How long calls that were cancelled may take to give their results.
const GRACE: Duration = Duration::from_millis(50);

/// How a call is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Finish,
    Delegate,
    /// With its neighbours that only read.
    Together,
    Alone,
}

/// The result of a call of either kind.
enum Done {
    Tool(Box<ToolResult>),
    Agent(Box<Delegated>),
}

impl Run<'_> {
    /// Runs the calls of the last answer; the final answer, if one of them gave it.
    pub(super) async fn run_calls(
        &mut self,
        toolbox: &Toolbox,
        calls: Vec<ToolCall>,
    ) -> Result<Option<Account>, Ending> {
        let Some(answer) = self.session.journal.conversation.pending().map(|pending| pending.answer) else {
            return Ok(None);
        };
        let usable = self.usable(toolbox);
        let thinking = self.thinking();
        let ways: Vec<Way> = calls.iter().map(|call| self.way(toolbox, &usable, call)).collect();
        let mut account = None;
        let mut place = 0;
        while place < calls.len() {
            let way = ways[place];
            let is_same = |other: &Way| *other == way && way != Way::Alone && way != Way::Finish;
            let count = 1 + ways[place + 1..].iter().take_while(|other| is_same(other)).count();
            let group = place..place + count;
            place += count;
            if self.cancel.is_cancelled() {
                return Err(Ending::cancelled());
            }
            if way == Way::Finish {
                let call = &calls[group.start];
                self.finish(answer, group.start, call, &mut account).await?;
                continue;
            }
            let mut begun = Vec::new();
            for place in group {
                let call = &calls[place];
                if let Some(refusal) = self.refusal(toolbox, &usable, call) {
                    self.begin_step(toolbox, call, thinking.as_deref());
                    self.end_step(&call.id, Err(refusal.clone()), None);
                    self.give(answer, place, ToolOutput::error(call, refusal), Vec::new())?;
                    continue;
                }
                self.calls += 1;
                begun.push((place, call.clone()));
            }
            if !begun.is_empty() {
                self.run_group(toolbox, &usable, answer, way, begun, thinking.as_deref()).await?;
            }
        }
        Ok(account)
    }

    fn way(&self, toolbox: &Toolbox, usable: &BTreeSet<String>, call: &ToolCall) -> Way {
        match &*call.name {
            FINISH if self.agent.final_answer == crate::FinalAnswer::Tool => Way::Finish,
            DELEGATE if usable.contains(DELEGATE) => Way::Delegate,
            name => match toolbox.tool(name) {
                Some(tool) if !tool.annotations().read_only_hint => Way::Alone,
                // One that does not exist does nothing.
                _ => Way::Together,
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
        self.agent.limits.max_tool_calls.is_some_and(|most| self.calls >= most)
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
        let own = self.agent.own.clone();
        let output = match own.arguments::<Account>(call).await {
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
        self.give(answer, place, output, Vec::new())
    }

    /// Writes the result of a call.
    fn give(
        &mut self,
        answer: u64,
        call: usize,
        output: ToolOutput,
        files_modified: Vec<PathBuf>,
    ) -> Result<(), Ending> {
        add_files(&mut self.session.files, files_modified.iter().cloned());
        self.session.journal.record(&Record::Result { answer, call, output, files_modified })?;
        Ok(())
    }

    /// Runs calls that may run at once.
    async fn run_group(
        &mut self,
        toolbox: &Toolbox,
        usable: &BTreeSet<String>,
        answer: u64,
        way: Way,
        calls: Vec<(usize, ToolCall)>,
        thinking: Option<&str>,
    ) -> Result<(), Ending> {
        let places = calls.iter().map(|(place, _)| *place).collect();
        self.session.journal.record(&Record::Started { answer, calls: places })?;
        if way != Way::Together {
            // What only reads need not survive a loss of power.
            self.session.journal.sync().await;
        }
        for (_, call) in &calls {
            self.begin_step(toolbox, call, thinking);
        }
        let mut running: FuturesUnordered<BoxFuture<'static, (usize, ToolCall, Done)>> = match way {
            Way::Delegate => self.delegate(toolbox, usable, calls),
            _ => self.call(toolbox, calls),
        };
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
                done = running.next() => match done {
                    Some((place, call, done)) => self.done(answer, place, &call, done)?,
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
        match stopped {
            Some(ending) => Err(ending),
            None => Ok(()),
        }
    }

    fn call(
        &self,
        toolbox: &Toolbox,
        calls: Vec<(usize, ToolCall)>,
    ) -> FuturesUnordered<BoxFuture<'static, (usize, ToolCall, Done)>> {
        let mut options = CallOptions::new().cancel(self.stop_calls.clone()).messages(self.history());
        if self.agent.auto_confirm {
            options = options.approver(AutoConfirm { person: self.agent.approver.clone() });
        } else if let Some(approver) = &self.agent.approver {
            options = options.approver(std::sync::Arc::clone(approver));
        }
        let run = |(place, call): (usize, ToolCall)| -> BoxFuture<'static, _> {
            let (toolbox, options) = (toolbox.clone(), options.clone());
            Box::pin(async move {
                let result = toolbox.call_with(call.clone(), options).await;
                (place, call, Done::Tool(Box::new(result)))
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
    fn done(&mut self, answer: u64, place: usize, call: &ToolCall, done: Done) -> Result<(), Ending> {
        match done {
            Done::Tool(result) => {
                self.drain_events();
                let outcome = match result.error() {
                    None => Ok(String::new()),
                    Some(error) => Err(error.kind().to_string()),
                };
                self.end_step(&call.id, outcome, None);
                let files = result.output().map(|output| output.files_modified.clone()).unwrap_or_default();
                self.note_repeat(&result, call);
                self.give(answer, place, (*result).into(), files)
            }
            Done::Agent(delegated) => {
                let Delegated { output, result } = *delegated;
                let text = output.to_text();
                let outcome = if output.is_error { Err(text) } else { Ok(text) };
                let mut files = Vec::new();
                let mut shown = None;
                if let Some(result) = result {
                    self.calls += result.tool_call_count;
                    self.usage.add(&result.usage);
                    files.clone_from(&result.files_modified);
                    shown = serde_json::to_value(&result).ok();
                }
                self.end_step(&call.id, outcome, shown);
                self.give(answer, place, output, files)
            }
        }
    }

    fn delegate(
        &mut self,
        toolbox: &Toolbox,
        usable: &BTreeSet<String>,
        calls: Vec<(usize, ToolCall)>,
    ) -> FuturesUnordered<BoxFuture<'static, (usize, ToolCall, Done)>> {
        let share = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let _ = toolbox;
        let above = self.above(usable, share);
        let run = |(place, call): (usize, ToolCall)| -> BoxFuture<'static, _> {
            let above = above.clone();
            Box::pin(async move {
                let delegated = above.run(&call).await;
                (place, call, Done::Agent(Box::new(delegated)))
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
