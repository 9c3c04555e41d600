//! A channel of the platform in memory, with a switch for each seeded bug.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use toolkit_channel::conformance::{Operation, Sent};
use toolkit_channel::text::{Markup, Style, Unit};
use toolkit_channel::{
    Action, Batch, Capabilities, Channel, Conversation, ConversationKind, Event, EventKind, Future, Identity,
    Incoming, Limits, Media, MediaKind, Outgoing, Press, Receipt, ReceiveError, SendError, Sender,
};

use super::platform::{
    Failure, Happening, MAX_CAPTION, MAX_DATA, MAX_FILE, MAX_OPTIONS, MAX_TEXT, Platform, Posting, State,
    TOKEN, Wrote, check, without_tags,
};

/// A seeded bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    None,
    NewIdentity,
    ConfirmsAtOnce,
    BuffersConfirmed,
    OffsetOfAnswer,
    NewestFirst,
    StrangeIsError,
    EmptyIsError,
    UnreachableIsEmpty,
    ServerErrorIsEmpty,
    RoomOfName,
    FirstHalfOfPart,
    DeletesAnother,
    LosesLastOption,
    StatesLargerLimits,
    CutsLargeFiles,
    IdOfConversation,
    EditKeepsId,
    SkipsAfterFailure,
    ConflictIsNoError,
    ForgetsWait,
    SenderIsName,
    GroupIsDirect,
    JoinsParagraphs,
    MarkupIsRefused,
    CountsCharacters,
    CutsLongTexts,
    UnreachableIsUnknown,
    SendsAgainAfterWait,
    ServerErrorIsRefused,
    CutIsNotSent,
    SendsAgainAfterCut,
    NewKey,
    EditSendsAnew,
    ReactionIsIgnored,
    DataIsCut,
    PressOfMessage,
    ReplyIsLost,
    AlwaysSilent,
    UnknownActionPasses,
    CaptionIsEscaped,
    FetchesAnySize,
    TypingPanics,
    MovedIsRefused,
    TokenInError,
}

/// One account.
pub(super) struct Account {
    pub(super) platform: Platform,
    pub(super) bug: Bug,
    pub(super) has_keys: bool,
    pub(super) is_reachable: bool,
    /// Memory that only channels with bugs have.
    pub(super) memory: Mutex<Memory>,
}

#[derive(Default)]
pub(super) struct Memory {
    offset: u64,
    count: u64,
    buffer: BTreeMap<u64, Happening>,
}

