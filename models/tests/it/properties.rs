//! Conversations at random, with all that can happen in one, against servers that check every request.

use crate::clients::{Wire, ask, tools};
use crate::servers::{End, Faults, Issued, Received, Reply, Said, SaidPart, SaidStop, Server, anthropic};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::task::JoinSet;
use toolkit::{CancellationToken, Content, ToolCall, arguments::CallArguments};
use toolkit_models::{
    Answer, AssistantMessage, AssistantPart, Message, Model, ModelError, ModelEvent, Part, Request,
    StopReason, Thinking, ToolChoice, ToolOutput, UserMessage,
};

/// A picture of one dot.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const TEXTS: [&str; 6] = [
    "Hello.",
    "é 😀 \"quoted\" \\ data: x\n\nevent: y\r\n",
    "a",
    "{\"a\": [1, null]}",
    "  spaces  ",
    "\u{feff}[DONE]",
];

/// Numbers at random, the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap()
    }

    fn one_in(&mut self, most: usize) -> bool {
        self.below(most) == 0
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// The fault of one answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Trouble {
    None,
    /// A status, and the next request is answered.
    Status(u16),
    /// The answer ends before it should, by the connection or cleanly.
    Cut(End),
    /// The provider says in the middle that it failed.
    Error,
    /// An event is no JSON.
    Garbage,
    /// Nothing more comes, and the request is cancelled.
    Cancel,
}

/// The action of a server on the next request of a conversation.
struct Plan {
    said: Said,
    trouble: Trouble,
    fragment: usize,
    cuts: Vec<usize>,
    /// After how many events the trouble is.
    at: usize,
    marks: bool,
}

/// A conversation, as a server sees it.
#[derive(Default)]
struct Seen {
    plans: VecDeque<Plan>,
    issued: Issued,
    faults: Faults,
}

type Worlds = Arc<Mutex<HashMap<u64, Seen>>>;

fn seed_of(wire: Wire, body: &Value) -> u64 {
    let system = match wire {
        Wire::Chat => &body["messages"][0]["content"],
        Wire::Responses => &body["instructions"],
        Wire::Anthropic => &body["system"][0]["text"],
        Wire::Gemini => &body["systemInstruction"]["parts"][0]["text"],
    };
    system
        .as_str()
        .and_then(|text| text.strip_prefix("conversation ")?.parse().ok())
        .expect("the system prompt names the conversation")
}

fn answer(wire: Wire, worlds: &Worlds, request: &Received) -> Reply {
    let mut worlds = worlds.lock().unwrap();
    let seen = worlds.get_mut(&seed_of(wire, &request.body)).expect("the conversation is known");
    wire.check(request, &seen.issued, &mut seen.faults);
    let Some(plan) = seen.plans.pop_front() else {
        seen.faults.unless(false, || "a request more than there should be".to_owned());
        return Reply::json(400, &json!({"error": {"message": "no more"}}));
    };
    if wire == Wire::Anthropic {
        if plan.marks {
            anthropic::check_marks(&request.body, &mut seen.faults);
        } else {
            let has_marks = request.body.to_string().contains("cache_control");
            seen.faults.unless(!has_marks, || "marks that nobody wants".to_owned());
        }
    }
    if let Trouble::Status(status) = plan.trouble {
        let body = json!({"error": {"message": "not now", "type": "overloaded"}});
        return Reply::json(status, &body).with_header("retry-after-ms", "1");
    }
    let mut events = wire.events(&plan.said, plan.fragment);
    let at = 1 + plan.at % wire.before_end(&plan.said, &events).max(1);
    let end = match plan.trouble {
        Trouble::None | Trouble::Status(_) => {
            seen.issued.note(&plan.said);
            End::Whole
        }
        Trouble::Cut(end) => {
            events.truncate(at);
            events.push("data: {\"half".to_owned());
            end
        }
        Trouble::Error => {
            events.truncate(at);
            events.push(wire.error());
            End::Whole
        }
        Trouble::Garbage => {
            events.truncate(at);
            events.push("data: <html>\n\n".to_owned());
            End::Whole
        }
        Trouble::Cancel => {
            events.truncate(at);
            End::Stall
        }
    };
    Reply::stream(&events.concat()).cut_at(&plan.cuts).ending(end)
}

