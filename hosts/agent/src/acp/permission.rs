//! Questions to the person at the editor.

use super::SharedLink;
use super::content::plain;
use super::diff::{Change, changes};
use super::rpc::Fault;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use toolkit::{
    Approver, Ask,
    approval::{AllowScope, Answer, Answering, AskDetail, DeniedBy, Elicitation, PendingAsk, Question},
    text::escape_line,
};

/// The most denials that a session remembers.
const MAX_DENIALS: usize = 1_000;

const ALLOW_ONCE: &str = "allow_once";
const ALLOW_SESSION: &str = "allow_session";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT_ONCE: &str = "reject_once";
const REJECT_ALWAYS: &str = "reject_always";

/// Asks in the editor.
pub(super) struct Editor {
    link: SharedLink,
    /// The questions that were denied for the whole session.
    denied: Mutex<Vec<Ask>>,
}

impl Editor {
    pub(super) fn new(link: SharedLink) -> Self {
        Self { link, denied: Mutex::default() }
    }

    async fn answer(&self, pending: &PendingAsk) -> Answer {
        match pending.question() {
            Question::Approve(ask) => self.permission(pending, ask).await,
            Question::Elicit(elicitation) => self.value(pending, elicitation).await,
            _ => Answer::Cancelled,
        }
    }

    async fn permission(&self, pending: &PendingAsk, ask: &Ask) -> Answer {
        if self.denied().iter().any(|denied| denied.asks_the_same(ask)) {
            return Answer::deny_saying("the user denied this for the whole session");
        }
        let answer = self.link.client.request("session/request_permission", &self.request(pending, ask));
        let outcome = match answer.answer().await {
            Ok(result) => result["outcome"].clone(),
            Err(fault) => return unanswered(&fault),
        };
        if is_selected(&outcome, REJECT_ALWAYS) {
            let mut denied = self.denied();
            if denied.len() < MAX_DENIALS {
                denied.push(ask.clone());
            }
        }
        decision(&outcome)
    }

    /// The parameters of `session/request_permission`.
    fn request(&self, pending: &PendingAsk, ask: &Ask) -> Value {
        let updates = self.link.updates();
        let call = &pending.origin().call_id;
        let id = updates.id_of(call).unwrap_or(call).to_owned();
        let mut changed: Vec<Change> = Vec::new();
        for detail in &ask.details {
            if let AskDetail::Diff { path, diff } = detail {
                let path = Some(Path::new(path));
                changed.extend(changes(diff, updates.workspace(), path));
            }
        }
        let mut content: Vec<Value> = changed.iter().map(Change::to_content).collect();
        if content.is_empty() {
            // Indented text is shown as it is.
            let lines: Vec<String> = pending.to_text().lines().map(|line| format!("    {line}")).collect();
            let text = lines.join(
                "
",
            );
            content.push(plain(&text));
        }
        let locations: Vec<Value> = changed.iter().map(Change::to_location).collect();
        let mut tool_call = json!({
            "toolCallId": id, "title": escape_line(&ask.title), "status": "pending", "content": content,
        });
        if !locations.is_empty() {
            tool_call["kind"] = "edit".into();
            tool_call["locations"] = locations.into();
        }
        let session = self.link.session.get().map_or("", String::as_str);
        json!({"sessionId": session, "toolCall": tool_call, "options": options(pending, ask)})
    }

    async fn value(&self, pending: &PendingAsk, elicitation: &Elicitation) -> Answer {
        if !self.link.client.abilities().elicit_forms {
            let reason = "the editor cannot show a form; ask the user in your answer";
            return Answer::denied_by(DeniedBy::NobodyThere, reason);
        }
        let call = &pending.origin().call_id;
        let id = self.link.updates().id_of(call).map(str::to_owned);
        let mut params = json!({
            "sessionId": self.link.session.get(), "mode": "form", "message": elicitation.message,
            "requestedSchema": elicitation.schema,
        });
        if let Some(id) = id {
            params["toolCallId"] = id.into();
        }
        match self.link.client.request("elicitation/create", &params).answer().await {
            Ok(result) => submitted(&result),
            Err(fault) => unanswered(&fault),
        }
    }

    fn denied(&self) -> std::sync::MutexGuard<'_, Vec<Ask>> {
        self.denied.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Approver for Editor {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        Box::pin(async move { Some(self.answer(ask).await.into()) })
    }
}

fn is_selected(outcome: &Value, option: &str) -> bool {
    outcome["outcome"] == "selected" && outcome["optionId"] == option
}

/// Returns the decision of an outcome of `session/request_permission`. Only an option that allows does so.
fn decision(outcome: &Value) -> Answer {
    match (outcome["outcome"].as_str(), outcome["optionId"].as_str()) {
        (Some("cancelled"), _) => Answer::Cancelled,
        (Some("selected"), Some(ALLOW_ONCE)) => Answer::allow(),
        (Some("selected"), Some(ALLOW_SESSION)) => Answer::allow_for_session(),
        (Some("selected"), Some(ALLOW_ALWAYS)) => Answer::allow_always(),
        (Some("selected"), Some(REJECT_ONCE | REJECT_ALWAYS)) => Answer::deny(),
        _ => Answer::denied_by(DeniedBy::Fault, "the editor gave an answer that was not offered"),
    }
}

