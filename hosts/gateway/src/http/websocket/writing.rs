//! The frames for a client. One is made when the one before was taken, so that nothing is collected for a client that does not read.

use futures_util::stream::SplitSink;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};
use toolkit_serve::websocket::{Message, Received as Bytes, WebSocket};

use super::closing::Closing;
use crate::clients::{ClientLimits, Connected, Next};
use crate::http::events::{Frame, Frames};

/// Pings without any sign of life of the client after which its socket ends.
const MAX_SILENT: u32 = 2;

/// Events that a client follows.
pub(super) struct Followed {
    /// The reference that it gave, which is in each of the frames.
    pub(super) reference: Option<String>,
    pub(super) frames: Frames,
}

/// Writes frames.
pub(super) struct Writer<'a> {
    limits: &'a ClientLimits,
    connected: Option<&'a Connected>,
    tools: Option<watch::Receiver<Option<Value>>>,
    answers: mpsc::Receiver<String>,
    follow: mpsc::Receiver<Option<Followed>>,
    following: Option<Followed>,
    ping: Interval,
    received: Bytes,
    /// The bytes at the last ping, and the pings since they have grown.
    heard: (u64, u32),
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        limits: &'a ClientLimits,
        connected: Option<&'a Connected>,
        answers: mpsc::Receiver<String>,
        follow: mpsc::Receiver<Option<Followed>>,
        received: Bytes,
    ) -> Self {
        let mut ping = interval_at(Instant::now() + limits.ping_every, limits.ping_every);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let tools = connected.map(|connected| connected.link.tools());
        let heard = (received.bytes(), 0);
        Self { limits, connected, tools, answers, follow, following: None, ping, received, heard }
    }

    /// Writes until the socket is to be closed.
    pub(super) async fn run(&mut self, sink: &mut SplitSink<WebSocket, Message>, welcome: String) -> Closing {
        let mut message = Message::text(welcome);
        loop {
            match timeout(self.limits.write_within, sink.send(message)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Closing::dropped(),
                Err(_) => {
                    let within = self.limits.write_within;
                    return Closing::late(format!("the client did not take a message within {within:?}"));
                }
            }
            message = match self.next().await {
                Ok(message) => message,
                Err(closing) => return closing,
            };
        }
    }

    /// Waits for the next message.
    async fn next(&mut self) -> Result<Message, Closing> {
        loop {
            tokio::select! {
                // The events of a client that follows others, or none, end before what it asked for later is answered.
                biased;
                _ = self.ping.tick() => return self.ping(),
                Some(following) = self.follow.recv() => self.following = following,
                Some(answer) = self.answers.recv() => return Ok(Message::text(answer)),
                next = next_of(self.connected) => return match next {
                    Next::Frame(frame) => Ok(Message::text(frame)),
                    Next::Ended(why) => Err(Closing::ended(why)),
                },
                tools = changed(self.tools.as_mut()) => if let Some(tools) = tools {
                    return Ok(Message::text(tools.to_string()));
                },
                frame = event(self.following.as_mut()) => {
                    let frame = match (frame, &self.following) {
                        (Some(frame), Some(followed)) => shown(frame, followed.reference.as_deref()),
                        (_, followed) => {
                            let reference = followed.as_ref().and_then(|followed| followed.reference.clone());
                            self.following = None;
                            ended(reference.as_deref())
                        }
                    };
                    return Ok(Message::text(frame.to_string()));
                }
            }
        }
    }

    fn ping(&mut self) -> Result<Message, Closing> {
        let bytes = self.received.bytes();
        self.heard = if bytes == self.heard.0 { (bytes, self.heard.1 + 1) } else { (bytes, 0) };
        if self.heard.1 > MAX_SILENT {
            return Err(Closing::late("the client answers no pings"));
        }
        Ok(Message::Ping(Vec::new().into()))
    }
}

async fn next_of(connected: Option<&Connected>) -> Next {
    match connected {
        Some(connected) => connected.link.next(&connected.socket).await,
        None => std::future::pending().await,
    }
}

async fn changed(tools: Option<&mut watch::Receiver<Option<Value>>>) -> Option<Value> {
    if let Some(tools) = tools
        && tools.changed().await.is_ok()
    {
        return tools.borrow_and_update().clone();
    }
    std::future::pending().await
}

async fn event(following: Option<&mut Followed>) -> Option<Frame> {
    match following {
        Some(following) => following.frames.next().await,
        None => std::future::pending().await,
    }
}

/// A part of the stream of events, as clients see it.
fn shown(frame: Frame, reference: Option<&str>) -> Value {
    let mut shown = match frame {
        Frame::Event { id, kind, data } => {
            let mut shown = json!({ "type": "event", "kind": kind, "data": data });
            if let Some(id) = id {
                shown["id"] = id.into();
            }
            shown
        }
        Frame::Alive(id) => json!({ "type": "seen", "id": id }),
    };
    if let Some(reference) = reference {
        shown["ref"] = reference.into();
    }
    shown
}

/// Tells that the events have ended although the connection goes on.
fn ended(reference: Option<&str>) -> Value {
    let detail = "the events ended, since the store could not be read; ask for them again, after the last one that was seen";
    let mut error = json!({ "type": "error", "status": 503, "detail": detail });
    if let Some(reference) = reference {
        error["ref"] = reference.into();
    }
    error
}
