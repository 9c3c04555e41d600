//! A long conversation, which the documents show as it was.

mod script;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use toolkit::prelude::*;
use toolkit_loopback::bot_api::{Chat, File, Sent, UserMessage};
use toolkit_loopback::{Answer, Loopback};

use super::{Bots, OWNER, user};
use crate::agents::in_time;
use script::{Reply, Script, call, say};

/// The page that shows the conversation.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/channel-conversation.md");

/// Orders train tickets.
#[tool(group = "channel_test", title = "Order tickets")]
async fn order_tickets(
    /** The station. */
    to: String,
    /** How many. */
    count: u32,
) -> String {
    format!("ordered: {count} to {to}, 2 × 18.40")
}

/// An act of the person.
enum Act {
    Says(&'static str),
    Sends(Box<UserMessage>, &'static str),
    Presses(&'static str),
    Answers(&'static str),
    Edits(&'static str),
    Restarts,
}

fn sends(message: UserMessage, shown: &'static str) -> Act {
    Act::Sends(Box::new(message), shown)
}

/// One turn: what the person does, what the model answers, and how many messages come of it.
struct Turn {
    act: Act,
    replies: Vec<Reply>,
    messages: usize,
}

fn turn(act: Act, replies: Vec<Reply>) -> Turn {
    Turn { act, replies, messages: 1 }
}

fn says(text: &'static str, reply: &str) -> Turn {
    turn(Act::Says(text), vec![say(reply)])
}

/// The conversation so far, as the page shows it.
#[derive(Default)]
struct Page {
    text: String,
    turns: usize,
}

impl Page {
    fn person(&mut self, text: &str) {
        self.turns += 1;
        let _ = writeln!(self.text, "**{}. Ada:** {}\n", self.turns, text.replace('\n', "  \n"));
    }

    fn gateway(&mut self, text: &str) {
        let _ = writeln!(self.text, "*{text}*\n");
    }

    fn bot(&mut self, sent: &Sent) {
        for line in sent.text.lines() {
            let _ = writeln!(self.text, "    {line}");
        }
        let options: Vec<String> = sent.options.iter().map(|option| format!("( ) {option}")).collect();
        let buttons: Vec<String> =
            sent.buttons.iter().flatten().map(|(text, _)| format!("[{text}]")).collect();
        for more in [buttons.join(" "), options.join("\n    ")] {
            if !more.is_empty() {
                let _ = writeln!(self.text, "    {}", more.trim_end());
            }
        }
        self.text.push('\n');
    }
}

/// Reads sound and pictures for the host.
async fn provider() -> Loopback {
    Loopback::start(|request| match request.path.as_str() {
        "/v1/audio/transcriptions" => {
            Answer::json(200, &json!({ "text": "Please put milk and bread on the shopping list." }))
        }
        _ => Answer::json(
            200,
            &json!({ "choices": [{ "message": { "content": "A blue sign at a quay. It says: Ferry 16:40, pier 3." } }] }),
        ),
    })
    .await
}

fn first_half() -> Vec<Turn> {
    let ada = user(OWNER);
    vec![
        turn(Act::Says("/help"), vec![]),
        says(
            "Good morning! What can you do here?",
            "Good morning. I can **read and write files**, look things up, keep a schedule, and ask you before I do something that costs.",
        ),
        turn(Act::Says("/status"), vec![]),
        turn(
            sends(UserMessage::voice(&ada, b"OggS and speech"), "(a voice note)"),
            vec![
                call("write", &json!({ "file_path": "shopping.md", "content": "- milk\n- bread\n" })),
                say("Milk and bread are on the list."),
            ],
        ),
        says("And coffee, café crème if they have it ☕", "Noted: *café crème* ☕"),
        turn(
            sends(
                UserMessage::photo(&ada, super::super::platform::PNG).with_caption("When does it go?"),
                "(a picture) When does it go?",
            ),
            vec![say("The ferry goes at **16:40** from pier 3.")],
        ),
        turn(
            Act::Says("Order two tickets to the harbour, please."),
            vec![call("order_tickets", &json!({ "to": "the harbour", "count": 2 }))],
        ),
        turn(Act::Presses("Allow"), vec![say("Done: two tickets to the harbour, 36.80 in all.")]),
        turn(
            sends(UserMessage::location(&ada, 54.32, 10.14), "(a place)"),
            vec![say("You are in Kiel, 15 minutes on foot from pier 3.")],
        ),
        turn(
            sends(
                UserMessage::document(&ada, File::new("packing.txt", "text/plain", b"rain coat\ncamera\n")),
                "(the file packing.txt)",
            ),
            vec![say("A rain coat and a camera: the forecast agrees with the coat.")],
        ),
        says(
            "Show me the trip as a table.",
            "| leg | time |\n|---|---|\n| walk | 16:20 |\n| ferry | 16:40 |",
        ),
        says(
            "And as code for my calendar",
            "```ics\nBEGIN:VEVENT\nSUMMARY:Ferry\nDTSTART:20270301T164000\nEND:VEVENT\n```",
        ),
        says("What does <b>bold</b> & co. mean in HTML?", "`<b>` sets text in bold; `&amp;` is a plain `&`."),
        turn(Act::Restarts, vec![]),
    ]
}

fn second_half() -> Vec<Turn> {
    let (ada, other) = (user(OWNER), user(77));
    vec![
        says("Are you still there?", "Yes. We were at your trip: the ferry at 16:40."),
        turn(
            Act::Says("Order one more ticket."),
            vec![call("order_tickets", &json!({ "to": "the harbour", "count": 1 }))],
        ),
        turn(Act::Presses("Deny"), vec![say("All right, I order nothing more.")]),
        turn(
            Act::Says("Sorry, it was right: one more."),
            vec![call("order_tickets", &json!({ "to": "the harbour", "count": 1 }))],
        ),
        Turn { act: Act::Answers("approve"), replies: vec![say("Ordered: one more ticket.")], messages: 2 },
        turn(
            sends(
                UserMessage::text(&ada, "Platform 3 is closed!").forwarded_from(&other),
                "(forwards from somebody else) Platform 3 is closed!",
            ),
            vec![say("Somebody else wrote that; I find no such notice from the ferry company.")],
        ),
        says("Then meet me at pier 4", "Pier 4, at 16:30?"),
        turn(Act::Edits("Then meet me at pier 3"), vec![say("Pier 3 then, as on the sign.")]),
        Turn {
            act: Act::Says("Ask me which day suits, as a poll."),
            replies: vec![
                call(
                    "message",
                    &json!({ "action": "poll", "pollQuestion": "Which day suits?", "pollOption": ["Saturday", "Sunday"] }),
                ),
                say("There is the poll."),
            ],
            messages: 2,
        },
        turn(
            Act::Says("Remind me every Saturday at nine to look at the tides."),
            vec![
                call(
                    "cron",
                    &json!({ "action": "add", "schedule": "0 9 * * sat", "timezone": "Europe/Berlin", "prompt": "Remind Ada to look at the tides." }),
                ),
                say("I do so every Saturday at 9:00 in Berlin."),
            ],
        ),
        turn(Act::Says("/stop"), vec![]),
        says("Write 👨‍👩‍👧‍👦 and e\u{301} back to me.", "👨‍👩‍👧‍👦 and e\u{301}"),
        turn(Act::Says("/new"), vec![]),
        says(
            "What did we talk about?",
            "This conversation has just begun. Your files are still there: `shopping.md`, and the uploads.",
        ),
        turn(
            Act::Says("What is on my list?"),
            vec![call("read", &json!({ "file_path": "shopping.md" })), say("Milk and bread.")],
        ),
        says("Thank you, good night!", "Good night, Ada."),
    ]
}

async fn carry_out(mut bots: Bots, script: &Script, page: &mut Page, turns: Vec<Turn>) -> Bots {
    let mut asked: Option<Sent> = None;
    let mut last_id = 0;
    for Turn { act, replies, messages } in turns {
        script.expect(replies);
        let chat = Chat::direct(&user(OWNER));
        match act {
            Act::Says(text) => {
                page.person(text);
                last_id = bots.say(0, OWNER, text);
            }
            Act::Sends(message, shown) => {
                page.person(shown);
                bots.telegram().deliver(&chat, *message);
            }
            Act::Edits(text) => {
                page.person(&format!("(changes that to) {text}"));
                bots.telegram().edit(&chat, last_id, text);
            }
            Act::Presses(button) => {
                let asked = asked.take().unwrap();
                let pressed = asked.buttons.iter().flatten().find(|(text, _)| text == button).unwrap();
                page.person(&format!("(presses the button *{button}*)"));
                bots.telegram().press(&user(OWNER), &chat, asked.message_id, &pressed.1);
            }
            Act::Answers(word) => {
                let code = code_of(&asked.take().unwrap());
                page.person(&format!("{word} {code}"));
                bots.say(0, OWNER, &format!("{word} {code}"));
            }
            Act::Restarts => {
                page.gateway("Here the gateway is stopped, and started again.");
                bots = bots.restart().await;
                continue;
            }
        }
        let mut all = Vec::new();
        for _ in 0..messages {
            all.push(bots.next(0, OWNER).await);
        }
        // The answer of the gateway to a code may come before or after that of the agent.
        all.sort_by_key(|sent| sent.text != "Allowed.");
        for sent in all {
            page.bot(&sent);
            if !sent.buttons.is_empty() {
                asked = Some(sent);
            }
        }
        in_time(script.is_done()).await;
    }
    bots
}

fn code_of(asked: &Sent) -> String {
    asked.buttons[0][0].1.strip_prefix("approve ").unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_of_thirty_turns_is_as_the_documents_show_it() {
    let (provider, script) = (provider().await, Arc::new(Script::start().await));
    let at = format!("baseUrl: '{}/v1', apiKey: 'of-the-provider'", provider.url());
    let settings = [
        format!("models={{ local: {{ baseUrl: '{}', model: 'm', contextTokens: 1000000 }} }}", script.url),
        format!("tools.transcribe.providers=[{{ {at} }}]"),
        format!("tools.image.vision=[{{ {at}, model: 'v' }}]"),
        "permission={ edit: 'allow', message: 'allow', cron: 'allow' }".to_owned(),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let mut bots = Bots::of(1, &settings, None).await;
    let mut page = Page::default();

    page.person("Hello");
    bots.say(0, OWNER, "Hello");
    let told = bots.next(0, OWNER).await;
    let code = super::super::code(&told.text);
    page.bot(&told);
    let (status, _) = bots.post("/v1/pairings/approve", json!({ "sender": code, "owner": true })).await;
    assert_eq!(status, 200);
    page.gateway(
        "On the machine of the gateway, Ada types `toolkit gateway pair approve ABCD-EFGH --owner`.",
    );
    let welcome = bots.next(0, OWNER).await;
    page.bot(&welcome);

    let bots = carry_out(bots, &script, &mut page, first_half()).await;
    let bots = carry_out(bots, &script, &mut page, second_half()).await;
    assert!(page.turns >= 30, "{}", page.turns);
    let workspaces = {
        let mut path = bots.directory.path().as_os_str().to_owned();
        path.push("-workspaces");
        std::path::PathBuf::from(path)
    };
    bots.stop().await;
    std::fs::remove_dir_all(workspaces).unwrap();

    let mut text = page.text.replace(&code, "ABCD-EFGH");
    // The name of a session has the time at which it began.
    let place = text.find("session: agent ").unwrap() + "session: agent ".len();
    let session = text[place..].lines().next().unwrap().to_owned();
    text = text.replace(&session, "18c2f0a41b7-5d3e90c2aa");
    for (number, code) in codes(&text).into_iter().enumerate() {
        text = text.replace(&code, ["7F3K", "2QXD", "9WMB"][number]);
    }
    let page = format!(
        "# A conversation on Telegram\n\nThis is what a person and their agent wrote to each other over a [channel](channels.md), made by a test of the gateway: the \
         platform is a double of Telegram's Bot API, and the model follows a script. What the bot writes is set in.\n\n{}\n",
        text.trim_end()
    );
    let place = Path::new(PAGE);
    if std::env::var_os("RECORD").is_some() {
        std::fs::write(place, &page).unwrap();
    }
    let recorded = std::fs::read_to_string(place).unwrap_or_default();
    assert_eq!(page, recorded, "RECORD=1 writes docs/channel-conversation.md anew");
}

/// The codes of the questions, in order.
fn codes(text: &str) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for (place, _) in text.match_indices("write approve ") {
        let code: String = text[place + "write approve ".len()..].chars().take(4).collect();
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}
