//! The checks of channels, with a channel that passes them and with seeded bugs.

mod channel;
mod platform;

use std::sync::{Arc, Mutex};

use tokio::sync::watch;
use toolkit_channel::conformance::{Double, Fault, Held, Operation, Person, Sent, Supported, names, run};
use toolkit_channel::{Channel, Conversation};

use channel::{Account, Bug, Memory};
use platform::{Happening, Holding, Platform, TOKEN, Wrote};

/// The platform in memory, with channels that have a bug.
struct InMemory {
    platform: Platform,
    bug: Bug,
    has_keys: bool,
}

impl InMemory {
    fn new(bug: Bug, has_keys: bool) -> Self {
        Self { platform: Platform::default(), bug, has_keys }
    }

    fn account(&self, is_reachable: bool) -> Arc<dyn Channel> {
        let platform = self.platform.clone();
        let memory = Mutex::new(Memory::default());
        Arc::new(Account { platform, bug: self.bug, has_keys: self.has_keys, is_reachable, memory })
    }

    fn happen(
        &self,
        person: Person,
        conversation: Conversation,
        text: &str,
        change: impl FnOnce(&mut Wrote),
    ) -> u64 {
        let mut state = self.platform.state();
        let number = state.number(&conversation);
        let mut wrote = Wrote {
            person,
            conversation,
            number,
            text: text.to_owned(),
            mentions: false,
            file: None,
            is_edited: false,
        };
        change(&mut wrote);
        state.wrote.insert(format!("{}#{number}", wrote.conversation), wrote.clone());
        state.happen(Happening::Wrote(wrote));
        number
    }
}

impl Double for InMemory {
    fn open(&self) -> Arc<dyn Channel> {
        self.account(true)
    }

    fn open_unreachable(&self) -> Supported<Arc<dyn Channel>> {
        Ok(self.account(false))
    }

    fn conversation(&self, person: Person) -> Conversation {
        Conversation::direct(format!("p{}", person.number))
    }

    fn write(&self, person: Person, text: &str) -> String {
        self.happen(person, self.conversation(person), text, |_| {}).to_string()
    }

    fn sent(&self) -> Vec<Sent> {
        self.platform.state().sent.clone()
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned()]
    }

    fn inject(&self, operation: Operation, fault: Fault) -> Supported<()> {
        self.platform.state().faults.push((operation, fault));
        Ok(())
    }

    fn clear_faults(&self) {
        let mut state = self.platform.state();
        state.faults.clear();
        state.holds.clear();
    }

    fn hold(&self, operation: Operation) -> Supported<Box<dyn Held>> {
        let (reached, was_reached) = watch::channel(false);
        let (release, released) = watch::channel(false);
        self.platform.state().holds.push((operation, reached, released));
        Ok(Box::new(Holding { reached: was_reached, _released: release }))
    }

    fn edit(&self, person: Person, message_id: &str, text: &str) -> Supported<()> {
        let mut state = self.platform.state();
        let mut wrote = state.wrote[&format!("{}#{message_id}", self.conversation(person))].clone();
        (wrote.text, wrote.is_edited) = (text.to_owned(), true);
        state.happen(Happening::Wrote(wrote));
        Ok(())
    }

    fn write_file(&self, person: Person, name: &str, bytes: &[u8]) -> Supported<()> {
        self.platform.state().files.insert(name.to_owned(), bytes.to_vec());
        self.happen(person, self.conversation(person), "", |wrote| wrote.file = Some(name.to_owned()));
        Ok(())
    }

    fn write_unreadable(&self) -> Supported<()> {
        self.platform.state().happen(Happening::Strange);
        Ok(())
    }

    fn group(&self) -> Supported<Conversation> {
        Ok(self.platform.state().group())
    }

    fn write_in_group(&self, person: Person, text: &str, mentions: bool) -> Supported<()> {
        let group = self.group()?;
        self.happen(person, group, text, |wrote| wrote.mentions = mentions);
        Ok(())
    }

    fn press(
        &self,
        person: Person,
        conversation: &Conversation,
        message_id: &str,
        data: &str,
    ) -> Supported<String> {
        let id = format!("press-of-{message_id}");
        self.platform.state().happen(Happening::Pressed {
            id: id.clone(),
            person,
            conversation: conversation.clone(),
            message_id: message_id.to_owned(),
            data: data.to_owned(),
        });
        Ok(id)
    }

    fn acknowledged(&self, press_id: &str) -> Supported<Option<String>> {
        Ok(self.platform.state().acknowledged.get(press_id).cloned())
    }

    fn move_group(&self) -> Supported<(String, String)> {
        let mut state = self.platform.state();
        let from = state.group().peer;
        state.group += 1;
        let to = state.group().peer;
        state.happen(Happening::Moved { from: from.clone(), to: to.clone() });
        Ok((from, to))
    }
}

#[tokio::test]
async fn a_channel_without_bugs_passes_all_checks() {
    for has_keys in [false, true] {
        let report = run(&InMemory::new(Bug::None, has_keys)).await;
        report.assert();
        assert_eq!(report.left_out(), Vec::<&str>::new(), "{report}");
        assert_eq!(report.checks.len(), names().len());
    }
}

