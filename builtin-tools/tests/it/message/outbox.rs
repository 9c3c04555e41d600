//! The outbox in memory, and a bench of a toolkit with it.

use builtin_tools::messaging::{
    MessageAccount, MessageAnswer, MessageCapabilities, MessageChannel, MessageContent, MessageLimits,
    MessagePart, MessagePartKind, MessageService, MessageState, MessageTarget, OutgoingMessage, SentPart,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use toolkit::approval::{Answer, ScriptedApprover};
use toolkit::permission::{PermissionSettings, Permissions};
use toolkit::prelude::*;
use toolkit::{Ask, CallOptions, Caller, ToolCall, ToolErrorKind, approval::Question};

/// The characters of a part.
pub(super) const PART: usize = 100;
/// The most characters of a caption.
pub(super) const CAPTION: usize = 50;
/// The most bytes of a file.
pub(super) const FILE: u64 = 1_000;

/// A part that is stored.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) origin: String,
    pub(super) message: OutgoingMessage,
    pub(super) part: MessagePart,
    pub(super) state: MessageState,
}

/// Keeps parts; they leave once somebody waits for their outcome.
pub(super) struct Outbox {
    pub(super) channels: Mutex<Vec<MessageChannel>>,
    pub(super) rows: Mutex<Vec<Row>>,
    /// The ends of parts; of those that are later than these, nothing.
    pub(super) ends: Mutex<Vec<MessageState>>,
    pub(super) cannot_read: bool,
}

pub(super) fn target(id: &str) -> MessageTarget {
    MessageTarget { id: id.to_owned(), ..MessageTarget::default() }
}

fn account(id: &str, targets: impl IntoIterator<Item = MessageTarget>) -> MessageAccount {
    MessageAccount { id: id.to_owned(), targets: targets.into_iter().collect() }
}

/// Two channels: one that can do everything, with two accounts and the caller's own conversation, and one that sends texts alone.
pub(super) fn channels() -> Vec<MessageChannel> {
    let own = MessageTarget { is_own: true, ..target("100") };
    let family = MessageTarget { name: Some("Family".to_owned()), ..target("-200") };
    let can = MessageCapabilities {
        edit: true,
        delete: true,
        react: true,
        poll: true,
        media: true,
        reply: true,
        silent: true,
    };
    let limits = MessageLimits { media_bytes: FILE, poll_options: 3 };
    vec![
        MessageChannel {
            name: "telegram".to_owned(),
            can,
            limits,
            accounts: vec![account("main", [own, family.clone()]), account("work", [family, target("300")])],
        },
        MessageChannel {
            name: "plain".to_owned(),
            limits,
            accounts: vec![account("main", [target("ada")])],
            ..MessageChannel::default()
        },
    ]
}

impl Default for Outbox {
    fn default() -> Self {
        Self {
            channels: Mutex::new(channels()),
            rows: Mutex::default(),
            ends: Mutex::new(vec![MessageState::Delivered; 20]),
            cannot_read: false,
        }
    }
}

fn part(kind: MessagePartKind, text: Option<&str>, file: Option<&str>) -> MessagePart {
    MessagePart { kind, text: text.map(str::to_owned), file: file.map(str::to_owned) }
}

fn split(message: &OutgoingMessage) -> Result<Vec<MessagePart>, ToolError> {
    use MessagePartKind::{Delete, Edit, Media, Poll, React, Text};
    Ok(match &message.content {
        MessageContent::Send { text, media, caption } => {
            if caption.as_ref().is_some_and(|caption| caption.chars().count() > CAPTION) {
                let message = format!("`caption` has more than {CAPTION} characters: shorten it");
                return Err(ToolError::new(ToolErrorKind::InvalidArguments, message));
            }
            let text: Vec<char> = text.iter().flat_map(|text| text.chars()).collect();
            let texts =
                text.chunks(PART).map(|text| part(Text, Some(&text.iter().collect::<String>()), None));
            let files = media.iter().enumerate().map(|(place, file)| {
                part(Media, caption.as_deref().filter(|_| place == 0), Some(&file.name))
            });
            texts.chain(files).collect()
        }
        MessageContent::Edit { text, .. } => vec![part(Edit, Some(text), None)],
        MessageContent::Delete { .. } => vec![part(Delete, None, None)],
        MessageContent::React { emoji, .. } => vec![part(React, Some(emoji), None)],
        MessageContent::Poll { question, .. } => vec![part(Poll, Some(question), None)],
    })
}

fn sent(place: usize, row: &Row) -> SentPart {
    let reason = (row.state == MessageState::Dead).then(|| "the chat is closed".to_owned());
    let message_id = (row.state == MessageState::Delivered).then(|| format!("m{place}"));
    SentPart { id: place.to_string(), state: row.state, reason, message_id }
}

impl Outbox {
    fn store(&self, origin: &str, message: &OutgoingMessage) -> Result<Vec<SentPart>, ToolError> {
        let mut rows = self.rows.lock().unwrap();
        if !rows.iter().any(|row| row.origin == origin) {
            for part in split(message)? {
                let (origin, message) = (origin.to_owned(), message.clone());
                rows.push(Row { origin, message, part, state: MessageState::Prepared });
            }
        }
        let of_call = rows.iter().enumerate().filter(|(_, row)| row.origin == origin);
        Ok(of_call.map(|(place, row)| sent(place, row)).collect())
    }

