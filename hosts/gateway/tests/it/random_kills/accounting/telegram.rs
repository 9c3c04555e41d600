//! The comparison of what people wrote on Telegram, and of what arrived there, with the store.

use std::collections::BTreeMap;

use toolkit_channel::Conversation;
use toolkit_loopback::bot_api::{FakeBotApi, Sent};

use super::super::model::id_of;
use super::super::telegram::{CHANNEL, SOURCE, Written};
use super::{Left, Part, Report};

/// Everything that a person wrote is in the inbox once, nothing that anybody else wrote is, and the offset is behind the last update.
pub(super) fn updates(
    report: &mut Report,
    left: &Left,
    written: &[Written],
    (offset, last): (Option<&str>, &str),
) {
    let of_telegram = || left.messages.iter().filter(|message| message.source == SOURCE);
    let mut there: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for message in of_telegram() {
        there.entry(&message.external_id).or_default().push(&message.text);
    }
    for Written { id, external_id } in written {
        let texts = there.remove(external_id.as_str()).unwrap_or_default();
        let is_it = matches!(texts[..], [text] if id_of(text).as_ref() == Some(id));
        report.expect(is_it, || format!("the update {external_id} with {id} is in the inbox as {texts:?}"));
    }
    report.expect(there.is_empty(), || format!("no person of the gateway wrote {there:?} on Telegram"));
    report.expect(offset == Some(last), || format!("the offset is {offset:?}, and not {last}"));
    report.count("written on Telegram", written.len());
}

/// Returns how often each part for Telegram arrived. What arrived is of one part each, in order in each chat.
pub(super) fn arrivals(report: &mut Report, left: &Left, telegram: &FakeBotApi) -> BTreeMap<i64, usize> {
    let violations = telegram.violations();
    report.expect(violations.is_empty(), || format!("violations of the Bot API: {violations:?}"));
    let sent = telegram.sent();
    report.count("arrived on Telegram", sent.len());
    report.count("polls on Telegram", sent.iter().filter(|sent| sent.method == "sendPoll").count());
    let mut chats: BTreeMap<i64, Chat<'_>> = BTreeMap::new();
    for part in left.parts.iter().filter(|part| part.channel == CHANNEL) {
        let chat = part.conversation.parse::<Conversation>().unwrap().peer.parse().unwrap();
        chats.entry(chat).or_default().parts.push(part);
    }
    for sent in &sent {
        chats.entry(sent.chat).or_default().sent.insert(sent.message_id, sent);
    }
    let mut arrived = BTreeMap::new();
    for (chat, Chat { parts, sent }) in chats {
        for id in arrivals_in(report, chat, &parts, &sent) {
            arrived.insert(id, 1);
        }
    }
    arrived
}

/// The parts for a chat in their order, and what arrived there, by its number.
#[derive(Default)]
struct Chat<'a> {
    parts: Vec<&'a Part>,
    sent: BTreeMap<i64, &'a Sent>,
}

/// Goes through what arrived in a chat in its order, and returns the parts that it is of.
///
/// The receipt of a delivered part names its message. A message that no receipt names is of the next part with its text of
/// which nobody knows, if that comes before the next delivered one. So two parts with one text are not mistaken for each
/// other, and what arrives out of order is of no part.
fn arrivals_in(report: &mut Report, chat: i64, parts: &[&Part], sent: &BTreeMap<i64, &Sent>) -> Vec<i64> {
    let mut delivered: BTreeMap<i64, usize> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.state == "delivered") {
        let message = part.receipt.as_ref().and_then(|receipt| receipt.parse().ok()).unwrap_or_default();
        let found = sent.get(&message).map(|sent| &sent.text);
        let is_it = found == Some(&part.text) && delivered.insert(message, index).is_none();
        report.expect(is_it, || {
            format!(
                "part {} to {chat} is delivered as {message} with {:?}, and there is {found:?}",
                part.id, part.text
            )
        });
    }
    let mut next = 0;
    let mut arrived = Vec::new();
    for (message, sent) in sent {
        let index = match delivered.get(message) {
            Some(index) => {
                report.expect(*index >= next, || {
                    format!("{message} arrived in {chat} behind what is to come after it: {:?}", sent.text)
                });
                Some(*index)
            }
            None => (next..parts.len())
                .take_while(|index| parts[*index].state != "delivered")
                .find(|index| parts[*index].state == "unknown" && parts[*index].text == sent.text),
        };
        match index {
            Some(index) => {
                arrived.push(parts[index].id);
                next = next.max(index + 1);
            }
            None => report.wrong.push(format!(
                "{:?} arrived in {chat} as {message}, and is of no part there, or once more",
                sent.text
            )),
        }
    }
    arrived
}

/// A call of the model that sends a poll has done so once at most.
pub(super) fn polls(report: &mut Report, left: &Left) {
    let mut polls: BTreeMap<&str, usize> = BTreeMap::new();
    for part in left.parts.iter().filter(|part| part.is_action) {
        *polls.entry(&part.text).or_default() += 1;
    }
    for (question, times) in &polls {
        report.expect(*times == 1, || format!("the poll {question:?} was prepared {times} times"));
    }
    report.count("polls prepared", polls.len());
}
