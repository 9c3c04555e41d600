//! The loop: turns of the model, until its final answer, a limit, or a cancellation.

mod answer;
mod calls;
mod context;
mod deferral;
mod delegate;
mod ending;
mod questions;
mod repeats;
mod start;
mod steps;
mod tools;

use crate::agent::Inner;
use crate::events::{AgentEvent, Observer};
use crate::ledger::Ledger;
use crate::limits::Clock;
use crate::loop_tools::FINISH;
use crate::prompt::{CUT_OFF, FinalAnswer, MISSING_FINISH, MISSING_JSON, MISSING_TEXT};
use crate::request::DelegationRequest;
use crate::result::{StopReason, ToolAgentResult};
use crate::session::{RunOptions, Session};
use crate::steering::Queued;
use crate::transcript::{Kind, Record, new_id, now};
use context::Room;
pub(crate) use ending::{Ending, limit_text, model_failed};
use repeats::Repeats;
use std::sync::Arc;
use steps::StepLog;
use toolkit::{Caller, CancellationToken, ToolCall, Toolbox};
use toolkit_models::{Answer, Message, StopReason as AnswerEnd, UserMessage};

/// How often a model is reminded that a final answer is missing, or that its answer was cut off.
const MAX_REMINDERS: u32 = 2;

/// A run: what it counts beside the conversation.
pub(crate) struct Run<'s> {
    pub(crate) session: &'s mut Session,
    pub(crate) agent: Arc<Inner>,
    pub(crate) caller: Caller,
    pub(crate) observer: Observer,
    pub(crate) cancel: CancellationToken,
    interrupt: CancellationToken,
    /// Its id.
    pub(crate) id: String,
    /// The ids of the queued messages that its task holds.
    consumes: Vec<String>,
    /// Ends the calls under way, whatever the reason.
    stop_calls: CancellationToken,
    pub(crate) clock: Clock,
    pub(crate) system: String,
    pub(crate) ledger: Arc<Ledger>,
    /// The turns of this run.
    turns: u32,
    steps: StepLog,
    errors: Vec<String>,
    reminders: u32,
    /// Why the turn that is under way is the last one.
    closing: Option<StopReason>,
    repeats: Repeats,
    is_resumed: bool,
    pub(crate) room: Room,
}

/// The step that follows an answer.
enum Next {
    Turn,
    End(Ending),
}

impl<'s> Run<'s> {
    pub(crate) fn new(session: &'s mut Session, options: RunOptions, is_resumed: bool) -> Self {
        let agent = Arc::clone(&session.agent.0);
        let caller = session.caller();
        let system = session.agent.system();
        let clock = Clock::start(agent.limits.timeout, agent.questions.clone());
        let steps = StepLog::new(agent.step_types.clone());
        let ledger = Ledger::new(
            agent.limits,
            &agent.meter,
            &caller,
            agent.parent.as_ref().map(|parent| Arc::clone(&parent.ledger)),
        );
        Self {
            session,
            caller,
            observer: options.observer.redacting(agent.toolkit.redactor()),
            stop_calls: options.cancel.child_token(),
            cancel: options.cancel,
            interrupt: options.interrupt,
            id: options.run.unwrap_or_else(new_id),
            consumes: options.consumes,
            clock,
            system,
            ledger,
            turns: 0,
            steps,
            errors: Vec::new(),
            reminders: 0,
            closing: None,
            repeats: Repeats::default(),
            is_resumed,
            room: Room::default(),
            agent,
        }
    }

    /// Does the run, and always returns an account of it. The conversation is whole then: every call has its result, unless the run
    /// was interrupted while it asked a person.
    pub(crate) async fn run(mut self, request: Option<DelegationRequest>) -> ToolAgentResult {
        if self.agent.toolkit.has_sources() {
            self.add_source_instructions().await;
        }
        let was_interrupted = request.is_none() && self.session.open_run() == Some(&*self.id);
        let ending = match self.begin(request).await {
            Ok(()) => match self.given_answer().filter(|_| was_interrupted) {
                Some(ending) => ending,
                None => self.turns().await,
            },
            Err(ending) => ending,
        };
        self.end(ending).await
    }

    /// The end of a run that gave its answer before it was interrupted: nothing is left to ask the model.
    fn given_answer(&mut self) -> Option<Ending> {
        self.drain_events();
        if self.agent.final_answer != FinalAnswer::Text || self.session.steering.is_waiting() {
            return None;
        }
        let text = self.session.journal.conversation.last_text()?.trim().to_owned();
        Some(Ending::of(StopReason::Answered, self.whole_answer(&text)))
    }

    /// The answer of the run: its last text, after those that it gave before a message reached it. Each sender gets all that was said.
    fn whole_answer(&self, last: &str) -> String {
        let before = self.session.journal.conversation.answers_before_additions();
        before.iter().map(String::as_str).chain([last]).collect::<Vec<_>>().join("\n\n")
    }

