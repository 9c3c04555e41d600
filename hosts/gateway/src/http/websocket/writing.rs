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

/// Writes frames.
pub(super) struct Writer<'a> {
    limits: &'a ClientLimits,
    connected: Option<&'a Connected>,
    tools: Option<watch::Receiver<Option<Value>>>,
    answers: mpsc::Receiver<String>,
    follow: mpsc::Receiver<Frames>,
    following: Option<Frames>,
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
        follow: mpsc::Receiver<Frames>,
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
                _ = self.ping.tick() => return self.ping(),
                Some(answer) = self.answers.recv() => return Ok(Message::text(answer)),
                next = next_of(self.connected) => return match next {
                    Next::Frame(frame) => Ok(Message::text(frame)),
                    Next::Ended(why) => Err(Closing::ended(why)),
                },
                tools = changed(self.tools.as_mut()) => if let Some(tools) = tools {
                    return Ok(Message::text(tools.to_string()));
                },
                Some(following) = self.follow.recv() => self.following = Some(following),
                frame = event(self.following.as_mut()) => match frame {
                    Some(frame) => return Ok(Message::text(shown(frame).to_string())),
                    None => self.following = None,
                },
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

async fn event(following: Option<&mut Frames>) -> Option<Frame> {
    match following {
        Some(following) => following.next().await,
        None => std::future::pending().await,
    }
}

/// A part of the stream of events, as clients see it.
fn shown(frame: Frame) -> Value {
    match frame {
        Frame::Event { id, kind, data } => {
            let mut shown = json!({ "type": "event", "kind": kind, "data": data });
            if let Some(id) = id {
                shown["id"] = id.into();
            }
            shown
        }
        Frame::Alive(id) => json!({ "type": "seen", "id": id }),
    }
}