/// One conversation.
struct Conversation {
    seed: u64,
    numbers: Numbers,
    messages: Vec<Message>,
    /// Ids of calls so far.
    ids: Vec<String>,
    next_id: usize,
}

impl Conversation {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        numbers.next();
        Self { seed, numbers, messages: Vec::new(), ids: Vec::new(), next_id: 0 }
    }

    fn part(&mut self) -> Part {
        if self.numbers.one_in(4) {
            Content::image(data_encoding::BASE64.decode(PNG.as_bytes()).unwrap(), "image/png")
        } else {
            Part::text(self.numbers.of(&TEXTS))
        }
    }

    fn user(&mut self) {
        let content = (0..=self.numbers.below(3)).map(|_| self.part()).collect();
        self.messages.push(Message::User(UserMessage { content }));
    }

    /// An id that is new, and the first of its answer, or any.
    fn id(&mut self, wire: Wire, is_first: bool) -> String {
        if !is_first && self.numbers.one_in(5) && !self.ids.is_empty() {
            let place = self.numbers.below(self.ids.len());
            return self.ids[place].clone();
        }
        self.next_id += 1;
        match wire {
            Wire::Chat if self.numbers.one_in(2) => format!("functions.read:{}", self.next_id),
            _ => format!("call_{}_{}", self.seed, self.next_id),
        }
    }

    fn said(&mut self, wire: Wire) -> Said {
        let mut parts = Vec::new();
        if self.numbers.one_in(2) {
            let text =
                if wire == Wire::Anthropic && self.numbers.one_in(4) { "" } else { self.numbers.of(&TEXTS) };
            self.next_id += 1;
            parts.push(SaidPart::Reasoning(
                text.to_owned(),
                format!("signature-{}-{}", self.seed, self.next_id),
            ));
        }
        if self.numbers.one_in(2) {
            parts.push(SaidPart::Text(self.numbers.of(&TEXTS).to_owned()));
        }
        if wire != Wire::Anthropic && self.numbers.one_in(10) {
            parts.push(SaidPart::Image(PNG.to_owned()));
        }
        let tools = tools(wire.dialect());
        for number in 0..self.numbers.of(&[0, 0, 1, 1, 2, 5]) {
            let id = self.id(wire, number == 0);
            let name = self.numbers.of(&["read", "files.list"]);
            let name = tools.tool(name).unwrap().shown_name.clone();
            let path = self.numbers.of(&TEXTS);
            let arguments = match self.numbers.below(6) {
                0 => "{}".to_owned(),
                // Texts that are no JSON, and JSON that is none of the tool's.
                1 if wire != Wire::Gemini => "{\"path\": ".to_owned(),
                2 if wire != Wire::Gemini => "[1]".to_owned(),
                _ => json!({"path": path, "line": 3}).to_string(),
            };
            parts.push(SaidPart::Call(id, name, arguments));
        }
        let usage = self.numbers.one_in(2).then_some((100, 40, 7));
        let stop =
            self.numbers.of(&[SaidStop::End, SaidStop::End, SaidStop::End, SaidStop::End, SaidStop::Filter]);
        let has_calls = parts.iter().any(|part| matches!(part, SaidPart::Call(..)));
        let stop = if has_calls { SaidStop::End } else { stop };
        let reused = parts.iter().filter_map(|part| match part {
            SaidPart::Call(id, ..) if self.ids.contains(id) => Some(id.clone()),
            _ => None,
        });
        Said { reused: reused.collect(), parts, stop, usage }
    }

    /// Cuts the last call off at the limit of tokens, where there is one.
    fn cut(said: &mut Said) -> bool {
        match said.parts.last_mut() {
            // The first call that is left must be one by whose id the server knows the answer.
            Some(SaidPart::Call(_, _, arguments)) if said.reused.is_empty() => {
                "{\"path\": \"x".clone_into(arguments);
                said.stop = SaidStop::Limit;
                true
            }
            _ => false,
        }
    }

    fn results(&mut self, calls: &[ToolCall]) {
        let mut results: Vec<ToolOutput> = Vec::new();
        for call in calls {
            // One is lost now and then.
            if self.numbers.one_in(12) {
                continue;
            }
            let mut result = ToolOutput::text(call, self.numbers.of(&TEXTS));
            if self.numbers.one_in(4) {
                result = ToolOutput::error(call, "it went wrong");
            } else if self.numbers.one_in(3) {
                result.content.push(self.part());
            } else if self.numbers.one_in(8) {
                result.content.clear();
            }
            if self.numbers.one_in(12) {
                results.push(result.clone());
            }
            results.push(result);
        }
        if self.numbers.one_in(12) {
            results.push(ToolOutput::text(&ToolCall::new("nobody", "read", "{}"), "orphan"));
        }
        if self.numbers.one_in(8) {
            self.user();
        }
        if !self.numbers.one_in(20) {
            self.messages.push(Message::tools(results));
        }
        if self.numbers.one_in(8) {
            self.user();
        }
    }

    async fn run(mut self, models: &HashMap<Wire, Arc<dyn Model>>, worlds: &HashMap<Wire, Worlds>) {
        let mut wire = self.numbers.of(&Wire::ALL);
        for world in worlds.values() {
            world.lock().unwrap().insert(self.seed, Seen::default());
        }
        self.user();
        for _ in 0..2 + self.numbers.below(5) {
            if self.numbers.one_in(5) {
                wire = self.numbers.of(&Wire::ALL);
            }
            self.turn(wire, &*models[&wire], &worlds[&wire]).await;
            // Transcripts read back.
            let written = serde_json::to_string(&self.messages).unwrap();
            assert_eq!(serde_json::from_str::<Vec<Message>>(&written).unwrap(), self.messages);
        }
        for (wire, world) in worlds {
            let seen = world.lock().unwrap().remove(&self.seed).unwrap();
            assert_eq!(seen.faults.0, [] as [String; 0], "conversation {}, {wire:?}", self.seed);
            assert!(seen.plans.is_empty(), "conversation {}, {wire:?}: requests are missing", self.seed);
        }
    }

    async fn turn(&mut self, wire: Wire, model: &dyn Model, world: &Worlds) {
        let mut said = self.said(wire);
        let trouble = self.trouble();
        // Something has to come before it.
        if !matches!(trouble, Trouble::None | Trouble::Status(_))
            && said_texts(&said) == Default::default()
            && !said.has_calls()
        {
            said.parts.push(SaidPart::Text("Hello.".to_owned()));
        }
        let is_cut = trouble == Trouble::None
            && wire != Wire::Gemini
            && self.numbers.one_in(6)
            && Self::cut(&mut said);
        let marks = self.numbers.one_in(2);
        {
            let mut worlds = world.lock().unwrap();
            let plans = &mut worlds.get_mut(&self.seed).unwrap().plans;
            let plan = |said: &Said, trouble: Trouble, numbers: &mut Numbers| Plan {
                said: said.clone(),
                trouble,
                fragment: 1 + numbers.below(20),
                cuts: (0..numbers.below(12)).map(|_| numbers.below(1 << 20)).collect(),
                at: numbers.below(1000),
                marks,
            };
            plans.push_back(plan(&said, trouble, &mut self.numbers));
            if matches!(trouble, Trouble::Status(_)) {
                plans.push_back(plan(&said, Trouble::None, &mut self.numbers));
            }
        }
        let request = self.request(wire, marks);
        let (answer, events) = respond(model, &request, trouble == Trouble::Cancel).await;
        let place = format!("conversation {}, {wire:?}, {trouble:?}, {said:?}", self.seed);
        let retries = events.iter().filter(|event| matches!(event, ModelEvent::Retrying { .. })).count();
        assert_eq!(retries, usize::from(matches!(trouble, Trouble::Status(_))), "{place}: {events:?}");
        match (trouble, answer) {
            (Trouble::None | Trouble::Status(_), Ok(answer)) => {
                check_answer(wire, &said, is_cut, &answer, &events, &place);
                self.ids.extend(said.parts.iter().filter_map(|part| match part {
                    // An answer that was cut off is in no conversation.
                    SaidPart::Call(id, ..) if !is_cut => Some(id.clone()),
                    _ => None,
                }));
                let calls: Vec<ToolCall> = answer.message.tool_calls().cloned().collect();
                self.messages.push(Message::Assistant(answer.message));
                if calls.is_empty() {
                    if !self.numbers.one_in(6) {
                        self.user();
                    }
                } else {
                    self.results(&calls);
                }
            }
            (Trouble::Cut(_) | Trouble::Error, Err(error @ ModelError::Stream { .. }))
            | (Trouble::Garbage, Err(error @ ModelError::Format { .. }))
            | (Trouble::Cancel, Err(error @ ModelError::Cancelled { .. })) => {
                let partial = error.partial().cloned().unwrap_or_default();
                check_partial(&said, &partial, &events, &place);
                if self.numbers.one_in(2) {
                    self.messages.push(Message::Assistant(partial));
                }
                self.user();
            }
            (_, other) => panic!("{place}: {other:?}"),
        }
    }

    fn trouble(&mut self) -> Trouble {
        match self.numbers.below(16) {
            0 => Trouble::Status(self.numbers.of(&[429, 500, 503, 529, 408])),
            1 => Trouble::Cut(self.numbers.of(&[End::Cut, End::Whole])),
            2 => Trouble::Error,
            3 => Trouble::Garbage,
            4 => Trouble::Cancel,
            _ => Trouble::None,
        }
    }

    fn request(&mut self, wire: Wire, cache: bool) -> Request {
        let mut request =
            Request::new(self.messages.clone()).system(format!("conversation {}", self.seed)).cache(cache);
        if !self.numbers.one_in(8) {
            let dialect =
                if self.numbers.one_in(4) { self.numbers.of(&Wire::ALL).dialect() } else { wire.dialect() };
            request = request.tools(tools(dialect));
            request.tool_choice = match self.numbers.below(8) {
                0 => ToolChoice::None,
                1 => ToolChoice::Required,
                2 => ToolChoice::Named("files.list".to_owned()),
                _ => ToolChoice::Auto,
            };
        }
        if self.numbers.one_in(3) {
            request = request.thinking(self.numbers.of(&[Thinking::Low, Thinking::Medium, Thinking::High]));
        }
        if self.numbers.one_in(4) {
            request = request.temperature(0.2).max_tokens(500);
        }
        request
    }
}