    fn leave(&self, ids: &[String]) -> Vec<SentPart> {
        let (mut rows, ends) = (self.rows.lock().unwrap(), self.ends.lock().unwrap());
        let places = ids.iter().map(|id| id.parse::<usize>().unwrap());
        places
            .map(|place| {
                rows[place].state = ends.get(place).copied().unwrap_or(MessageState::Prepared);
                sent(place, &rows[place])
            })
            .collect()
    }
}

impl MessageService for Outbox {
    fn channels<'a>(&'a self, _caller: &'a Caller) -> MessageAnswer<'a, Vec<MessageChannel>> {
        let channels = self.channels.lock().unwrap().clone();
        Box::pin(async { Ok(channels) })
    }

    fn parts<'a>(
        &'a self,
        _ctx: &'a ToolContext,
        message: &'a OutgoingMessage,
    ) -> MessageAnswer<'a, Vec<MessagePart>> {
        Box::pin(async { split(message) })
    }

    fn send<'a>(
        &'a self,
        ctx: &'a ToolContext,
        message: OutgoingMessage,
    ) -> MessageAnswer<'a, Vec<SentPart>> {
        let origin = format!("{:?}/{}", ctx.turn(), ctx.call_id());
        Box::pin(async move { self.store(&origin, &message) })
    }

    fn outcome<'a>(
        &'a self,
        _ctx: &'a ToolContext,
        ids: &'a [String],
        within: Duration,
    ) -> MessageAnswer<'a, Vec<SentPart>> {
        assert!(within <= Duration::from_mins(1), "{within:?}");
        Box::pin(async move {
            if self.cannot_read { Err(ToolError::unavailable("no disk")) } else { Ok(self.leave(ids)) }
        })
    }
}

/// A toolkit with an outbox, in a workspace.
pub(super) struct Bench {
    pub(super) outbox: Arc<Outbox>,
    pub(super) toolkit: Toolkit,
    pub(super) approver: ScriptedApprover,
    pub(super) root: TempDir,
}

impl Bench {
    /// Everything is asked, and every answer is this one.
    pub(super) fn new(answer: Answer) -> Self {
        Self::with(Outbox::default(), ScriptedApprover::always(answer), &json!("ask"))
    }

    /// Messages are allowed by a rule; nothing else is.
    pub(super) fn allowed() -> Self {
        let denies = ScriptedApprover::always(Answer::deny_saying("no"));
        Self::with(Outbox::default(), denies, &json!("allow"))
    }

    pub(super) fn with(outbox: Outbox, approver: ScriptedApprover, permission: &Value) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("work")).unwrap();
        let outbox = Arc::new(outbox);
        let mut settings = PermissionSettings::default();
        settings.everybody = serde_json::from_value(json!({ "message": permission })).unwrap();
        let toolkit = Toolkit::builder()
            .leave_out_incomplete()
            .shared_service(Arc::clone(&outbox) as Arc<dyn MessageService>)
            .approver(approver.clone())
            .permissions(Permissions::new([settings]))
            .build()
            .unwrap();
        Self { outbox, toolkit, approver, root }
    }

    pub(super) fn work(&self) -> std::path::PathBuf {
        self.root.path().join("work")
    }

    pub(super) fn file(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        fs::write(self.work().join(path), content).unwrap();
    }

    fn caller(&self) -> Caller {
        Caller::new().with_workspace(self.work()).with_session("s1")
    }

    pub(super) async fn toolbox(&self) -> Toolbox {
        self.toolkit.toolbox(&self.caller()).await
    }

    pub(super) async fn call(&self, arguments: Value) -> Result<Value, ToolError> {
        self.call_as("1", arguments).await
    }

    pub(super) async fn call_as(&self, id: &str, arguments: Value) -> Result<Value, ToolError> {
        let options = CallOptions::new().turn("t/1");
        let output = self.toolbox().await.call_with(ToolCall::new(id, "message", arguments), options).await;
        Ok(output.outcome?.details.unwrap_or_default())
    }

    /// The error of a call that sends nothing.
    pub(super) async fn fails(&self, arguments: Value) -> ToolError {
        let before = self.rows().len();
        let shown = arguments.to_string();
        let error = match self.call(arguments).await {
            Err(error) => error,
            Ok(result) => panic!("{shown}: {result}"),
        };
        assert_eq!(self.rows().len(), before, "{shown}");
        error
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        self.outbox.rows.lock().unwrap().clone()
    }

    /// The questions of the tool.
    pub(super) fn asked(&self) -> Vec<Ask> {
        let asked = self.approver.asked();
        asked
            .iter()
            .map(|ask| match ask.question() {
                Question::Approve(ask) => ask.clone(),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// The digests of the questions.
    pub(super) fn digests(&self) -> Vec<String> {
        self.approver.asked().iter().map(|ask| ask.question().digest()).collect()
    }
}
