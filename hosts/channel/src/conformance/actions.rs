//! Checks of abilities: an action that the platform can do works, and one that it cannot do is refused.

use super::bench::{ADA, BERT, Bench, plain};
use super::double::Sent;
use super::report::{Checked, Stop, ensure, equal, shown};
use super::sending::markup_of;
use crate::error::SendError;
use crate::event::EventKind;
use crate::outgoing::{Action, Button};

/// The most options of a poll, and bytes of a button, whose limit is checked.
const MAX_LIMIT: usize = 1 << 16;

/// Sends a text to act on.
async fn message(bench: &mut Bench<'_>) -> Checked<Sent> {
    let text = bench.text("A message");
    let outgoing = bench.outgoing(ADA, plain(text));
    bench.deliver_new(&outgoing).await
}

/// Refuses an action without its ability: true if the platform has it.
async fn is_able(bench: &mut Bench<'_>, can: bool, subject: &str, action: Action) -> Checked<bool> {
    if !can {
        let outgoing = bench.outgoing(ADA, action);
        bench.expect_refused(subject, &outgoing).await?;
    }
    Ok(can)
}

pub(super) async fn edit(bench: &mut Bench<'_>) -> Checked {
    let sent = message(bench).await?;
    let text = bench.text("Edited & <changed>");
    let markup = markup_of(&bench.channel.style(), &text);
    let action = Action::Edit { message_id: sent.message_id.clone(), plain: text.clone(), markup };
    if !is_able(bench, bench.channel.capabilities().edit, "an edit", action.clone()).await? {
        return Ok(());
    }
    let before = bench.double.sent().len();
    let outgoing = bench.outgoing(ADA, action);
    bench.deliver(&outgoing).await?;
    // The same edit again changes nothing, and is no error.
    bench.deliver(&outgoing).await?;
    equal("the text after the edit", &bench.sent(&sent)?.text, &text)?;
    equal("the number of messages after the edit", &bench.double.sent().len(), &before)
}

pub(super) async fn delete(bench: &mut Bench<'_>) -> Checked {
    let (sent, other) = (message(bench).await?, message(bench).await?);
    let action = Action::Delete { message_id: sent.message_id.clone() };
    if !is_able(bench, bench.channel.capabilities().delete, "a deletion", action.clone()).await? {
        return Ok(());
    }
    let outgoing = bench.outgoing(ADA, action);
    bench.deliver(&outgoing).await?;
    let is_deleted = |sent: &Sent| bench.sent(sent).map_or(true, |sent| sent.is_deleted);
    ensure(is_deleted(&sent), "the message is deleted", || shown(&sent))?;
    ensure(!is_deleted(&other), "no other message is deleted", || shown(&other))
}

pub(super) async fn react(bench: &mut Bench<'_>) -> Checked {
    let sent = message(bench).await?;
    let action = |emoji: &str| Action::React { message_id: sent.message_id.clone(), emoji: emoji.to_owned() };
    if !is_able(bench, bench.channel.capabilities().react, "a reaction", action("👍")).await? {
        return Ok(());
    }
    for (emoji, expected) in [("👍", Some("👍")), ("", None)] {
        let outgoing = bench.outgoing(ADA, action(emoji));
        bench.deliver(&outgoing).await?;
        let reaction = bench.double.reaction(&sent.conversation, &sent.message_id)?;
        equal("the reaction", &reaction.as_deref(), &expected)?;
    }
    Ok(())
}

pub(super) async fn poll(bench: &mut Bench<'_>) -> Checked {
    let max = bench.channel.limits().poll_options;
    let question = bench.text("Which one?");
    let options = |number: usize| (1..=number).map(|number| format!("option {number}")).collect::<Vec<_>>();
    let poll =
        |number| Action::Poll { question: question.clone(), options: options(number), multiple: false };
    if !is_able(bench, bench.channel.capabilities().poll, "a poll", poll(2)).await? {
        return Ok(());
    }
    for number in [2, max.min(MAX_LIMIT)] {
        let outgoing = bench.outgoing(ADA, poll(number));
        let sent = bench.deliver_new(&outgoing).await?;
        equal("the question", &sent.text, &question)?;
        equal("the options", &sent.options, &options(number))?;
    }
    if max < MAX_LIMIT {
        let outgoing = bench.outgoing(ADA, poll(max + 1));
        bench.expect_refused("a poll with one option more than the limit", &outgoing).await?;
    }
    Ok(())
}

/// Returns a text with two rows of buttons.
fn with_buttons(text: &str, data: &str) -> Action {
    let button = |text: &str, data: &str| Button { text: text.to_owned(), data: data.to_owned() };
    let buttons =
        vec![vec![button("Yes", data), button("No & never", "n")], vec![button("Later 😀", "later")]];
    Action::Text { plain: text.to_owned(), markup: None, buttons }
}