/// The seeded bugs, each with the check of its rule.
const SEEDED: &[(Bug, &str)] = &[
    (Bug::NewIdentity, "identify"),
    (Bug::ConfirmsAtOnce, "receive_repeats"),
    (Bug::BuffersConfirmed, "receive_dropped"),
    (Bug::OffsetOfAnswer, "receive_order"),
    (Bug::NewestFirst, "receive_order"),
    (Bug::StrangeIsError, "receive_unreadable"),
    (Bug::IdOfConversation, "receive_ids"),
    (Bug::EditKeepsId, "receive_edits"),
    (Bug::SkipsAfterFailure, "receive_cut"),
    (Bug::ConflictIsNoError, "receive_conflict"),
    (Bug::ForgetsWait, "receive_too_many"),
    (Bug::SenderIsName, "senders"),
    (Bug::GroupIsDirect, "groups"),
    (Bug::JoinsParagraphs, "send_texts"),
    (Bug::MarkupIsRefused, "send_markup"),
    (Bug::CountsCharacters, "text_limit"),
    (Bug::CutsLongTexts, "text_limit"),
    (Bug::UnreachableIsUnknown, "send_unreachable"),
    (Bug::SendsAgainAfterWait, "send_too_many"),
    (Bug::ServerErrorIsRefused, "send_server_error"),
    (Bug::CutIsNotSent, "send_cut"),
    (Bug::SendsAgainAfterCut, "send_cut"),
    (Bug::NewKey, "send_crash"),
    (Bug::EditSendsAnew, "edit"),
    (Bug::ReactionIsIgnored, "react"),
    (Bug::DataIsCut, "buttons"),
    (Bug::PressOfMessage, "press"),
    (Bug::ReplyIsLost, "reply"),
    (Bug::AlwaysSilent, "silent"),
    (Bug::UnknownActionPasses, "platform_action"),
    (Bug::CaptionIsEscaped, "media"),
    (Bug::FetchesAnySize, "media_received"),
    (Bug::TypingPanics, "typing_and_acknowledge"),
    (Bug::MovedIsRefused, "moved"),
    (Bug::TokenInError, "secrets"),
    (Bug::EmptyIsError, "receive_empty"),
    (Bug::UnreachableIsEmpty, "receive_unreachable"),
    (Bug::ServerErrorIsEmpty, "receive_server_error"),
    (Bug::RoomOfName, "conversations"),
    (Bug::FirstHalfOfPart, "send_parts"),
    (Bug::DeletesAnother, "delete"),
    (Bug::LosesLastOption, "poll"),
    (Bug::StatesLargerLimits, "caption_limit"),
    (Bug::StatesLargerLimits, "media_limit"),
    (Bug::CutsLargeFiles, "media_too_large"),
    (Bug::BuffersConfirmed, "receive_dropped_answer"),
    (Bug::BuffersConfirmed, "receive_reopened"),
];

/// The most checks that one bug fails, fewer than half of all: the others do not touch it.
const MAX_FAILED: usize = 20;

#[tokio::test]
async fn each_seeded_bug_fails_the_check_of_its_rule() {
    for (bug, expected) in SEEDED {
        // The bug is in the key.
        let has_keys = *bug == Bug::NewKey;
        let report = run(&InMemory::new(*bug, has_keys)).await;
        let failed = report.failed();
        println!("{bug:?}: {failed:?}");
        assert!(failed.contains(expected) && failed.len() <= MAX_FAILED, "{bug:?}\n{report}");
    }
}

#[test]
fn each_check_has_a_seeded_bug() {
    let without = |name: &&str| SEEDED.iter().all(|(_, check)| check != name);
    let without: Vec<&str> = names().into_iter().filter(without).collect();
    assert!(without.is_empty(), "{without:?}");
}

#[tokio::test]
async fn a_report_names_what_was_expected_and_seen() {
    let report = run(&InMemory::new(Bug::CutIsNotSent, false)).await;
    let text = report.to_string();
    assert!(text.contains("FAILED    send_cut: a connection that is cut"), "{text}");
    assert!(text.contains("expected: Unknown, as the request may have been processed"), "{text}");
    assert!(text.contains("seen: Err(NotSent"), "{text}");
    let panic = std::panic::catch_unwind(|| report.assert()).unwrap_err();
    let panic = panic.downcast_ref::<String>().unwrap();
    assert!(panic.contains(&text), "{panic}");
}

/// The least that a double can be: what it lacks is left out, by name and reason.
struct Least(InMemory);

impl Double for Least {
    fn open(&self) -> Arc<dyn Channel> {
        self.0.open()
    }

    fn conversation(&self, person: Person) -> Conversation {
        self.0.conversation(person)
    }

    fn write(&self, person: Person, text: &str) -> String {
        self.0.write(person, text)
    }

    fn sent(&self) -> Vec<Sent> {
        self.0.sent()
    }

    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }

    fn take_violations(&self) -> Vec<String> {
        let long =
            |sent: &Sent| sent.text.starts_with("Quiet?").then(|| format!("not allowed: {}", sent.text));
        let mut state = self.0.platform.state();
        let found = state.sent.iter().filter_map(long).collect();
        state.sent.clear();
        found
    }
}

#[tokio::test]
async fn checks_that_a_double_cannot_serve_are_left_out_with_the_reason() {
    let report = run(&Least(InMemory::new(Bug::None, false))).await;
    assert_eq!(report.failed(), ["silent"], "a request that the platform does not permit: {report}");
    let expected = [
        "receive_dropped_answer",
        "receive_unreadable",
        "receive_edits",
        "receive_unreachable",
        "receive_cut",
        "receive_conflict",
        "receive_too_many",
        "receive_server_error",
        "groups",
        "send_markup",
        "send_unreachable",
        "send_too_many",
        "send_server_error",
        "send_cut",
        "send_crash",
        "press",
        "media_received",
        "moved",
        "secrets",
    ];
    assert_eq!(report.left_out(), expected, "{report}");
    let text = report.to_string();
    assert!(text.contains("left out  groups: the double has no group"), "{text}");
}