/// Returns the answer of a form. Only the action `accept` submits the values.
fn submitted(result: &Value) -> Answer {
    match result["action"].as_str() {
        Some("accept") => Answer::value(result.get("content").cloned().unwrap_or_else(|| json!({}))),
        Some("decline") => Answer::Declined,
        _ => Answer::Cancelled,
    }
}

fn unanswered(fault: &Fault) -> Answer {
    Answer::denied_by(DeniedBy::NobodyThere, format!("the editor did not ask the user: {}", fault.message))
}

/// The answers that are offered.
fn options(pending: &PendingAsk, ask: &Ask) -> Vec<Value> {
    let option = |id: &str, kind: &str, name: String| json!({"optionId": id, "kind": kind, "name": name});
    let patterns: Vec<_> = ask.patterns.iter().map(|pattern| escape_line(pattern)).collect();
    let what = match patterns.as_slice() {
        [] => "this".to_owned(),
        [tool] if pending.is_for_every_call() => format!("every call of {tool}"),
        several => several.join(", "),
    };
    let conditions =
        ask.conditions.iter().map(|condition| format!(", only while: {}", escape_line(condition)));
    let what = conditions.fold(what, |what, condition| what + &condition);
    let mut options = vec![option(ALLOW_ONCE, "allow_once", "Allow once".to_owned())];
    for scope in pending.scopes() {
        match scope {
            AllowScope::Session => {
                let name = format!("Allow for this session: {what}");
                options.push(option(ALLOW_SESSION, "allow_always", name));
            }
            AllowScope::Always => {
                let name = format!("Always allow in this workspace: {what}");
                options.push(option(ALLOW_ALWAYS, "allow_always", name));
            }
            _ => {}
        }
    }
    options.push(option(REJECT_ONCE, "reject_once", "Reject".to_owned()));
    options.push(option(REJECT_ALWAYS, "reject_always", "Reject for this session".to_owned()));
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::approval::Origin;

    #[test]
    fn only_an_option_that_allows_is_an_approval() {
        for (outcome, expected) in [
            (json!({"outcome": "selected", "optionId": "allow_once"}), Answer::allow()),
            (json!({"outcome": "selected", "optionId": "allow_session"}), Answer::allow_for_session()),
            (json!({"outcome": "selected", "optionId": "allow_always"}), Answer::allow_always()),
            (json!({"outcome": "selected", "optionId": "reject_once"}), Answer::deny()),
            (json!({"outcome": "selected", "optionId": "reject_always"}), Answer::deny()),
            (json!({"outcome": "cancelled"}), Answer::Cancelled),
            (json!({"outcome": "cancelled", "optionId": "allow_once"}), Answer::Cancelled),
        ] {
            assert_eq!(decision(&outcome), expected, "{outcome}");
        }
        for outcome in [
            json!({"outcome": "selected", "optionId": "no"}),
            json!({"outcome": "selected"}),
            json!({"optionId": "allow_once"}),
            json!({"outcome": "allow_once"}),
            json!("allow_once"),
            json!(true),
            Value::Null,
        ] {
            assert!(matches!(decision(&outcome), Answer::Deny { by: DeniedBy::Fault, .. }), "{outcome}");
        }
    }

    #[test]
    fn only_the_action_accept_submits_a_form() {
        for (result, expected) in [
            (json!({"action": "accept", "content": {"a": 1}}), Answer::value(json!({"a": 1}))),
            (json!({"action": "accept"}), Answer::value(json!({}))),
            (json!({"action": "decline"}), Answer::Declined),
            (json!({"action": "decline", "content": {"a": 1}}), Answer::Declined),
            (json!({"action": "cancel", "content": {"a": 1}}), Answer::Cancelled),
            (json!({"action": "no"}), Answer::Cancelled),
            (json!({"action": true, "content": {}}), Answer::Cancelled),
            (json!({"content": {"a": 1}}), Answer::Cancelled),
            (Value::Null, Answer::Cancelled),
        ] {
            assert_eq!(submitted(&result), expected, "{result}");
        }
    }

    #[test]
    fn an_option_names_the_actions_that_it_covers() {
        let ask = || Ask::new("deploy", "call `deploy`");
        for (ask, covered) in [
            (ask(), "this"),
            (ask().with_pattern("deploy"), "every call of deploy"),
            (ask().with_pattern("a.txt").with_pattern("b.txt"), "a.txt, b.txt"),
        ] {
            let pending = PendingAsk::detached(Origin::new("1", "deploy"), Question::Approve(ask.clone()));
            let names: Vec<Value> =
                options(&pending, &ask).iter().map(|option| option["name"].clone()).collect();
            let session = format!("Allow for this session: {covered}");
            assert_eq!(names, ["Allow once", &session, "Reject", "Reject for this session"]);
        }
    }
}
