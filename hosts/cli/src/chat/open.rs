//! The conversation of a chat, and its runs as the person watches them.

use super::typed::Typed;
use crate::agent::Show;
use crate::console::Console;
use crate::exit::Stop;
use crate::signals::Interrupts;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::pin::pin;
use toolkit::CancellationToken;
use toolkit_agent::{
    Agent, Conversation, ConversationOptions, Conversations, IncomingMessage, Observation, ObservedEvent,
    Session, ToolAgentResult,
};

/// The name of the conversation among those of the process, of which it is the only one.
const NAME: &str = "chat";
/// The time between two looks whether a question stands on the terminal, as long as there are events to show.
const INTERVAL: std::time::Duration = std::time::Duration::from_millis(20);

/// A conversation that is alive, and the view of the person at it.
pub(super) struct OpenConversation {
    conversation: Conversation,
    observation: Observation,
    /// The files that it changed.
    files: Vec<PathBuf>,
}

impl OpenConversation {
    /// Opens it. A run begins when the person says something, or when the chat waits for the person and a background job ends.
    pub(super) fn new(conversations: &Conversations, session: Session) -> Result<Self, Stop> {
        let files = session.files_modified().to_vec();
        let options = ConversationOptions::new().wakes(false).resumes(false);
        let opened = conversations.open(NAME, session, options);
        let conversation = opened.map_err(|error| Stop::failed(error.to_string()))?;
        let observation = conversation.observe_whole();
        Ok(Self { conversation, observation, files })
    }

    pub(super) fn id(&self) -> &str {
        self.conversation.id()
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(super) fn set_agent(&self, agent: Agent) {
        self.conversation.set_agent(agent);
    }

    /// Waits for the end of a background job.
    pub(super) async fn woken(&self) {
        self.conversation.woken().await;
    }

    /// Begins a run with a message, or with what waits for the model.
    pub(super) fn begin(&self, message: Option<&str>) -> Result<(), Stop> {
        match message {
            Some(text) => {
                let sent = self.conversation.send(IncomingMessage::once(text));
                sent.map(drop).map_err(|error| Stop::failed(error.to_string()))
            }
            None if self.conversation.wake() => Ok(()),
            None => Err(Stop::failed("nothing waits for the model".to_owned())),
        }
    }

    /// Returns true if a run is under way, or a message waits for one.
    pub(super) fn is_busy(&self) -> bool {
        self.conversation.running().is_some() || !self.conversation.waiting().is_empty()
    }

    /// Shows a run to its end. Lines that are typed meanwhile reach it, but commands, and messages beyond the limit, wait.
    pub(super) async fn run(
        &mut self,
        interrupts: &Interrupts,
        show: &mut Show,
        typed: &mut Option<Typed>,
        waiting: &mut VecDeque<String>,
        console: &mut Console<'_>,
    ) -> Result<ToolAgentResult, Stop> {
        let cancel = CancellationToken::new();
        interrupts.set(Some(cancel.clone()));
        let shown = self.shown(&cancel, show, typed, waiting, console).await;
        interrupts.set(None);
        if let Ok(result) = &shown {
            self.files.clone_from(&result.files_modified);
        }
        shown
    }

    async fn shown(
        &mut self,
        cancel: &CancellationToken,
        show: &mut Show,
        typed: &mut Option<Typed>,
        waiting: &mut VecDeque<String>,
        console: &mut Console<'_>,
    ) -> Result<ToolAgentResult, Stop> {
        let mut events = VecDeque::new();
        let mut is_cancelled = false;
        let conversation = &self.conversation;
        let mut typing = pin!(send_typed(conversation, typed, waiting));
        loop {
            // While a question stands on the terminal, nothing is written over it.
            if show.may_show() {
                for event in events.drain(..) {
                    show.event(&event, console)?;
                }
            }
            tokio::select! {
                biased;
                observed = self.observation.next() => match observed {
                    Some(Ok(observed)) => match observed.event {
                        ObservedEvent::Run { event, .. } => events.push_back(*event),
                        ObservedEvent::RunEnded { result, .. } => {
                            for event in events.drain(..) {
                                show.event(&event, console)?;
                            }
                            return Ok(*result);
                        }
                        _ => {}
                    },
                    // It misses nothing.
                    Some(Err(_)) => {}
                    None => return Err(Stop::failed("the conversation has ended".to_owned())),
                },
                // After what was observed: the run may have ended, and then there is nothing to cancel.
                () = cancel.cancelled(), if !is_cancelled => {
                    // The run may be about to begin.
                    is_cancelled = conversation.cancel();
                    if !is_cancelled {
                        tokio::task::yield_now().await;
                    }
                }
                () = &mut typing => {}
                () = tokio::time::sleep(INTERVAL), if !events.is_empty() => {}
            }
        }
    }
}

/// Sends the lines that are typed, so that they reach the run. It never ends.
async fn send_typed(conversation: &Conversation, typed: &mut Option<Typed>, waiting: &mut VecDeque<String>) {
    let Some(typed) = typed else { return std::future::pending().await };
    loop {
        for line in typed.lines().await {
            // A message beyond the limit of those that wait has a turn of its own.
            if line.starts_with('/') || conversation.send(IncomingMessage::once(&*line).steering()).is_err() {
                waiting.push_back(line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use std::sync::Arc;
    use toolkit::Toolkit;
    use toolkit_agent::{DelegationRequest, FinalAnswer, StopReason};
    use toolkit_models::{Answer, Scripted, ScriptedReply};

    /// The person sees the first answer when the next run has begun already.
    #[tokio::test]
    async fn ctrl_c_after_the_end_of_a_run_does_not_cancel_the_next_one() {
        let model = Scripted::new([Answer::text("one").into(), ScriptedReply::Stall]);
        let agent = Agent::builder(Toolkit::empty().build().unwrap(), Arc::new(model));
        let agent = agent.final_answer(FinalAnswer::Text).build();
        let conversations = Conversations::new();
        let session = agent.session(&DelegationRequest::default()).unwrap();
        let mut open = OpenConversation::new(&conversations, session).unwrap();
        let first = open.conversation.send(IncomingMessage::new("1", "one")).unwrap();
        let second = open.conversation.send(IncomingMessage::new("2", "two")).unwrap();
        let first = first.ended().await.unwrap().run;
        while open.conversation.running().is_none_or(|run| run == first) {
            tokio::task::yield_now().await;
        }
        let cancel = CancellationToken::new();
        cancel.cancel();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console::new(&mut out, &mut err);
        let mut show = Show::new(Format::Text, &console);
        let mut waiting = VecDeque::new();
        let shown = open.shown(&cancel, &mut show, &mut None, &mut waiting, &mut console).await.unwrap();
        assert_eq!((shown.stop_reason, &*shown.summary), (StopReason::Answered, "one"));
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(open.is_busy(), "the next run goes on");
        // The next Ctrl-C is for it.
        let shown = open.shown(&cancel, &mut show, &mut None, &mut waiting, &mut console).await.unwrap();
        assert_eq!(shown.stop_reason, StopReason::Cancelled);
        assert!(second.ended().await.is_some());
    }
}
