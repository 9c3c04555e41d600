//! Questions that a tool asks a person.

use crate::approvals::{Allowed, Asker, Memory};
use crate::approver::Approver;
use crate::ask_record::{AskLog, AskNumber};
use crate::events::{AllowedBy, Event};
use crate::live::Reason;
use crate::permission::{DecidedRule, Decision, PermissionRequest, RuleDecision};
use crate::tool::context::ToolContext;
use serde_json::Value;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use toolkit_core::arg::{ArgsType, ToolArg};
use toolkit_core::ask::{Answer, Ask, Elicitation, Origin, Put, Question, is_guarded_kind};
use toolkit_core::error::ToolError;
use toolkit_core::escape::escape_line;

/// A type that a person fills in as a form.
// A trait of its own, so that a text is one compile error that says what to write.
#[diagnostic::on_unimplemented(
    message = "a person fills in a form, and `{Self}` is none",
    label = "not a struct with `#[toolkit::args]`",
    note = "on a struct of your own, put `#[toolkit::args]`; a single value is a field of one: `#[toolkit::args] struct Answer {{ /** What is asked for. */ text: String }}`, and ask by `.elicit::<Answer>(\"..\")`"
)]
pub trait Form: ToolArg {}

#[diagnostic::do_not_recommend]
impl<T: ToolArg + ArgsType> Form for T {}

impl ToolContext {
    /// Asks as [`ask`](Self::ask) says.
    pub(super) async fn ask_unless_decided(&self, ask: Ask) -> Result<(), ToolError> {
        self.check_cancelled()?;
        let request = PermissionRequest::new(&ask.kind, &ask.patterns).raised(ask.raised);
        let RuleDecision { decision, rule, said, .. } = self.decide(&request);
        match decision {
            Decision::Ask if !said && self.runs_unasked(&ask) => {
                let number = self.note_ask(|asks| asks.begin("tool", &ask));
                let rule = format!("tools.settings.{}.autoExecute", self.tool().name());
                self.tell_allowed(&ask, number, || AllowedBy::Rule { rule: rule.clone() });
                Ok(())
            }
            Decision::Ask => self.ask_person(ask, "tool").await,
            Decision::Allow => {
                let number = self.note_ask(|asks| asks.begin("tool", &ask));
                self.tell_allowed(&ask, number, || AllowedBy::Rule { rule: named(rule.as_ref()) });
                Ok(())
            }
            Decision::Deny => {
                if let Some(number) = self.note_ask(|asks| asks.begin("tool", &ask)) {
                    self.live().asks.denied_by_rule(number, &named(rule.as_ref()));
                }
                Err(denied(&ask, rule.as_ref()))
            }
        }
    }

    /// Returns the decision of the rules about an action of this tool; without a matching rule, the action has to be asked for.
    pub fn decide(&self, request: &PermissionRequest<'_>) -> RuleDecision {
        self.scope().rules.permissions.decide(self.caller(), &request.for_tool(self.tool()))
    }

    /// Returns true if `autoExecute: true` answers the question: it is of the tool's own kind, and neither its flags nor its paths
    /// raised it.
    fn runs_unasked(&self, ask: &Ask) -> bool {
        let tool = self.tool();
        !ask.raised
            && ask.kind == tool.permission()
            && !is_guarded_kind(&ask.kind)
            && self.scope().rules.permissions.runs_unasked(tool)
    }

    /// Asks as [`ask`](Self::ask) does, but does not apply rules that allow: for a tool that has already evaluated them, with more
    /// information than a question shows. Rules that deny and earlier approvals still apply.
    ///
    /// # Errors
    ///
    /// As [`ask`](Self::ask).
    pub async fn ask_in_person(&self, ask: Ask) -> Result<(), ToolError> {
        self.check_cancelled()?;
        let request = PermissionRequest::new(&ask.kind, &ask.patterns).raised(ask.raised);
        let RuleDecision { decision, rule, .. } = self.decide(&request);
        if decision == Decision::Deny {
            if let Some(number) = self.note_ask(|asks| asks.begin("tool", &ask)) {
                self.live().asks.denied_by_rule(number, &named(rule.as_ref()));
            }
            return Err(denied(&ask, rule.as_ref()));
        }
        self.ask_person(ask, "tool").await
    }

    /// Returns true if an earlier approval, for the session or always, answers this question, so that no person would be asked.
    ///
    /// Reads a small file, so it blocks. An unreadable file answers nothing.
    pub fn recalls(&self, ask: &Ask) -> bool {
        matches!(self.memory().recall(ask), Ok(Some(_)))
    }

    /// Asks a person regardless of the rules, if no earlier approval answers the question: for operations that have to be asked
    /// about. `asker` is recorded in the history as the source of the question.
    pub(crate) async fn ask_person(&self, ask: Ask, asker: &str) -> Result<(), ToolError> {
        self.check_cancelled()?;
        let number = self.note_ask(|asks| asks.begin(asker, &ask));
        let memory = self.memory();
        let recalled = memory.recall(&ask);
        if let Ok(Some(allowed)) = &recalled {
            self.tell_allowed(&ask, number, || match allowed {
                Allowed::Session => AllowedBy::Session,
                Allowed::Always(ids) => AllowedBy::Approval { ids: ids.clone() },
            });
            return Ok(());
        }
        let note = recalled.err();
        let workspace = memory.workspace().filter(|_| note.is_none()).map(str::to_owned);
        let title = ask.title.clone();
        // The runtime asks before the function of the call.
        let acts_later = ask.before_acting || asker != "tool";
        let mut origin = self.origin();
        origin.workspace = workspace;
        let put = Put::remembered(origin, Question::Approve(ask), note)
            .with_session_lifetime(memory.session_lifetime());
        let away = self.live().leave(Reason::Aside);
        // Boxed: the futures of most calls are small, since nobody is asked.
        let reply = Box::pin(self.hear(put, &memory, acts_later)).await?;
        if let Some(number) = number {
            self.live().asks.answered(number, &reply);
        }
        away.come_back().await;
        reply.answer.into_permission(&title)
    }

