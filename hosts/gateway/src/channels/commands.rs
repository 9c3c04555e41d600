//! The commands that people write in a chat.

use serde_json::json;
use toolkit_channel::Incoming;

use super::arrival::Arrival;
use crate::SessionKey;
use crate::people::Person;
use crate::store::StoreError;

const HELP: &str = "Write what you want; the answer comes here.\n\n/new begins a new conversation\n/stop ends what runs now\n/status says what runs and what waits\n/help shows this\n\n\
    Who may answer questions presses a button below one, or writes `approve CODE` or `deny CODE`.";

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    New,
    Stop,
    Status,
    Help,
}

impl Command {
    /// Returns the command of a message, if it is one that its sender wrote now.
    pub(super) fn parse(incoming: &Incoming) -> Option<Self> {
        if incoming.is_forwarded || incoming.is_edited {
            return None;
        }
        let first = incoming.text.trim().strip_prefix('/')?;
        // The account may be named behind it: `/new@family_bot`.
        let name = first.split(|char: char| char == '@' || char.is_whitespace()).next()?;
        match &*name.to_ascii_lowercase() {
            "new" => Some(Self::New),
            "stop" => Some(Self::Stop),
            "status" => Some(Self::Status),
            // Telegram sends it when somebody opens the conversation.
            "help" | "start" => Some(Self::Help),
            _ => None,
        }
    }
}

/// Carries out a command of a person, and answers it once.
pub(super) async fn run(
    arrival: &Arrival<'_>,
    incoming: &Incoming,
    person: &Person,
    key: SessionKey,
    command: Command,
) -> Result<(), StoreError> {
    let conversation = &incoming.conversation;
    let text = match command {
        Command::Help => HELP.to_owned(),
        Command::Status => status(arrival, person, &key).await?,
        Command::Stop => {
            // First, so that none of them begins when the run ends.
            let taken_back = arrival.store.withdraw(key.clone()).await?;
            let ended = arrival.at_work.sessions.cancel(key).await?;
            match (ended, taken_back) {
                (false, 0) => "Nothing runs, and nothing waits.".to_owned(),
                (true, 0) => "What ran is ended.".to_owned(),
                (true, waiting) => {
                    format!("What ran is ended, and {waiting} waiting messages are taken back.")
                }
                (false, waiting) => format!("{waiting} waiting messages are taken back."),
            }
        }
        Command::New => {
            let offset = (arrival.source.to_owned(), arrival.offset.clone());
            let body = json!({ "text": "A new conversation begins with your next message." });
            let target = arrival.target(conversation);
            let external_id = incoming.external_id.clone();
            arrival.store.begin_anew(key.clone(), offset, external_id, target, body).await?;
            arrival.at_work.sessions.cancel(key).await?;
            return Ok(());
        }
    };
    arrival.reply(&incoming.external_id, conversation, &text).await
}

async fn status(arrival: &Arrival<'_>, person: &Person, key: &SessionKey) -> Result<String, StoreError> {
    let runs = arrival.store.run_in_flight(key.clone()).await?.is_some();
    let waiting = arrival.store.queued(key.clone()).await?.len();
    let session = arrival.store.session(key.clone()).await?;
    let messages = session.map_or(0, |session| session.message_count);
    let run = if runs { "A run is at work." } else { "Nothing runs." };
    Ok(format!(
        "{run} {waiting} messages wait. You are `{}`, and talk to the agent `{}`; this conversation has {messages} messages.",
        person.name(),
        key.agent()
    ))
}

#[cfg(test)]
mod tests {
    use toolkit_channel::{Conversation, Sender};

    use super::*;

    #[test]
    fn a_command_is_what_its_sender_wrote_now() {
        let sender = || Sender { id: "1".to_owned(), name: "Ada".to_owned(), is_bot: false };
        let message = |text: &str| Incoming::text("1", Conversation::direct("1"), sender(), text);
        for (text, expected) in [
            ("/new", Some(Command::New)),
            (" /NEW@family_bot please", Some(Command::New)),
            ("/stop", Some(Command::Stop)),
            ("/status\n", Some(Command::Status)),
            ("/start", Some(Command::Help)),
            ("/newer", None),
            ("new", None),
            ("see /new", None),
            ("/", None),
        ] {
            assert_eq!(Command::parse(&message(text)), expected, "{text}");
        }
        let (mut forwarded, mut edited) = (message("/new"), message("/new"));
        forwarded.is_forwarded = true;
        edited.is_edited = true;
        assert_eq!([forwarded, edited].map(|message| Command::parse(&message)), [None, None]);
    }
}
