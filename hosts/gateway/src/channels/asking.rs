//! Questions in chats: shown where somebody may answer them, and answered by a button or by a text typed new.

use std::sync::Arc;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolkit::PendingAsk;
use toolkit::approval::Answer;
use toolkit_channel::{Account, Conversation, Incoming, Press};

use super::AtWork;
use super::arrival::Arrival;
use crate::SessionKey;
use crate::people::{OWNER, Person};
use crate::store::{AskOutcome, AskRecord, Role, Store, StoreError, Target};

/// The pause after a store that failed.
const RETRY: std::time::Duration = std::time::Duration::from_secs(1);
/// The characters of a code.
const CODE_CHARS: usize = 4;
/// The most sessions above one that are looked at.
const MAX_DEPTH: usize = 32;

/// An answer that somebody typed, or sent by a button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typed {
    is_allowed: bool,
    code: String,
}

/// Returns the answer of a message, if its sender typed it new: it is neither forwarded nor edited, and quotes nobody.
pub(super) fn typed(incoming: &Incoming) -> Option<Typed> {
    let is_new = !incoming.is_forwarded && !incoming.is_edited && incoming.quote.is_none();
    if is_new { parse(&incoming.text) } else { None }
}

fn parse(text: &str) -> Option<Typed> {
    let mut words = text.split_whitespace();
    let (verb, code) = (words.next()?, words.next()?);
    let is_allowed = match &*verb.to_ascii_lowercase() {
        "approve" => true,
        "deny" => false,
        _ => return None,
    };
    let is_code = code.len() == CODE_CHARS && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_code && words.next().is_none()).then(|| Typed { is_allowed, code: code.to_ascii_uppercase() })
}

/// Carries out an answer that a person typed.
pub(super) async fn answered(
    arrival: &Arrival<'_>,
    incoming: &Incoming,
    person: &Person,
    typed: Typed,
) -> Result<(), StoreError> {
    let text = answer(arrival, person, typed).await?;
    arrival.reply(&incoming.external_id, &incoming.conversation, &text).await
}

/// Carries out the button that somebody pressed. A stranger, and one who is blocked, hears nothing.
pub(super) async fn pressed(arrival: &Arrival<'_>, press: Press) -> Result<(), StoreError> {
    let found = arrival.store.person_of_sender(&arrival.account.channel, &press.sender.id).await?;
    let person = found.filter(|person| person.blocked_at.is_none() && !press.sender.is_bot);
    if let (Some(person), Some(typed)) = (person, parse(&press.data)) {
        let role = person.role;
        let text = answer(arrival, &Person::new(person, role), typed).await?;
        // A courtesy, for which nothing waits.
        let account = Arc::clone(&arrival.account.account);
        tokio::spawn(async move { account.acknowledge(&press.id, &text).await });
    }
    // The first answer counts: what is pressed again after a crash is told so.
    arrival.skip().await
}

/// Answers a question, if the person may. Returns what to tell them.
async fn answer(arrival: &Arrival<'_>, person: &Person, typed: Typed) -> Result<String, StoreError> {
    let Typed { is_allowed, code } = typed;
    let no_right = || Ok("Only the owner, or an approver of the agent, answers questions.".to_owned());
    if person.role() == Role::User {
        return no_right();
    }
    let unknown = || format!("No question `{code}` waits.");
    let Some(ask) = arrival.store.ask(&code).await? else { return Ok(unknown()) };
    if !may_answer(person, &ask) {
        // Those without the right do not learn what waits.
        return no_right();
    }
    let given = if is_allowed { Answer::allow() } else { Answer::deny() };
    match arrival.at_work.questions.answer(&code, given, person.name()).await {
        Ok(AskOutcome::Answered) if is_allowed => Ok("Allowed.".to_owned()),
        Ok(AskOutcome::Answered) => Ok("Denied.".to_owned()),
        Ok(AskOutcome::AnsweredBefore { .. }) => Ok(format!("The question `{code}` was answered before.")),
        Ok(AskOutcome::Expired) => Ok(format!("The time of the question `{code}` is over: it is denied.")),
        Ok(AskOutcome::Unknown) => Ok(unknown()),
        Err(crate::QuestionError::Store(error)) => Err(error),
        Err(error) => Ok(format!("This does not answer the question: {error}")),
    }
}

fn may_answer(person: &Person, ask: &AskRecord) -> bool {
    match &ask.session {
        Some(session) => person.may_answer(session),
        None => person.is_manager(),
    }
}