impl Account {
    fn has(&self, bug: Bug) -> bool {
        self.bug == bug
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn request<T>(
        &self,
        operation: Option<Operation>,
        process: impl FnOnce(&mut State) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.is_reachable {
            self.platform.request(operation, process).await
        } else {
            Err(Failure::Unreachable)
        }
    }

    /// Gets the events after an offset, and confirms those up to it.
    async fn events(&self, after: u64) -> Result<Vec<(u64, Happening)>, Failure> {
        let confirms_all = self.has(Bug::BuffersConfirmed);
        let events = self.request(Some(Operation::Receive), |state| {
            state.events.retain(|number, _| *number > after);
            let events = state.events.clone();
            if confirms_all {
                state.events.clear();
            }
            Ok(events)
        });
        let events = events.await?;
        if !confirms_all {
            return Ok(events.into_iter().collect());
        }
        let mut memory = self.memory();
        memory.buffer.extend(events);
        Ok(memory.buffer.clone().into_iter().filter(|(number, _)| *number > after).collect())
    }

    async fn received(&self, offset: Option<&str>) -> Result<Batch, ReceiveError> {
        let asked: u64 = offset.unwrap_or("0").parse().map_err(|_| ReceiveError::new("no offset"))?;
        let own = self.memory().offset;
        let mut happenings = match self.events(asked.max(own)).await {
            Ok(happenings) => happenings,
            Err(failure) => return self.not_received(asked, failure),
        };
        if self.has(Bug::EmptyIsError) && happenings.is_empty() {
            return Err(ReceiveError::new("nothing happened in time"));
        }
        let last = happenings.last().map_or(asked, |(number, _)| *number);
        if self.has(Bug::ConfirmsAtOnce) {
            self.memory().offset = last;
        }
        let is_strange = |(_, happening): &(u64, Happening)| matches!(happening, Happening::Strange);
        if self.has(Bug::StrangeIsError) && happenings.iter().any(is_strange) {
            return Err(ReceiveError::new("an event cannot be read"));
        }
        if self.has(Bug::NewestFirst) {
            happenings.reverse();
        }
        let event = |(number, happening)| Event {
            offset: if self.has(Bug::OffsetOfAnswer) { last } else { number }.to_string(),
            kind: self.kind(number, happening),
        };
        Ok(Batch { events: happenings.into_iter().map(event).collect() })
    }

    fn not_received(&self, asked: u64, failure: Failure) -> Result<Batch, ReceiveError> {
        if self.has(Bug::SkipsAfterFailure) {
            self.memory().offset = asked + 1;
        }
        match failure {
            Failure::Unreachable if self.has(Bug::UnreachableIsEmpty) => Ok(Batch::default()),
            Failure::Status(500.., _) if self.has(Bug::ServerErrorIsEmpty) => Ok(Batch::default()),
            Failure::Status(409, _) if self.has(Bug::ConflictIsNoError) => Ok(Batch::default()),
            Failure::Status(429, wait) if !self.has(Bug::ForgetsWait) => {
                Err(ReceiveError::new("wait").with_retry_after(wait))
            }
            failure => {
                let address = if self.has(Bug::TokenInError) { TOKEN } else { "the platform" };
                Err(ReceiveError::new(format!("{address}: {failure:?}")))
            }
        }
    }

    fn kind(&self, event: u64, happening: Happening) -> EventKind {
        let wrote = match happening {
            Happening::Wrote(wrote) => wrote,
            Happening::Strange => return EventKind::Other,
            Happening::Moved { from, to } => return EventKind::Moved { from, to },
            Happening::Pressed { id, person, conversation, message_id, data } => {
                let sender = self.sender(person.number, person.name);
                let id = if self.has(Bug::PressOfMessage) { message_id.clone() } else { id };
                return EventKind::Press(Press { id, sender, conversation, message_id, data });
            }
        };
        let Wrote { person, mut conversation, number, text, mentions, file, is_edited } = wrote;
        let mut external_id = format!("{conversation}#{number}");
        if self.has(Bug::IdOfConversation) {
            external_id = number.to_string();
        }
        if is_edited && !self.has(Bug::EditKeepsId) {
            external_id = format!("{external_id}/{event}");
        }
        if self.has(Bug::RoomOfName) && conversation.kind == ConversationKind::Direct {
            person.name.clone_into(&mut conversation.peer);
        }
        if self.has(Bug::GroupIsDirect) {
            conversation = Conversation::direct(format!("p{}", person.number));
        }
        let sender = self.sender(person.number, person.name);
        let mut message = Incoming::text(external_id, conversation, sender, text);
        message.message_id = number.to_string();
        (message.is_edited, message.mentions_me) = (is_edited, mentions);
        message.media.extend(file.map(|reference| Media {
            kind: MediaKind::Document,
            reference,
            name: None,
            media_type: None,
            size: None,
        }));
        EventKind::Message(message)
    }

    fn sender(&self, number: u32, name: &str) -> Sender {
        let id = if self.has(Bug::SenderIsName) { name.to_owned() } else { format!("p{number}") };
        Sender { id, name: name.to_owned(), is_bot: false }
    }

    fn key(&self, outgoing: &Outgoing) -> Option<String> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let key = if self.has(Bug::NewKey) {
            COUNT.fetch_add(1, Ordering::Relaxed).to_string()
        } else {
            outgoing.key.clone()
        };
        self.has_keys.then_some(key)
    }