    async fn begin(&mut self, mut request: Option<DelegationRequest>) -> Result<(), Ending> {
        self.observer.send(AgentEvent::Started {
            run: self.id.clone(),
            transcript: self.session.header.id.clone(),
            model: self.agent.model.name().to_owned(),
            agent: self.session.header.agent.clone(),
            depth: self.caller.depth,
            resumed: self.is_resumed,
        });
        if let Some(message) = request.as_ref().and_then(|request| request.message_id.clone()) {
            self.caller.message_id = Some(message);
        }
        let message = request.as_mut().map(|request| {
            let text = toolkit::Content::text(request.to_text());
            // The message has them: the line of the run need not repeat them.
            let attachments = std::mem::take(&mut request.attachments);
            Message::User(UserMessage { content: std::iter::once(text).chain(attachments).collect() })
        });
        self.session.journal.record(&Record::Run {
            run: Some(self.id.clone()),
            request: request.map(Box::new),
            model: self.agent.model.name().to_owned(),
            system: self.system.clone(),
            at: now(),
        })?;
        for call in std::mem::take(&mut self.session.answered_calls) {
            self.agent.toolkit.forget_asks(&call).await;
        }
        // Before the task: its message comes after the results of these calls.
        let again = self.begin_again().await;
        if let Err(ending) = &again {
            self.settle(ending.reason).await;
            // A question stays open, so that no message can follow it.
            if self.session.journal.conversation.pending().is_some() {
                return again;
            }
        }
        if let Some(message) = message {
            let consumes = std::mem::take(&mut self.consumes);
            let id = self.session.journal.say_consuming(Kind::Task, message, consumes.clone())?;
            self.room.task = Some(id);
            if !consumes.is_empty() {
                self.session.journal.sync().await?;
                self.observer.send(AgentEvent::Consumed { ids: consumes });
            }
        }
        again
    }

    async fn turns(&mut self) -> Ending {
        loop {
            match self.turn().await {
                Ok(Next::Turn) => {}
                Ok(Next::End(ending)) | Err(ending) => return ending,
            }
        }
    }

    /// Begins the calls again that waited for a person when the program ended.
    async fn begin_again(&mut self) -> Result<(), Ending> {
        let Some(pending) = self.session.journal.conversation.pending() else { return Ok(()) };
        let calls = pending.calls.clone();
        self.check()?;
        let toolbox = self.toolbox().await?;
        self.refuse_changed(&toolbox, &calls).await?;
        // A final answer among them was given its result when the conversation was resumed.
        self.run_calls(&toolbox, calls).await?;
        Ok(())
    }

    async fn turn(&mut self) -> Result<Next, Ending> {
        self.check()?;
        self.deliver().await?;
        self.announce_last_turn()?;
        self.turns += 1;
        self.observer.send(AgentEvent::TurnStarted { turn: self.session.journal.conversation.turns });
        let toolbox = self.toolbox().await?;
        let tools = Arc::new(self.definitions(&toolbox));
        let answer = self.answer(&tools).await?;
        let calls: Vec<ToolCall> = answer.message.tool_calls().cloned().collect();
        if calls.is_empty() {
            self.without_calls(&answer)
        } else {
            self.with_calls(&toolbox, &answer, calls).await
        }
    }

    /// Ends the run if a limit is reached.
    fn check(&mut self) -> Result<(), Ending> {
        if self.cancel.is_cancelled() {
            return Err(Ending::cancelled());
        }
        if self.clock.left().is_some_and(|left| left.is_zero()) {
            return Err(Ending::timeout());
        }
        if let Some(reason) = self.closing {
            return Err(Ending::of(reason, limit_text(reason)));
        }
        if self.repeats.is_looping {
            return Err(Ending::of(
                StopReason::Loop,
                "The model repeated a call that gave the same answer each time, also after it was told so.",
            ));
        }
        self.check_usage()
    }

    /// Ends the run if its requests took too much.
    pub(crate) fn check_usage(&self) -> Result<(), Ending> {
        match self.ledger.exceeded() {
            Some(reason) => Err(Ending::of(reason, limit_text(reason))),
            None => Ok(()),
        }
    }

    /// The token that ends all calls of this run.
    pub(crate) fn stop_token(&self) -> CancellationToken {
        self.stop_calls.clone()
    }

