//! The checks of channels, against the server of the Bot API.

use super::account;
use serde_json::json;
use std::sync::{Arc, Mutex};
use toolkit_channel::conformance::{
    Double, Fault, Held, Operation, Person, Sent, Supported, Unsupported, run,
};
use toolkit_channel::{Button, Channel, Conversation, ConversationKind, Future};
use toolkit_loopback::Answer;
use toolkit_loopback::bot_api::{
    Chat, FakeBotApi, Fault as ApiFault, File, Held as ApiHeld, User, UserMessage,
};

/// The largest file that a request to the double can have.
const MAX_FILE: u64 = 15 << 20;

/// A server of the Bot API, with the group that the bot is a member of.
struct Telegram {
    server: FakeBotApi,
    group: Mutex<Chat>,
}

impl Telegram {
    async fn start() -> Self {
        let server = FakeBotApi::start().await;
        let group = Chat::group(-77, "Family");
        server.join(&group);
        Self { server, group: Mutex::new(group) }
    }

    /// The chat of a person, which the person has begun.
    fn chat(&self, person: Person) -> (User, Chat) {
        let user = User::new(5000 + i64::from(person.number), person.name);
        let chat = Chat::direct(&user);
        self.server.join(&chat);
        (user, chat)
    }

    fn group_chat(&self) -> Chat {
        self.group.lock().unwrap().clone()
    }

    /// The chat of a conversation.
    fn chat_of(&self, conversation: &Conversation) -> Chat {
        let id = conversation.peer.parse().unwrap();
        let group = self.group_chat();
        if group.id == id { group } else { Chat::direct(&User::new(id, "")) }
    }
}

fn conversation(chat: i64) -> Conversation {
    let kind = if chat > 0 { ConversationKind::Direct } else { ConversationKind::Group };
    Conversation::new(kind, chat.to_string())
}

fn method(operation: Operation) -> &'static str {
    match operation {
        Operation::Receive => "getUpdates",
        Operation::Send => "sendMessage",
    }
}

/// An answer that the server holds back.
struct Holding(ApiHeld);

impl Held for Holding {
    fn reached(&self) -> Future<'_, ()> {
        Box::pin(self.0.reached())
    }
}

impl Double for Telegram {
    fn open(&self) -> Arc<dyn Channel> {
        account(self.server.url(), self.server.token(), 60)
    }

    fn open_unreachable(&self) -> Supported<Arc<dyn Channel>> {
        Ok(account("http://127.0.0.1:1", self.server.token(), 60))
    }

    fn conversation(&self, person: Person) -> Conversation {
        conversation(self.chat(person).1.id)
    }

    fn write(&self, person: Person, text: &str) -> String {
        let (user, chat) = self.chat(person);
        self.server.say(&user, &chat, text).to_string()
    }

    fn sent(&self) -> Vec<Sent> {
        let button = |(text, data): &(String, String)| Button { text: text.clone(), data: data.clone() };
        let seen = |message: toolkit_loopback::bot_api::Sent| {
            let id = message.message_id.to_string();
            let mut sent = Sent::new(conversation(message.chat), id, message.text);
            sent.buttons = message.buttons.iter().map(|row| row.iter().map(button).collect()).collect();
            sent.options = message.options;
            sent.file = message.file.map(|file| file.bytes);
            sent.reply_to = message.reply_to.map(|id| id.to_string());
            (sent.is_silent, sent.is_deleted) = (message.is_silent, message.is_deleted);
            sent
        };
        self.server.sent().into_iter().map(seen).collect()
    }

    fn secrets(&self) -> Vec<String> {
        let token = self.server.token();
        vec![token.to_owned(), token.split(':').next_back().unwrap().to_owned()]
    }

    fn inject(&self, operation: Operation, fault: Fault) -> Supported<()> {
        let fault = match fault {
            Fault::CutBefore => ApiFault::CloseBefore,
            Fault::CutAfter => ApiFault::CloseAfter,
            Fault::Conflict => ApiFault::Conflict,
            Fault::TooMany(wait) => ApiFault::TooManyRequests(wait.as_secs()),
            Fault::ServerError(status) => ApiFault::ServerError(status),
            Fault::Markup => {
                let description = "Bad Request: can't parse entities: Unsupported start tag";
                let body = json!({ "ok": false, "error_code": 400, "description": description });
                ApiFault::Answer(Answer::json(400, &body))
            }
            other => return Err(Unsupported(format!("the double has no fault {other:?}"))),
        };
        self.server.inject(method(operation), 1, fault);
        Ok(())
    }

    fn clear_faults(&self) {
        self.server.clear_faults();
    }

    fn hold(&self, operation: Operation) -> Supported<Box<dyn Held>> {
        Ok(Box::new(Holding(self.server.hold(method(operation)))))
    }

    fn edit(&self, person: Person, message_id: &str, text: &str) -> Supported<()> {
        self.server.edit(&self.chat(person).1, message_id.parse().unwrap(), text);
        Ok(())
    }

    fn write_file(&self, person: Person, name: &str, bytes: &[u8]) -> Supported<()> {
        let (user, chat) = self.chat(person);
        let file = File::new(name, "application/octet-stream", bytes);
        self.server.deliver(&chat, UserMessage::document(&user, file));
        Ok(())
    }

    fn write_unreadable(&self) -> Supported<()> {
        self.server.push_update("message", &json!({ "message_id": "no number" }));
        Ok(())
    }

    fn group(&self) -> Supported<Conversation> {
        Ok(conversation(self.group_chat().id))
    }

    fn write_in_group(&self, person: Person, text: &str, mentions: bool) -> Supported<()> {
        let bot = self.server.bot().username.unwrap();
        let text = if mentions { format!("@{bot} {text}") } else { text.to_owned() };
        self.server.say(&self.chat(person).0, &self.group_chat(), &text);
        Ok(())
    }

    fn press(
        &self,
        person: Person,
        conversation: &Conversation,
        message_id: &str,
        data: &str,
    ) -> Supported<String> {
        let chat = self.chat_of(conversation);
        Ok(self.server.press(&self.chat(person).0, &chat, message_id.parse().unwrap(), data))
    }

    fn acknowledged(&self, press_id: &str) -> Supported<Option<String>> {
        Ok(self.server.acknowledgement(press_id))
    }

    fn reaction(&self, conversation: &Conversation, message_id: &str) -> Supported<Option<String>> {
        Ok(self.server.reaction(&self.chat_of(conversation), message_id.parse().unwrap()))
    }

    fn move_group(&self) -> Supported<(String, String)> {
        let mut group = self.group.lock().unwrap();
        let from = group.id;
        *group = self.server.migrate(&group, -1_001_234);
        Ok((from.to_string(), group.id.to_string()))
    }

    fn max_file(&self) -> u64 {
        MAX_FILE
    }

    fn take_violations(&self) -> Vec<String> {
        self.server.take_violations()
    }
}

#[tokio::test]
async fn the_channel_keeps_to_its_trait() {
    let report = run(&Telegram::start().await).await;
    report.assert();
    assert_eq!(report.left_out(), ["media_limit"], "{report}");
}