    fn tell_allowed(&self, ask: &Ask, number: Option<AskNumber>, by: impl Fn() -> AllowedBy) {
        self.send(|| Event::Allowed { kind: ask.kind.clone(), title: ask.title.clone(), by: by() });
        if let Some(number) = number {
            self.live().asks.allowed(number, &by());
        }
    }

    /// Records a question for the history, if there is one.
    fn note_ask(&self, begin: impl FnOnce(&AskLog) -> AskNumber) -> Option<AskNumber> {
        self.scope().toolkit.settings.history.is_some().then(|| begin(&self.live().asks))
    }

    /// Returns the remembered approvals of this tool, for this caller.
    fn memory(&self) -> Memory {
        let (scope, caller, tool) = (self.scope(), self.caller(), self.tool());
        let approvals = scope.toolkit.settings.approvals.clone();
        Memory::new(Asker::of(caller, tool), Arc::clone(&scope.session), approvals, caller.workspace_dir())
    }

    /// Asks a person for a value, and waits for it as [`ToolContext::ask`] does. Returns `None` if the person declines.
    ///
    /// `T` is a struct of plain fields: strings, numbers, booleans, enums without content. Put `#[toolkit::args]` on it.
    ///
    /// # Errors
    ///
    /// `Denied` when no person could be asked, `Aborted` when the person dismissed the question or the call is cancelled or over,
    /// `Failed` when `T` is another kind of type.
    // The future has no bound of its own: with one, the compiler reports a wrong type once more where it is awaited.
    pub fn elicit<'a, T: Form + 'a>(
        &'a self,
        message: impl Into<String>,
    ) -> Pin<Box<dyn Future<Output = Result<Option<T>, ToolError>> + Send + 'a>> {
        let elicitation = Elicitation::of::<T>(message);
        Box::pin(async move {
            match self.elicit_value(elicitation?).await? {
                None => Ok(None),
                Some(value) => T::decode(value)
                    .map(Some)
                    .map_err(|error| ToolError::failed(format!("the person's answer does not fit: {error}"))),
            }
        })
    }

    /// Asks a person for a value by a schema that is known at run time only, as [`elicit`](Self::elicit) does for a type. The answer
    /// matches the schema. Returns `None` if the person declines.
    ///
    /// # Errors
    ///
    /// `Denied` when no person could be asked, `Aborted` when the person dismissed the question or the call is cancelled or over.
    pub async fn elicit_value(&self, elicitation: Elicitation) -> Result<Option<Value>, ToolError> {
        self.put(Question::Elicit(elicitation)).await?.into_value()
    }

    /// Asks a person a question, regardless of the rules.
    pub(crate) async fn put(&self, question: Question) -> Result<Answer, ToolError> {
        let settings = &self.scope().toolkit.settings;
        self.check_cancelled()?;
        let number = self.note_ask(|asks| match &question {
            Question::Approve(ask) => asks.begin("tool", ask),
            other => asks.begin_elicitation(other.headline()),
        });
        let put = Put::once(self.origin(), question);
        let approver = self.approver();
        let asked = OnceLock::new();
        let answer = settings.asks.ask_telling(&*approver, put, |ask| {
            self.send(|| Event::Asked { ask: ask.clone() });
            let _ = asked.set(ask.id().to_owned());
        });
        self.wait_aside(async {
            let reply = answer.await;
            // A question that was refused before it was added to the list has no event.
            if let Some(ask_id) = asked.get() {
                self.send(|| Event::answered(ask_id, &reply));
            }
            if let Some(number) = number {
                self.live().asks.answered(number, &reply);
            }
            reply.answer
        })
        .await
    }

    /// Returns the call's own approver, or else the toolkit's.
    pub(super) fn approver(&self) -> Arc<dyn Approver> {
        self.approver.clone().unwrap_or_else(|| self.scope().toolkit.settings.shared_approver())
    }

    fn origin(&self) -> Origin {
        let mut origin = Origin::new(self.call_id(), self.tool_name()).with_caller(self.caller());
        origin.session_id = self.session_id().map(str::to_owned);
        origin.turn = self.kept_call.as_ref().and_then(|kept| kept.call.turn.clone());
        origin.agent = self.agent().map(str::to_owned);
        origin.message_id = self.message_id().map(str::to_owned);
        origin
    }
}

/// Returns the name of the rule that decided.
fn named(rule: Option<&DecidedRule>) -> String {
    rule.map_or_else(|| "a default".to_owned(), ToString::to_string)
}

/// Returns the error for an operation that the rules deny.
fn denied(ask: &Ask, rule: Option<&DecidedRule>) -> ToolError {
    let by = rule.map_or_else(|| "by default".to_owned(), |rule| format!("by the rule {rule}"));
    ToolError::denied(format!(
        "not allowed: {}. The kind `{}` is denied {by}. Nothing was done; do not try it in another way, go on without it \
         and say what was not allowed and why",
        escape_line(&ask.title),
        escape_line(&ask.kind),
    ))
}
