//! Questions and answers as the protocol has them: elicitation.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};
use toolkit::approval::{AllowScope, Answer, DeniedBy, PendingAsk, Question};
use toolkit::text::escape_line;

/// Name of the form's only field: the scope of the approval.
const FOR: &str = "allow";

/// Converts a question to an elicitation request. `Err` holds the answer to use if the protocol has no form for the
/// question.
pub(super) fn params(ask: &PendingAsk) -> Result<ElicitRequestParams, Answer> {
    let schema = match ask.question() {
        Question::Approve(asked) => permission(ask.scopes(), &covered(ask, &asked.patterns)),
        Question::Elicit(elicitation) => elicitation.schema.clone(),
        _ => return Err(cannot_be_asked("a question of this kind")),
    };
    let requested_schema: ElicitationSchema =
        serde_json::from_value(schema).map_err(|error| cannot_be_asked(&error.to_string()))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message: ask.to_text(), requested_schema })
}

fn cannot_be_asked(what: &str) -> Answer {
    Answer::denied_by(DeniedBy::Fault, format!("the protocol has no form for it: {what}"))
}

/// Accepting the form is the approval; the field sets its scope, by default this once.
fn permission(scopes: &[AllowScope], covered: &str) -> Value {
    let names: Vec<&str> = scopes.iter().map(|scope| name(*scope)).collect();
    let titles: Vec<String> = scopes.iter().map(|scope| title(*scope, covered)).collect();
    let field = json!({
        "type": "string", "title": "Allow it", "description": "Decline to deny it.",
        "enum": names, "enumNames": titles, "default": name(AllowScope::Once),
    });
    json!({ "type": "object", "properties": { FOR: field } })
}

fn name(scope: AllowScope) -> &'static str {
    match scope {
        AllowScope::Session => "session",
        AllowScope::Always => "always",
        _ => "once",
    }
}

fn title(scope: AllowScope, covered: &str) -> String {
    match scope {
        AllowScope::Session => format!("{covered}, until the session ends"),
        AllowScope::Always => format!("{covered}, always in this workspace"),
        _ => "this once".to_owned(),
    }
}

/// Returns the actions that an answer covers which is remembered. The message names the patterns.
fn covered(ask: &PendingAsk, patterns: &[String]) -> String {
    match patterns {
        _ if ask.is_for_every_call() => format!("every call of `{}`", escape_line(&ask.origin().tool)),
        [] => "exactly this".to_owned(),
        [_] => "all with this pattern".to_owned(),
        _ => "all with these patterns".to_owned(),
    }
}

/// Converts the client's answer. An invalid answer denies.
pub(super) fn answer(ask: &PendingAsk, result: ElicitResult) -> Answer {
    match (result.action, ask.question()) {
        (ElicitationAction::Cancel, _) => Answer::Cancelled,
        (ElicitationAction::Decline, Question::Approve(_)) => Answer::deny(),
        (ElicitationAction::Decline, _) => Answer::Declined,
        (ElicitationAction::Accept, Question::Approve(_)) => {
            let content = result.content.unwrap_or_else(|| json!({}));
            let Value::Object(content) = &content else {
                return Answer::denied_by(
                    DeniedBy::Fault,
                    "the client's answer has a content that is not a form's",
                );
            };
            match content.get(FOR) {
                None => Answer::allow(),
                Some(Value::String(scope)) if scope == "once" => Answer::allow(),
                Some(Value::String(scope)) if scope == "session" => Answer::allow_for_session(),
                Some(Value::String(scope)) if scope == "always" => Answer::allow_always(),
                Some(_) => Answer::denied_by(
                    DeniedBy::Fault,
                    format!("the client answered with something for `{FOR}` that is not in the form"),
                ),
            }
        }
        (ElicitationAction::Accept, _) => Answer::value(result.content.unwrap_or(Value::Object(Map::new()))),
        _ => Answer::denied_by(DeniedBy::Fault, "the client's answer is not valid in the protocol"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::{
        Ask,
        approval::{Elicitation, Origin},
    };

    fn approve(ask: Ask) -> PendingAsk {
        PendingAsk::detached(Origin::new("1", "x"), Question::Approve(ask))
    }

    #[test]
    fn a_choice_names_the_actions_that_it_covers() {
        let ask = || Ask::new("edit", "write");
        for (ask, covered, choices) in [
            // An answer to a question without a pattern is not kept beyond the session.
            (ask(), "exactly this", 2),
            (ask().with_pattern("x"), "every call of `x`", 3),
            (ask().with_pattern("a.txt"), "all with this pattern", 3),
            (ask().with_pattern("a.txt").with_pattern("x"), "all with these patterns", 3),
        ] {
            let origin = Origin::new("1", "x").with_workspace("/srv");
            let ask = PendingAsk::detached(origin, Question::Approve(ask));
            let Ok(ElicitRequestParams::FormElicitationParams { requested_schema, .. }) = params(&ask) else {
                panic!("no form")
            };
            let form = serde_json::to_value(requested_schema).unwrap();
            let titles = [
                "this once".to_owned(),
                format!("{covered}, until the session ends"),
                format!("{covered}, always in this workspace"),
            ];
            assert_eq!(form["properties"]["allow"]["enumNames"], json!(titles[..choices]));
        }
    }

    #[test]
    fn only_what_was_offered_allows() {
        let ask = approve(Ask::new("edit", "t"));
        let accepted = |content| ElicitResult::new(ElicitationAction::Accept).with_content(content);
        let is_allowed = |result| matches!(answer(&ask, result), Answer::Allow { .. });
        assert!(is_allowed(ElicitResult::new(ElicitationAction::Accept)));
        assert_eq!(answer(&ask, accepted(json!({}))), Answer::allow());
        assert_eq!(answer(&ask, accepted(json!({"allow": "session"}))), Answer::allow_for_session());
        assert_eq!(answer(&ask, accepted(json!({"allow": "always"}))), Answer::allow_always());
        for wrong in [
            json!({"allow": "no"}),
            json!({"allow": "decline"}),
            json!({"allow": ""}),
            json!({"allow": false}),
            json!({"allow": null}),
            json!("no"),
            json!(false),
            json!(["no"]),
        ] {
            assert!(!is_allowed(accepted(wrong.clone())), "{wrong}");
        }
        assert_eq!(answer(&ask, ElicitResult::new(ElicitationAction::Decline)), Answer::deny());
        assert_eq!(answer(&ask, ElicitResult::new(ElicitationAction::Cancel)), Answer::Cancelled);
    }

    #[test]
    fn a_value_is_what_the_form_holds() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let question = Question::Elicit(Elicitation::new("how many?", schema.clone()).unwrap());
        let ask = PendingAsk::detached(Origin::new("1", "x"), question);
        let Ok(ElicitRequestParams::FormElicitationParams { message, requested_schema, .. }) = params(&ask)
        else {
            panic!("no form")
        };
        assert!(message.contains("how many?"), "{message}");
        assert_eq!(serde_json::to_value(requested_schema).unwrap(), schema);
        let accepted = ElicitResult::new(ElicitationAction::Accept).with_content(json!({"a": 1}));
        assert_eq!(answer(&ask, accepted), Answer::value(json!({"a": 1})));
        assert_eq!(answer(&ask, ElicitResult::new(ElicitationAction::Decline)), Answer::Declined);
    }
}