/// Shows each question that waits where somebody may answer it, once, until it is stopped.
pub(super) async fn show_all(
    store: Store,
    accounts: Vec<Account>,
    at_work: AtWork,
    stopping: CancellationToken,
) {
    let mut events = store.last_event();
    loop {
        events.mark_unchanged();
        let shown = show(&store, &accounts, &at_work).await;
        if let Err(error) = &shown {
            tracing::error!(%error, "a question cannot be shown; the store is tried again");
        }
        tokio::select! {
            changed = events.changed(), if shown.is_ok() => {
                if changed.is_err() {
                    return;
                }
            }
            () = tokio::time::sleep(RETRY), if shown.is_err() => {}
            () = stopping.cancelled() => return,
        }
    }
}

async fn show(store: &Store, accounts: &[Account], at_work: &AtWork) -> Result<(), StoreError> {
    for ask in at_work.questions.list().await? {
        let Ok(pending) = serde_json::from_value::<PendingAsk>(ask.ask.clone()) else { continue };
        // The same question keeps its place also when it is asked again after a restart.
        let id = format!("{}/{}", ask.code, pending.question().digest());
        for target in targets(store, accounts, &ask).await? {
            let has_buttons = accounts.iter().any(|account| {
                account.channel == target.channel
                    && account.id == target.account
                    && account.account.capabilities().buttons
            });
            store
                .show_ask(id.clone(), ask.session.clone(), target, body(&ask, &pending, has_buttons))
                .await?;
        }
    }
    Ok(())
}

/// The question as a chat shows it.
fn body(ask: &AskRecord, pending: &PendingAsk, has_buttons: bool) -> serde_json::Value {
    let code = &ask.code;
    let text = pending.to_text();
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let how = if has_buttons { "Press a button, or write" } else { "Write" };
    let text = format!("{fence}\n{text}\n{fence}\n\n{how} `approve {code}` or `deny {code}`.");
    let mut body = json!({ "text": text });
    if has_buttons {
        body["buttons"] = json!([[
            { "text": "Allow", "data": format!("approve {code}") },
            { "text": "Deny", "data": format!("deny {code}") },
        ]]);
    }
    body
}

/// The conversations in which a question is shown: the one from which its run was begun, if somebody there may answer it, and otherwise those
/// of the owner.
async fn targets(store: &Store, accounts: &[Account], ask: &AskRecord) -> Result<Vec<Target>, StoreError> {
    let is_ours = |target: &Target| {
        accounts.iter().any(|account| account.channel == target.channel && account.id == target.account)
    };
    let of_run = match &ask.session {
        Some(session) => origin(store, session).await?.filter(is_ours),
        None => None,
    };
    let is_for_them = match &ask.person {
        Some(name) => store.person(name.clone()).await?.is_some_and(|person| {
            let role = person.role;
            person.blocked_at.is_none() && may_answer(&Person::new(person, role), ask)
        }),
        // A group sees what its conversation asks.
        None => true,
    };
    if let (Some(target), true) = (&of_run, is_for_them) {
        return Ok(vec![target.clone()]);
    }
    if of_run.is_none() && is_for_them {
        // Its conversation is elsewhere: in the console, or at the command line.
        return Ok(Vec::new());
    }
    let mut targets = Vec::new();
    for identity in store.identities(Some(OWNER.to_owned())).await? {
        // Which of several accounts the owner writes to is not known; the first answer counts.
        for account in accounts.iter().filter(|account| account.channel == identity.channel) {
            let conversation = Conversation::direct(&*identity.sender).to_string();
            targets.push(Target::new(&account.channel, &account.id, conversation));
        }
    }
    Ok(targets)
}

/// Where the run that asks was begun from, or the one above it.
async fn origin(store: &Store, session: &SessionKey) -> Result<Option<Target>, StoreError> {
    let mut session = session.clone();
    for _ in 0..MAX_DEPTH {
        if let Some(target) = store.answers_to(session.clone()).await? {
            return Ok(Some(target));
        }
        let Some(parent) = store.session(session).await?.and_then(|record| record.parent) else {
            return Ok(None);
        };
        session = parent;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_word_and_a_code_and_nothing_else() {
        let allowed = |code: &str| Some(Typed { is_allowed: true, code: code.to_owned() });
        assert_eq!(parse("approve 7F3K"), allowed("7F3K"));
        assert_eq!(parse("  Approve  7f3k \n"), allowed("7F3K"));
        assert_eq!(parse("deny 7F3K"), Some(Typed { is_allowed: false, code: "7F3K".to_owned() }));
        for other in [
            "approve",
            "7F3K",
            "approve 7F3K please",
            "please approve 7F3K",
            "approve 7F3",
            "approve 7F3KK",
            "approve ÄF3",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