async fn respond(
    model: &dyn Model,
    request: &Request,
    cancels: bool,
) -> (Result<Answer, ModelError>, Vec<ModelEvent>) {
    if !cancels {
        return ask(model, request).await;
    }
    let cancel = CancellationToken::new();
    let request = request.clone().cancel(cancel.clone());
    let mut events = Vec::new();
    let mut take = |event| {
        cancel.cancel();
        events.push(event);
    };
    let answer = model.respond(&request, &mut take).await;
    (answer, events)
}

fn texts(message: &AssistantMessage) -> (String, String) {
    let mut reasoning = String::new();
    for part in &message.content {
        if let AssistantPart::Reasoning { text, .. } = part {
            reasoning.push_str(text);
        }
    }
    (message.to_text(), reasoning)
}

fn said_texts(said: &Said) -> (String, String) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    for part in &said.parts {
        match part {
            SaidPart::Text(own) => text.push_str(own),
            SaidPart::Reasoning(own, _) => reasoning.push_str(own),
            _ => {}
        }
    }
    (text, reasoning)
}

fn told_texts(events: &[ModelEvent]) -> (String, String) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    for event in events {
        match event {
            ModelEvent::Text(own) => text.push_str(own),
            ModelEvent::Reasoning(own) => reasoning.push_str(own),
            _ => {}
        }
    }
    (text, reasoning)
}