pub(super) async fn buttons(bench: &mut Bench<'_>) -> Checked {
    let max = bench.channel.limits().button_data;
    let text = bench.text("Shall I?");
    let action = with_buttons(&text, "y");
    if !is_able(bench, bench.channel.capabilities().buttons, "a button", action.clone()).await? {
        return Ok(());
    }
    let longest = "d".repeat(max.min(MAX_LIMIT));
    for action in [action, with_buttons(&text, &longest)] {
        let outgoing = bench.outgoing(ADA, action.clone());
        let sent = bench.deliver_new(&outgoing).await?;
        equal("the text", &sent.text, &text)?;
        let Action::Text { buttons, .. } = action else { continue };
        equal("the buttons", &sent.buttons, &buttons)?;
    }
    if max < MAX_LIMIT {
        let outgoing = bench.outgoing(ADA, with_buttons(&text, &"d".repeat(max + 1)));
        bench.expect_refused("a button with one byte more than the limit", &outgoing).await?;
    }
    Ok(())
}

pub(super) async fn press(bench: &mut Bench<'_>) -> Checked {
    if !bench.channel.capabilities().buttons {
        return Err(Stop::LeftOut("the platform has no buttons".to_owned()));
    }
    bench.catch_up().await?;
    let data = "d".repeat(bench.channel.limits().button_data.min(MAX_LIMIT));
    let text = bench.text("Shall I?");
    let outgoing = bench.outgoing(BERT, with_buttons(&text, &data));
    let sent = bench.deliver_new(&outgoing).await?;
    let hello = bench.write(BERT, "A message of the same person");
    let sender = bench.message(&hello).await?.sender;
    let id = bench.double.press(BERT, &sent.conversation, &sent.message_id, &data)?;
    let kinds = bench.read_until("the press", |kind| matches!(kind, EventKind::Press(_))).await?;
    let Some(EventKind::Press(press)) = kinds.into_iter().next_back() else {
        return Err(Stop::failed("a press", "another event"));
    };
    equal("the data of the press", &press.data, &data)?;
    equal("the message of the press", &press.message_id, &sent.message_id)?;
    equal("the conversation of the press", &press.conversation, &sent.conversation)?;
    equal("the sender of the press", &Some(press.sender.id), &sender.map(|sender| sender.id))?;
    let channel = std::sync::Arc::clone(&bench.channel);
    super::guard::guarded("acknowledge", channel.acknowledge(&press.id, "Done")).await?;
    match bench.double.acknowledged(&id) {
        Ok(shown_text) => equal("the acknowledgement", &shown_text.as_deref(), &Some("Done")),
        // Not every platform shows one.
        Err(_) => Ok(()),
    }
}

pub(super) async fn reply(bench: &mut Bench<'_>) -> Checked {
    let first = message(bench).await?;
    let text = bench.text("A reply");
    let mut outgoing = bench.outgoing(ADA, plain(text));
    outgoing.reply_to = Some(first.message_id.clone());
    if bench.channel.capabilities().reply {
        let sent = bench.deliver_new(&outgoing).await?;
        return equal("the message that is replied to", &sent.reply_to, &Some(first.message_id));
    }
    without_ability(bench, &outgoing).await
}

pub(super) async fn silent(bench: &mut Bench<'_>) -> Checked {
    for is_silent in [true, false] {
        let text = bench.text("Quiet?");
        let mut outgoing = bench.outgoing(ADA, plain(text));
        outgoing.silent = is_silent;
        if !bench.channel.capabilities().silent {
            return without_ability(bench, &outgoing).await;
        }
        let sent = bench.deliver_new(&outgoing).await?;
        equal("is_silent", &sent.is_silent, &is_silent)?;
    }
    Ok(())
}

pub(super) async fn of_platform(bench: &mut Bench<'_>) -> Checked {
    let name = "an_action_of_no_platform".to_owned();
    let action = Action::Platform { name, arguments: serde_json::json!({}) };
    is_able(bench, false, "an action of no platform", action).await.map(drop)
}

/// An option that the platform does not have is left out, or the part is refused.
async fn without_ability(bench: &mut Bench<'_>, outgoing: &crate::Outgoing) -> Checked {
    let before = bench.double.sent().len();
    let sent = bench.send(outgoing).await?;
    let number = bench.double.sent().len() - before;
    let is_right = match &sent {
        Ok(_) => number == 1,
        Err(SendError::Refused { .. }) => number == 0,
        Err(_) => false,
    };
    ensure(is_right, "the text alone, or Refused", || format!("{sent:?} and {number} messages"))
}

pub(super) async fn moved(bench: &mut Bench<'_>) -> Checked {
    let group = bench.double.group()?;
    bench.catch_up().await?;
    let (from, to) = bench.double.move_group()?;
    let expected = EventKind::Moved { from: from.clone(), to: to.clone() };
    let last = bench.write(ADA, "After the move");
    let is_last = |kind: &EventKind| matches!(kind, EventKind::Message(message) if message.text == last);
    let kinds = bench.read_until("the message after the move", is_last).await?;
    let number = kinds.iter().filter(|kind| **kind == expected).count();
    ensure(number == 1, format!("the event {expected:?}, once"), || shown(&kinds))?;
    let mut conversation = group;
    conversation.peer = from;
    let text = bench.text("To a group that moved");
    let outgoing = bench.outgoing_in(conversation.clone(), plain(text.clone()));
    let before = bench.double.sent();
    let sent = bench.send(&outgoing).await?;
    equal("the error for the earlier id", &sent, &Err(SendError::Moved { to: to.clone() }))?;
    equal("the messages after that", &bench.double.sent(), &before)?;
    conversation.peer = to;
    let outgoing = bench.outgoing_in(conversation, plain(text));
    bench.deliver_new(&outgoing).await.map(|_| ())
}
