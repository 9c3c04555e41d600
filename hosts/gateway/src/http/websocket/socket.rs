//! One socket, from its first frame to its end.

use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;
use toolkit_serve::websocket::{Message, WebSocket};

use super::closing::Closing;
use super::hello::{self, Entered};
use super::node_socket;
use super::reading::Reader;
use super::writing::Writer;
use super::{Opened, Sockets};
use crate::clients::Connected;
use crate::http::Caller;

/// Answers of the gateway that wait to be sent.
const MAX_ANSWERS: usize = 64;
/// Time for the goodbye.
const GOODBYE: Duration = Duration::from_secs(1);

/// Serves a socket.
pub(super) async fn serve(
    sockets: Sockets,
    mut socket: WebSocket,
    (opened, host): (Opened, Option<String>),
    shutdown: CancellationToken,
) {
    let first = tokio::select! {
        first = hello::first(&sockets, &mut socket, &opened) => first,
        () = shutdown.cancelled() => Err(Closing::stopping()),
    };
    let entered = match first {
        Ok(mut first) if first.node.is_some() => {
            let node = first.node.take().unwrap_or_default();
            Err(node_socket::run(&sockets, &mut socket, (opened, host), node, &shutdown).await)
        }
        Ok(first) => tokio::select! {
            entered = hello::enter(&sockets, opened, first) => entered,
            () = shutdown.cancelled() => Err(Closing::stopping()),
        },
        Err(closing) => Err(closing),
    };
    let received = socket.get_ref().received();
    let (mut sink, mut stream) = socket.split();
    let closing = match entered {
        Ok(Entered { caller, connected, welcome, _place }) => {
            let (answers, to_send) = mpsc::channel(MAX_ANSWERS);
            let (follow, to_follow) = mpsc::channel(1);
            let link = connected.as_ref().map(|connected| connected.link.clone());
            let mut reader = Reader::new(&sockets, caller.clone(), link, answers, follow, received.clone());
            let mut writer =
                Writer::new(sockets.clients.limits(), connected.as_ref(), to_send, to_follow, received);
            let closing = tokio::select! {
                // First: its reasons end the link, too.
                biased;
                closing = ended(&sockets, &caller, connected.as_ref(), &shutdown) => closing,
                closing = reader.run(&mut stream) => closing,
                closing = writer.run(&mut sink, welcome.to_string()) => closing,
            };
            if let Some(Connected { link, .. }) = &connected
                && closing.is_by_client
            {
                link.end("the client closed the connection");
            }
            closing
        }
        Err(closing) => closing,
    };
    tracing::debug!(?closing, "a socket ends");
    let _ = timeout(GOODBYE, goodbye(&mut sink, &mut stream, &closing)).await;
}

/// Waits until the socket ends for another reason than its frames.
async fn ended(
    sockets: &Sockets,
    caller: &Caller,
    connected: Option<&Connected>,
    shutdown: &CancellationToken,
) -> Closing {
    let replaced = async {
        match connected {
            Some(connected) => connected.socket.cancelled().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = shutdown.cancelled() => Closing::stopping(),
        () = caller.0.revocation.token_revoked() => Closing::unauthorized("the token was revoked"),
        () = replaced => Closing::replaced(),
        () = expired(sockets, caller) => Closing::unauthorized("the token has expired"),
    }
}

/// Waits until the token counts no more: it expires without a word.
async fn expired(sockets: &Sockets, caller: &Caller) {
    let every = sockets.state.keep_alive();
    let mut tick = interval_at(Instant::now() + every, every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        if !sockets.state.people().still_counts(&caller.0).await.is_ok_and(|counts| counts) {
            return;
        }
    }
}

/// Tells the client why, and reads on until it has heard: a connection that is closed with unread bytes loses what was sent last.
async fn goodbye(
    sink: &mut SplitSink<WebSocket, Message>,
    stream: &mut SplitStream<WebSocket>,
    closing: &Closing,
) {
    if let Some(message) = closing.message()
        && sink.send(message).await.is_err()
    {
        return;
    }
    let _ = sink.flush().await;
    while let Some(Ok(_)) = stream.next().await {}
}