    async fn post(
        &self,
        outgoing: &Outgoing,
        mut sent: Sent,
        html: Option<String>,
    ) -> Result<Receipt, Failure> {
        sent.reply_to = outgoing.reply_to.clone().filter(|_| !self.has(Bug::ReplyIsLost));
        sent.is_silent = outgoing.silent || self.has(Bug::AlwaysSilent);
        let posting = Posting { sent, key: self.key(outgoing), html };
        let once = || {
            let posting = posting.clone();
            self.request(Some(Operation::Send), |state| state.post(posting))
        };
        let mut posted = once().await;
        let is_again = match &posted {
            Err(Failure::Cut) => self.has(Bug::SendsAgainAfterCut),
            Err(Failure::Status(429, _)) => self.has(Bug::SendsAgainAfterWait),
            _ => false,
        };
        if is_again {
            posted = once().await;
        }
        posted.map(|id| Receipt { message_id: Some(id) })
    }

    async fn done(&self, outgoing: &Outgoing) -> Result<Receipt, Failure> {
        let conversation = outgoing.conversation.clone();
        let new = |text: &str| Sent::new(conversation.clone(), "", text);
        match &outgoing.action {
            Action::Text { plain, markup, buttons } => {
                let mut sent = new(plain);
                if self.has(Bug::JoinsParagraphs) {
                    sent.text = plain.replace("\n\n", "\n");
                }
                if self.has(Bug::CutsLongTexts) && check(&sent).is_err() {
                    "cut".clone_into(&mut sent.text);
                }
                sent.buttons.clone_from(buttons);
                if self.has(Bug::DataIsCut) {
                    for button in sent.buttons.iter_mut().flatten() {
                        button.data.truncate(MAX_DATA - 1);
                    }
                }
                let first_half = |html: &String| html.chars().take(html.chars().count() / 2).collect();
                let markup = match markup {
                    Some(html) if self.has(Bug::FirstHalfOfPart) => Some(first_half(html)),
                    markup => markup.clone(),
                };
                self.post(outgoing, sent, markup).await
            }
            Action::Media(media) => {
                let mut sent = new(&media.caption);
                sent.file = Some(media.bytes.to_vec());
                if let Some(file) = sent.file.as_mut().filter(|_| self.has(Bug::CutsLargeFiles)) {
                    file.truncate(MAX_FILE);
                }
                let markup = media.caption_markup.as_ref().map(|html| {
                    // Escaped once more.
                    if self.has(Bug::CaptionIsEscaped) { html.replace('&', "&amp;") } else { html.clone() }
                });
                self.post(outgoing, sent, markup).await
            }
            Action::Edit { plain, .. } if self.has(Bug::EditSendsAnew) => {
                self.post(outgoing, new(plain), None).await
            }
            Action::Edit { message_id, plain, markup } => {
                let text = markup.as_ref().map_or_else(|| plain.clone(), |html| without_tags(html));
                self.change(&conversation, message_id, |sent| sent.text = text).await
            }
            Action::Delete { message_id } => {
                let number: u64 = message_id.parse().unwrap_or_default();
                let other = if self.has(Bug::DeletesAnother) { number - 1 } else { number };
                let message_id = &other.to_string();
                self.change(&conversation, message_id, |sent| sent.is_deleted = true).await
            }
            Action::Poll { question, options, .. } => {
                let mut sent = new(question);
                sent.options.clone_from(options);
                if self.has(Bug::LosesLastOption) {
                    sent.options.pop();
                }
                self.post(outgoing, sent, None).await
            }
            Action::React { .. } if self.has(Bug::ReactionIsIgnored) => Ok(Receipt::default()),
            Action::Platform { .. } if self.has(Bug::UnknownActionPasses) => Ok(Receipt::default()),
            _ => Err(Failure::Refused("the platform cannot do this")),
        }
    }

    async fn change(
        &self,
        conversation: &Conversation,
        message_id: &str,
        change: impl FnOnce(&mut Sent),
    ) -> Result<Receipt, Failure> {
        self.request(None, |state| {
            change(state.sent_mut(conversation, message_id)?);
            Ok(Receipt { message_id: Some(message_id.to_owned()) })
        })
        .await
    }