    /// Delivers the messages that wait.
    async fn deliver(&mut self) -> Result<(), Ending> {
        self.drain_events();
        let mut delivered = Vec::new();
        while let Some(queued) = self.session.steering.take_first() {
            let text = queued.text();
            let (kind, id) = match &queued {
                Queued::Message { id, .. } => (Kind::Addition, id.clone()),
                _ => (Kind::Note, None),
            };
            let consumes = id.iter().cloned().collect();
            if let Err(error) = self.session.journal.say_consuming(kind, Message::user(&text), consumes) {
                self.session.steering.put_back(queued);
                return Err(error.into());
            }
            delivered.push(AgentEvent::Delivered { text, id });
        }
        if delivered.iter().any(|event| matches!(event, AgentEvent::Delivered { id: Some(_), .. })) {
            self.session.journal.sync().await?;
        }
        for event in delivered {
            self.observer.send(event);
        }
        Ok(())
    }

    /// Tells the model that the turn which begins is the last one.
    fn announce_last_turn(&mut self) -> Result<(), Ending> {
        let limits = &self.agent.limits;
        let reason = if limits.max_turns.is_some_and(|most| self.turns + 1 >= most) {
            StopReason::MaxTurns
        } else if self.ledger.is_out_of_calls() {
            StopReason::MaxToolCalls
        } else {
            return Ok(());
        };
        self.closing = Some(reason);
        // One turn alone is no surprise to anybody.
        if self.turns == 0 {
            return Ok(());
        }
        let how = match self.agent.final_answer {
            FinalAnswer::Tool => "Call `finish` now",
            _ => "Give your final answer now",
        };
        let text = format!(
            "[{} {how}, with what is done and what is open. Other tool calls are not run any more.]",
            limit_text(reason)
        );
        self.tell(text)
    }

    /// Tells the model something of the host's.
    fn tell(&mut self, text: impl Into<String>) -> Result<(), Ending> {
        let text = text.into();
        self.session.journal.say(Kind::Note, Message::user(&text))?;
        self.observer.send(AgentEvent::HostMessage { text });
        Ok(())
    }

    /// Awaits something, unless the run is cancelled or its time is over.
    pub(crate) async fn or_stop<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Ending> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Ending::cancelled()),
            () = self.clock.run_out() => Err(Ending::timeout()),
            value = work => Ok(value),
        }
    }

    /// Goes on after an answer without calls.
    fn without_calls(&mut self, answer: &Answer) -> Result<Next, Ending> {
        let text = answer.message.to_text();
        match answer.stop {
            AnswerEnd::Refusal | AnswerEnd::ContentFilter => {
                let why =
                    if text.trim().is_empty() { "The model refused to answer.".to_owned() } else { text };
                return Ok(Next::End(Ending::of(StopReason::Refused, why)));
            }
            _ => {}
        }
        let account = match self.agent.final_answer {
            FinalAnswer::Json => crate::loop_tools::account_in(&text),
            _ => None,
        };
        self.drain_events();
        if self.session.steering.is_waiting() {
            return Ok(Next::Turn);
        }
        if let Some(account) = account {
            return Ok(Next::End(Ending::finished(account)));
        }
        if self.agent.final_answer == FinalAnswer::Text
            && answer.stop != AnswerEnd::MaxTokens
            && !text.trim().is_empty()
        {
            return Ok(Next::End(Ending::of(StopReason::Answered, self.whole_answer(text.trim()))));
        }
        if let Some(reason) = self.closing {
            return Ok(Next::End(Ending::of(reason, summary_of(&text, limit_text(reason)))));
        }
        if self.reminders >= MAX_REMINDERS {
            let why = "The model stopped without a final answer.";
            return Ok(Next::End(Ending::of(StopReason::NoFinalAnswer, summary_of(&text, why))));
        }
        self.reminders += 1;
        let reminder = match (&answer.stop, self.agent.final_answer) {
            (AnswerEnd::MaxTokens, _) => CUT_OFF,
            (_, FinalAnswer::Tool) => MISSING_FINISH,
            (_, FinalAnswer::Json) => MISSING_JSON,
            (_, FinalAnswer::Text) => MISSING_TEXT,
        };
        self.tell(reminder)?;
        Ok(Next::Turn)
    }

    /// Runs the calls of an answer, and goes on or ends.
    async fn with_calls(
        &mut self,
        toolbox: &Toolbox,
        answer: &Answer,
        calls: Vec<ToolCall>,
    ) -> Result<Next, Ending> {
        if calls.iter().any(|call| call.name != FINISH) {
            self.reminders = 0;
        }
        self.note_called(&calls);
        let account = self.run_calls(toolbox, calls).await?;
        self.drain_events();
        if let Some(account) = account {
            return Ok(Next::End(Ending::finished(account)));
        }
        if answer.stop == AnswerEnd::MaxTokens {
            self.tell(CUT_OFF)?;
        }
        Ok(Next::Turn)
    }
}

/// The text of a model, or else a reason.
fn summary_of(text: &str, otherwise: &str) -> String {
    if text.trim().is_empty() { otherwise.to_owned() } else { text.trim().to_owned() }
}
