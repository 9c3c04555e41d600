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
    let mut sent: BTreeMap<(i64, i64), Sent> =
        telegram.sent().into_iter().map(|sent| ((sent.chat, sent.message_id), sent)).collect();
    report.count("arrived on Telegram", sent.len());
    report.count("polls on Telegram", sent.values().filter(|sent| sent.method == "sendPoll").count());
    let parts: Vec<(&Part, i64)> = left
        .parts
        .iter()
        .filter(|part| part.channel == CHANNEL)
        .map(|part| (part, part.conversation.parse::<Conversation>().unwrap().peer.parse().unwrap()))
        .collect();
    let mut arrived: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for (part, chat) in parts.iter().filter(|(part, _)| part.state == "delivered") {
        let message = part.receipt.as_ref().and_then(|receipt| receipt.parse().ok()).unwrap_or_default();
        match sent.remove(&(*chat, message)) {
            Some(sent) if sent.text == part.text => drop(arrived.insert(part.id, (*chat, message))),
            found => report.wrong.push(format!(
                "part {} to {chat} is delivered as {message} with {:?}, and there is {:?}",
                part.id,
                part.text,
                found.map(|found| found.text)
            )),
        }
    }
    // Of what is left, each is of one part of which nobody knows.
    for (part, chat) in parts.iter().filter(|(part, _)| part.state == "unknown") {
        let is_it = |sent: &&Sent| sent.chat == *chat && sent.text == part.text;
        if let Some(place) = sent.values().find(is_it).map(|sent| (sent.chat, sent.message_id)) {
            sent.remove(&place);
            arrived.insert(part.id, place);
        }
    }
    for sent in sent.values() {
        report
            .wrong
            .push(format!("{:?} arrived in {}, and is of no part, or once more", sent.text, sent.chat));
    }
    let mut last: BTreeMap<i64, i64> = BTreeMap::new();
    for (chat, message) in arrived.values() {
        let before = last.insert(*chat, *message).unwrap_or_default();
        report.expect(before < *message, || format!("{message} arrived in {chat} before {before}"));
    }
    arrived.into_keys().map(|id| (id, 1)).collect()
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