    fn not_sent(&self, failure: Failure) -> SendError {
        match failure {
            Failure::Unreachable if self.has(Bug::UnreachableIsUnknown) => SendError::unknown("lost"),
            Failure::Unreachable => SendError::not_sent("cannot be reached"),
            Failure::Cut if self.has(Bug::CutIsNotSent) => SendError::not_sent("lost"),
            Failure::Cut => SendError::unknown("lost"),
            Failure::Status(429, Some(wait)) => SendError::wait("wait", wait),
            Failure::Status(500.., _) if !self.has(Bug::ServerErrorIsRefused) => {
                SendError::unknown("a fault")
            }
            Failure::Status(..) => SendError::refused("a status"),
            Failure::Markup if self.has(Bug::MarkupIsRefused) => SendError::refused("markup"),
            Failure::Markup => SendError::Markup { reason: "no markup".to_owned() },
            Failure::Moved(_) if self.has(Bug::MovedIsRefused) => SendError::refused("moved"),
            Failure::Moved(to) => SendError::Moved { to },
            Failure::Refused(reason) => SendError::refused(reason),
        }
    }
}

impl Channel for Account {
    fn capabilities(&self) -> Capabilities {
        let mut can = Capabilities::default();
        (can.edit, can.delete, can.poll, can.buttons, can.media) = (true, true, true, true, true);
        (can.typing, can.reply, can.silent, can.idempotency_keys) = (true, true, true, self.has_keys);
        can
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::new(MAX_TEXT, MAX_CAPTION);
        (limits.poll_options, limits.button_data) = (MAX_OPTIONS, MAX_DATA);
        limits.media_out = MAX_FILE as u64;
        if self.has(Bug::StatesLargerLimits) {
            limits.caption += 1;
            limits.media_out += 1;
        }
        limits
    }

    fn style(&self) -> Style {
        let unit = if self.has(Bug::CountsCharacters) { Unit::Chars } else { Unit::Utf16 };
        Style { markup: Markup::Html, unit, max: MAX_TEXT }
    }

    fn identify(&self) -> Future<'_, Result<Identity, ReceiveError>> {
        Box::pin(async {
            let identified = self.request(None, |_| Ok(())).await;
            identified.map_err(|failure| ReceiveError::new(format!("{failure:?}")))?;
            let mut memory = self.memory();
            memory.count += 1;
            let number = if self.has(Bug::NewIdentity) { memory.count } else { 1 };
            Ok(Identity { id: format!("account-{number}"), name: "The account".to_owned() })
        })
    }

    fn receive<'a>(&'a self, offset: Option<&'a str>) -> Future<'a, Result<Batch, ReceiveError>> {
        Box::pin(self.received(offset))
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Future<'a, Result<Receipt, SendError>> {
        Box::pin(async { self.done(outgoing).await.map_err(|failure| self.not_sent(failure)) })
    }

    fn fetch<'a>(&'a self, media: &'a Media, max: u64) -> Future<'a, Result<Bytes, ReceiveError>> {
        Box::pin(async move {
            let found = self.request(None, |state| {
                state.files.get(&media.reference).cloned().ok_or(Failure::Refused("no such file"))
            });
            let bytes = found.await.map_err(|failure| ReceiveError::new(format!("{failure:?}")))?;
            if bytes.len() as u64 > max && !self.has(Bug::FetchesAnySize) {
                return Err(ReceiveError::new("the file is too large"));
            }
            Ok(bytes.into())
        })
    }

    fn typing<'a>(&'a self, _: &'a Conversation) -> Future<'a, ()> {
        Box::pin(async {
            let done = self.request(None, |_| Ok(())).await;
            assert!(done.is_ok() || !self.has(Bug::TypingPanics), "typing was expected to work");
        })
    }

    fn acknowledge<'a>(&'a self, press_id: &'a str, text: &'a str) -> Future<'a, ()> {
        Box::pin(async move {
            let text = text.to_owned();
            let _ =
                self.request(None, |state| Ok(state.acknowledged.insert(press_id.to_owned(), text))).await;
        })
    }
}
