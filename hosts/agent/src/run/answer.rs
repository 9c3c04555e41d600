//! One answer of the model: the request, its events, its failures.

use super::{Ending, Run, model_failed};
use crate::events::{AgentEvent, Observer};
use crate::loop_tools::bounded_account_schema;
use crate::prompt::FinalAnswer;
use crate::redaction::StreamRedaction;
use crate::result::StopReason;
use crate::transcript::Record;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use toolkit::{dialects::Definitions, text::Redactor};
use toolkit_models::{Answer, AssistantPart, ModelError, ModelEvent, Request, ToolChoice};

/// How often an answer that broke off is asked for again.
const MAX_BROKEN: u32 = 2;
/// How often a conversation that proved too long is shortened for one answer.
const MAX_TOO_LONG: u32 = 3;
/// How long a cancelled request may take to hand over what had arrived.
const CANCELLING: Duration = Duration::from_millis(20);

impl Run<'_> {
    /// Asks the model, and records its answer.
    pub(super) async fn answer(&mut self, tools: &Arc<Definitions>) -> Result<Answer, Ending> {
        let (mut broken, mut too_long) = (0, 0);
        loop {
            self.make_room(tools, false).await?;
            let request = self.request(tools);
            let estimate = self.estimate(tools);
            let mut stream = Stream::new(self.observer.clone(), self.agent.toolkit.redactor().clone());
            let asked = self.ask(&request, estimate, &mut |event| stream.take(event)).await;
            stream.end();
            let error = match asked? {
                Ok(answer) => {
                    self.room.learn(answer.usage.as_ref(), estimate);
                    return self.accept(answer, tools);
                }
                Err(error) => error,
            };
            self.failed(&error)?;
            match &error {
                ModelError::ContextTooLong { .. } if too_long < MAX_TOO_LONG => {
                    too_long += 1;
                    self.room.is_smaller_than(estimate);
                    self.make_room(tools, true).await?;
                }
                // Only an answer that had begun: what comes before, the model's client has tried again itself.
                ModelError::Stream { .. } | ModelError::Timeout { .. } | ModelError::Format { .. }
                    if broken < MAX_BROKEN =>
                {
                    broken += 1;
                    self.observer.send(AgentEvent::Discarded { reason: error.to_string() });
                    self.check_usage()?;
                }
                ModelError::ContextTooLong { .. } => {
                    return Err(Ending::error(StopReason::ContextFull, error.to_string()));
                }
                _ => return Err(model_failed(&error)),
            }
        }
    }

    fn request(&self, tools: &Arc<Definitions>) -> Request {
        let agent = &self.agent;
        let choice = self.choice();
        let mut request = Request::new(self.session.journal.conversation.messages())
            .system(self.system.clone())
            .cache(true)
            .cancel(self.cancel.child_token());
        if agent.final_answer == FinalAnswer::Json && choice == ToolChoice::None {
            request = request.response_schema(bounded_account_schema(self.max_answer_tokens()));
        }
        if !tools.tools().is_empty() {
            request = request.tools(Arc::clone(tools)).tool_choice(choice);
        }
        request.thinking = agent.thinking;
        request.temperature = agent.temperature;
        request.max_tokens = agent.context.max_answer_tokens;
        request
    }

    /// Sends one request. If the run ends meanwhile, the request is ended, and its usage is unknown: the provider may charge for it.
    pub(super) async fn ask(
        &mut self,
        request: &Request,
        estimate: u64,
        events: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Result<Answer, ModelError>, Ending> {
        let (model, ledger) = (Arc::clone(&self.agent.model), Arc::clone(&self.ledger));
        let (meter, scope) = ledger.meter();
        // Dropped before it has ended, it counts with what is known of it.
        let mut responding = meter.respond(scope, &*model, request, Some(estimate), events);
        let mut is_sent = false;
        let sending = async {
            is_sent = true;
            (&mut responding).await
        };
        let ending = match self.or_stop(sending).await {
            Ok(answer) => return Ok(answer),
            Err(ending) => ending,
        };
        if !is_sent {
            return Err(ending);
        }
        request.cancel.cancel();
        let partial = match tokio::time::timeout(CANCELLING, responding).await {
            Ok(Ok(answer)) => Some(answer.message),
            Ok(Err(error)) => error.partial().cloned(),
            Err(_) => None,
        };
        self.session.journal.record(&Record::Failed {
            turn: self.session.journal.conversation.turns,
            error: "the run ended before the answer was complete".to_owned(),
            partial: partial.map(Box::new),
        })?;
        Err(ending)
    }

    fn accept(&mut self, mut answer: Answer, tools: &Definitions) -> Result<Answer, Ending> {
        make_ids_unique(&mut answer);
        let conversation = &self.session.journal.conversation;
        let (id, turn) = (conversation.next_id(), conversation.turns);
        self.session.journal.record(&Record::Answer { id, turn, answer: Box::new(answer.clone()) })?;
        self.observer.send(AgentEvent::Usage {
            usage: self.ledger.usage(),
            context_tokens: self.estimate(tools),
            context_limit: self.agent.model.context_tokens(),
        });
        Ok(answer)
    }

    /// Records a request without a whole answer.
    pub(crate) fn failed(&mut self, error: &ModelError) -> Result<(), Ending> {
        self.session.journal.record(&Record::Failed {
            turn: self.session.journal.conversation.turns,
            error: error.to_string(),
            partial: error.partial().cloned().map(Box::new),
        })?;
        Ok(())
    }
}