fn check_answer(wire: Wire, said: &Said, is_cut: bool, answer: &Answer, events: &[ModelEvent], place: &str) {
    assert_eq!(texts(&answer.message), said_texts(said), "{place}");
    assert_eq!(told_texts(events), said_texts(said), "{place}");
    assert_eq!(events.iter().filter(|event| **event == ModelEvent::Started).count(), 1, "{place}");
    let tools = tools(wire.dialect());
    let mut expected: Vec<(&str, &str)> = said
        .parts
        .iter()
        .filter_map(|part| match part {
            SaidPart::Call(_, name, arguments) => Some((name.as_str(), arguments.as_str())),
            _ => None,
        })
        .collect();
    if is_cut {
        expected.pop();
        // Of an answer that was cut off, what is no JSON is no whole call, but where blocks say that they are whole.
        expected.retain(|(_, arguments)| {
            wire == Wire::Anthropic || serde_json::from_str::<Value>(arguments).is_ok()
        });
    }
    let calls: Vec<&ToolCall> = answer.message.tool_calls().collect();
    assert_eq!(calls.len(), expected.len(), "{place}: {answer:?}");
    for (call, (name, arguments)) in calls.iter().zip(expected) {
        let is_same = match &call.arguments {
            CallArguments::Text(text) => text == arguments,
            CallArguments::Json(value) => serde_json::from_str::<Value>(arguments).unwrap() == *value,
            _ => false,
        };
        // A model that is offered no tools calls one all the same: nothing knows its name then.
        let is_named = call.name == name || call.name == tools.shown(name).unwrap().name;
        assert!(is_named && is_same, "{place}: {call:?}");
    }
    let ids: BTreeSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), calls.len(), "{place}: {calls:?}");
    let told = events.iter().filter_map(|event| match event {
        ModelEvent::ToolCall(call) => Some(call),
        _ => None,
    });
    let told: Vec<&ToolCall> = told.collect();
    assert!(calls.iter().all(|call| told.contains(call)), "{place}: {told:?}");
    let images =
        answer.message.content.iter().filter(|part| matches!(part, AssistantPart::Image { .. })).count();
    assert_eq!(
        images,
        said.parts.iter().filter(|part| matches!(part, SaidPart::Image(_))).count(),
        "{place}"
    );
    let stop = match said.stop {
        SaidStop::Limit => StopReason::MaxTokens,
        SaidStop::Filter if wire == Wire::Anthropic => StopReason::Refusal,
        SaidStop::Filter => StopReason::ContentFilter,
        SaidStop::End if calls.is_empty() => StopReason::End,
        SaidStop::End => StopReason::ToolCalls,
    };
    assert_eq!(answer.stop, stop, "{place}");
    if let Some((input, cached, output)) = said.usage {
        let usage = answer.usage.unwrap();
        assert_eq!(
            (usage.input_tokens, usage.cached_tokens, usage.output_tokens),
            (input, cached, output),
            "{place}"
        );
    } else if wire != Wire::Anthropic {
        assert_eq!(answer.usage, None, "{place}");
    }
}

