//! The frames that a client sends.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::SplitStream;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};
use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::websocket::{Message, Received as Bytes, WebSocket};

use super::Sockets;
use super::closing::Closing;
use super::frames::{self, Frame};
use super::writing::Followed;
use crate::clients::{Link, Received};
use crate::http::messages::{self, Sent};
use crate::http::rate::WINDOW;
use crate::http::{Caller, events};
use crate::people::Window;

/// The bytes of the head of a control frame.
const CONTROL_HEAD: u64 = 6;

/// Reads and carries out frames.
pub(super) struct Reader<'a> {
    sockets: &'a Sockets,
    caller: Caller,
    link: Option<Arc<Link>>,
    answers: mpsc::Sender<String>,
    follow: mpsc::Sender<Option<Followed>>,
    received: Bytes,
    /// Bytes that belong to whole messages.
    whole: u64,
    /// When a message was found to have begun that is not whole.
    begun: Option<Instant>,
    window: Window,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        sockets: &'a Sockets,
        caller: Caller,
        link: Option<Arc<Link>>,
        answers: mpsc::Sender<String>,
        follow: mpsc::Sender<Option<Followed>>,
        received: Bytes,
    ) -> Self {
        let (whole, window) = (received.bytes(), Window::new(WINDOW));
        Self { sockets, caller, link, answers, follow, received, whole, begun: None, window }
    }

    /// Reads until the socket is to be closed.
    pub(super) async fn run(&mut self, stream: &mut SplitStream<WebSocket>) -> Closing {
        let limits = self.sockets.clients.limits();
        let mut look = interval((limits.message_within / 4).max(Duration::from_millis(1)));
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let message = tokio::select! {
                // First: fragments that never end could keep the socket busy for ever.
                biased;
                _ = look.tick() => {
                    if self.is_late() {
                        let within = limits.message_within;
                        return Closing::late(format!("the end of a message did not come within {within:?}"));
                    }
                    continue;
                }
                message = stream.next() => message,
            };
            let message = match message {
                Some(Ok(message)) => message,
                Some(Err(error)) => return Closing::of_error(&error, limits.max_message),
                None => return Closing::dropped(),
            };
            let now = self.sockets.state.store().clock().now();
            if self.window.note(now).0 >= limits.max_frames {
                let max = limits.max_frames;
                return Closing::too_many(format!("{max} frames within ten seconds are the limit"));
            }
            if let Some(left) = self.sockets.frames.beyond(self.caller.name(), now) {
                // Another socket of the person may be the one that sends so much, so that this one is not closed.
                tokio::time::sleep(left).await;
            }
            let done = match message {
                Message::Text(text) => {
                    self.begun = None;
                    self.whole = self.received.bytes();
                    self.carry_out(&text).await
                }
                Message::Ping(bytes) | Message::Pong(bytes) => {
                    let whole = self.whole + CONTROL_HEAD + bytes.len() as u64;
                    self.whole = whole.min(self.received.bytes());
                    Ok(())
                }
                Message::Close(frame) => return Closing::by_client(frame.map(|frame| frame.code.into())),
                Message::Binary(_) | Message::Frame(_) => Err(Closing::malformed("frames are texts")),
            };
            if let Err(closing) = done {
                return closing;
            }
        }
    }

    /// Returns true if the end of a message is awaited for too long.
    fn is_late(&mut self) -> bool {
        if self.received.bytes() <= self.whole {
            self.begun = None;
            return false;
        }
        let begun = *self.begun.get_or_insert_with(Instant::now);
        begun.elapsed() >= self.sockets.clients.limits().message_within
    }

    async fn carry_out(&mut self, text: &str) -> Result<(), Closing> {
        match frames::frame(text)? {
            Frame::Mcp { n, ack, message } => taken(self.link()?.receive(n, ack, message).await),
            Frame::Ack { n } => taken(self.link()?.confirm(n)),
            Frame::Result { call, result } => {
                let link = Arc::clone(self.link()?);
                let ended = self.sockets.clients.result(&link, call.clone(), result.into_end()).await;
                let answer = match ended {
                    Ok(true) => json!({ "type": "done", "call": call }),
                    Ok(false) => {
                        let text = "no such call of this client waits: it has ended, or never was";
                        let mut error = error(&Problem::new(StatusCode::NOT_FOUND, text), None);
                        error["call"] = call.into();
                        error
                    }
                    Err(failed) => {
                        let mut error = error(&failed.into(), None);
                        error["call"] = call.into();
                        error
                    }
                };
                self.answer(&answer).await
            }
            Frame::Send { reference, session, text, id } => {
                let session = self.session(session);
                let sent =
                    messages::accept(&self.sockets.state, &self.caller, &session, Sent { text, id }).await;
                let answer = match sent {
                    Ok(message) => json!({ "type": "sent", "ref": reference, "message": message }),
                    Err(problem) => error(&problem, reference),
                };
                self.answer(&answer).await
            }
            Frame::Events { reference, session, since } => {
                let (state, caller) = (self.sockets.state.clone(), self.caller.clone());
                match events::frames(state, caller, session.as_deref(), since).await {
                    Ok(frames) => self.follow(Some(Followed { reference, frames })).await,
                    Err(problem) => self.answer(&error(&problem, reference)).await,
                }
            }
            Frame::Unfollow => self.follow(None).await,
        }
    }

    /// The session of a message: the first one of the client, or the person's own.
    fn session(&self, given: Option<String>) -> String {
        let of_link = || Some(self.link.as_ref()?.first_session().to_string());
        given.or_else(of_link).unwrap_or_else(|| "main".to_owned())
    }

    fn link(&self) -> Result<&Arc<Link>, Closing> {
        let none = || Closing::malformed("this client serves no tools: its first frame names no session");
        self.link.as_ref().ok_or_else(none)
    }

    async fn follow(&self, followed: Option<Followed>) -> Result<(), Closing> {
        self.follow.send(followed).await.map_err(|_| Closing::dropped())
    }

    async fn answer(&self, answer: &Value) -> Result<(), Closing> {
        self.answers.send(answer.to_string()).await.map_err(|_| Closing::dropped())
    }
}

fn taken(received: Received) -> Result<(), Closing> {
    match received {
        // The reason comes with the next frame for the client.
        Received::Taken | Received::Ended => Ok(()),
        Received::Refused(reason) => Err(Closing::malformed(reason)),
    }
}

fn error(problem: &Problem, reference: Option<String>) -> Value {
    let mut error =
        json!({ "type": "error", "status": problem.status().as_u16(), "detail": problem.detail() });
    if let Some(reference) = reference {
        error["ref"] = reference.into();
    }
    error
}