/// The events of an answer, on their way to the observer.
struct Stream {
    observer: Observer,
    redactor: Redactor,
    text: StreamRedaction,
    reasoning: StreamRedaction,
}

impl Stream {
    fn new(observer: Observer, redactor: Redactor) -> Self {
        Self { observer, redactor, text: StreamRedaction::default(), reasoning: StreamRedaction::default() }
    }

    fn take(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Text(text) => {
                let text = self.text.push(&self.redactor, text);
                self.send_text(text);
            }
            ModelEvent::Reasoning(text) => {
                let text = self.reasoning.push(&self.redactor, text);
                self.send_reasoning(text);
            }
            ModelEvent::Retrying { attempt, after, reason } => {
                let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                self.observer.send(AgentEvent::Retrying { attempt, after_ms, reason });
            }
            ModelEvent::Fallback { from, to, reason } => {
                self.observer.send(AgentEvent::Fallback { from, to, reason });
            }
            _ => {}
        }
    }

    /// Sends what was held back.
    fn end(&mut self) {
        let (reasoning, text) = (self.reasoning.end(), self.text.end());
        self.send_reasoning(reasoning);
        self.send_text(text);
    }

    fn send_text(&self, text: String) {
        if !text.is_empty() {
            self.observer.send(AgentEvent::Text { text });
        }
    }

    fn send_reasoning(&self, text: String) {
        if !text.is_empty() {
            self.observer.send(AgentEvent::Reasoning { text });
        }
    }
}

/// Gives every call of an answer an id of its own. The provider's own message no longer fits where one changes.
fn make_ids_unique(answer: &mut Answer) {
    let mut ids = HashSet::new();
    let mut is_changed = false;
    for part in &mut answer.message.content {
        let AssistantPart::ToolCall(call) = part else { continue };
        if call.id.is_empty() || ids.contains(&call.id) {
            let base = if call.id.is_empty() { "call" } else { &*call.id };
            let free =
                (2..=ids.len() + 2).map(|number| format!("{base}-{number}")).find(|id| !ids.contains(id));
            call.id = free.unwrap_or_default();
            is_changed = true;
        }
        ids.insert(call.id.clone());
    }
    if is_changed {
        answer.message.raw = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::ToolCall;

    #[test]
    fn every_call_has_an_id_of_its_own() {
        let calls = ["a", "a", "", "a-2", ""].map(|id| ToolCall::new(id, "read", "{}"));
        let mut answer = Answer::calls(calls);
        make_ids_unique(&mut answer);
        let ids: Vec<&str> = answer.message.tool_calls().map(|call| &*call.id).collect();
        assert_eq!(ids, ["a", "a-2", "call-2", "a-2-2", "call-3"]);
    }
}