/// A part of an answer is the beginning of it, and what was told.
fn check_partial(said: &Said, partial: &AssistantMessage, events: &[ModelEvent], place: &str) {
    let (text, reasoning) = texts(partial);
    let whole = said_texts(said);
    assert!(whole.0.starts_with(&text) && whole.1.starts_with(&reasoning), "{place}: {partial:?}");
    assert_eq!((text, reasoning), told_texts(events), "{place}");
    assert!(partial.raw.is_none(), "{place}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_every_conversation_is_one_that_the_provider_takes() {
    let count = std::env::var("MODEL_CONVERSATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(250);
    let mut servers = Vec::new();
    let (mut models, mut worlds) = (HashMap::new(), HashMap::new());
    for wire in Wire::ALL {
        let world = Worlds::default();
        let own = Arc::clone(&world);
        let server = Server::start(move |request| answer(wire, &own, request)).await;
        models.insert(wire, wire.model(&server));
        worlds.insert(wire, world);
        servers.push(server);
    }
    let (models, worlds) = (Arc::new(models), Arc::new(worlds));
    let mut running = JoinSet::new();
    for seed in 1..=count {
        if running.len() == 16 {
            running.join_next().await.unwrap().unwrap();
        }
        let (models, worlds) = (Arc::clone(&models), Arc::clone(&worlds));
        running.spawn(async move { Conversation::new(seed).run(&models, &worlds).await });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}
