//! The connection to a server over its standard streams: a message a line.

use super::{execution, unreadable};
use crate::scan::Scan;
use futures_util::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite, Empty};
use toolkit::text::{LineBuffer, Piece};

/// Multiple of the message limit at which a line ends the connection: nothing after it can be read before it ends.
const MAX_OVERLENGTH: usize = 32;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A transport that reads lines of bounded length. A line that cannot be read, or is too long, and answers a request becomes an error
/// of that request; others are left out.
pub(super) struct Lines<R, W: AsyncWrite> {
    input: R,
    read: LineBuffer,
    /// Writes, and never reads.
    writing: AsyncRwTransport<RoleClient, Empty, W>,
    waiting: Waiting,
    limit: usize,
    /// State of a line that is too long.
    overlong: Option<Overlong>,
    /// An answer to a request of the server that cannot be read.
    reply: Option<BoxFuture<'static, io::Result<()>>>,
    has_ended: bool,
}

/// A line that is too long to be stored.
#[derive(Default)]
struct Overlong {
    scan: Scan,
    bytes: usize,
    is_told: bool,
}

impl Overlong {
    fn read(&mut self, part: &[u8]) {
        if !self.is_told {
            self.scan.read(part);
        }
        self.bytes = self.bytes.saturating_add(part.len());
    }
}

/// The content of a line, or of a part of one.
enum Read {
    Blank,
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    Unreadable(Scan, String),
    /// A part of a line that is too long.
    TooLong,
    EndOfTooLong,
}

impl Read {
    /// Parses a line; adds a part to `overlong`.
    fn of(piece: &Piece<'_>, overlong: &mut Option<Overlong>) -> Self {
        match piece {
            Piece::Line(line) => Self::line(line),
            Piece::Part(part) => {
                overlong.get_or_insert_default().read(part);
                Self::TooLong
            }
            Piece::LastPart(part) => {
                overlong.get_or_insert_default().read(part);
                Self::EndOfTooLong
            }
        }
    }

    fn line(line: &[u8]) -> Self {
        let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
        if text.is_empty() {
            return Self::Blank;
        }
        match unreadable::parse(text) {
            Ok(mut message) => {
                execution::keep(&mut message, text);
                Self::Message(Box::new(message))
            }
            Err(why) => Self::Unreadable(Scan::of(text), why),
        }
    }
}

/// The requests that wait for an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<HashSet<RequestId>>>);

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a message on its way to the server.
    pub(super) fn sends(&self, message: &TxJsonRpcMessage<RoleClient>) {
        match message {
            // The request is answered at the end of the line.
            JsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) => {}
            JsonRpcMessage::Request(request) => {
                self.lock().insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.lock().remove(id);
                }
            }
            _ => {}
        }
    }

    /// Takes note of a message from the server. An error that names no request is that of the only one that waits.
    pub(super) fn receives(&self, message: &mut RxJsonRpcMessage<RoleClient>) {
        let mut waiting = self.lock();
        match message {
            JsonRpcMessage::Response(response) => {
                waiting.remove(&response.id);
            }
            JsonRpcMessage::Error(error) => {
                if error.id.is_none() && waiting.len() == 1 {
                    error.id = waiting.iter().next().cloned();
                }
                if let Some(id) = &error.id {
                    waiting.remove(id);
                }
            }
            _ => {}
        }
    }

    /// The request that an unreadable message answers. One without an id answers the only request that waits.
    pub(super) fn answered(&self, scan: &Scan, is_whole: bool) -> Option<RequestId> {
        let mut waiting = self.lock();
        let is_anonymous = if is_whole { scan.is_anonymous_answer() } else { !scan.is_named() };
        let id = match scan.id() {
            _ if scan.has_method => return None,
            Some(id) => id.clone(),
            None if waiting.len() == 1 && is_anonymous => waiting.iter().next()?.clone(),
            None => return None,
        };
        waiting.take(&id)
    }
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W, limit: usize) -> Self {
        Self {
            input: read,
            read: LineBuffer::new(limit),
            writing: AsyncRwTransport::new_client(tokio::io::empty(), write),
            waiting: Waiting::default(),
            limit,
            overlong: None,
            reply: None,
            has_ended: false,
        }
    }

    /// Takes the next line or part of one, or else reads more. Returns the message, if there is one. Dropping the future while it waits
    /// loses nothing.
    async fn step(&mut self) -> io::Result<Option<RxJsonRpcMessage<RoleClient>>> {
        if let Some(piece) = self.read.next() {
            let read = Read::of(&piece, &mut self.overlong);
            return self.take(read);
        }
        if self.read.read(&mut self.input).await? > 0 {
            return Ok(None);
        }
        self.has_ended = true;
        let Some(piece) = self.read.rest() else { return Ok(None) };
        let read = Read::of(&piece, &mut self.overlong);
        self.take(read)
    }

    fn take(&mut self, read: Read) -> io::Result<Option<RxJsonRpcMessage<RoleClient>>> {
        Ok(match read {
            Read::Blank => None,
            Read::Message(mut message) => {
                self.waiting.receives(&mut message);
                Some(*message)
            }
            Read::Unreadable(scan, why) => self.left_out(&scan, &why),
            Read::TooLong => return self.is_too_long(),
            Read::EndOfTooLong => match self.overlong.take() {
                Some(overlong) if !overlong.is_told => {
                    self.left_out(&overlong.scan, &unreadable::too_long(self.limit))
                }
                _ => None,
            },
        })
    }

    /// Returns the error for a line that is too long as soon as the request that it answers is known.
    fn is_too_long(&mut self) -> io::Result<Option<RxJsonRpcMessage<RoleClient>>> {
        let Some(overlong) = &mut self.overlong else { return Ok(None) };
        if overlong.bytes > self.limit.saturating_mul(MAX_OVERLENGTH) {
            return Err(io::Error::other(format!("a line has more than {} bytes", overlong.bytes)));
        }
        if overlong.is_told {
            return Ok(None);
        }
        let Some(id) = self.waiting.answered(&overlong.scan, false) else { return Ok(None) };
        overlong.is_told = true;
        Ok(Some(unreadable::error(id, &unreadable::too_long(self.limit))))
    }

    /// Converts an unreadable message to an error for the waiting request, here or at the other end.
    fn left_out(&mut self, scan: &Scan, why: &str) -> Option<ServerJsonRpcMessage> {
        if let Some(id) = self.waiting.answered(scan, true) {
            return Some(unreadable::error(id, why));
        }
        tracing::debug!("a line of the server is left out: it {why}");
        if let (true, Some(id)) = (scan.has_method, scan.id()) {
            let error = ErrorData::invalid_request(format!("the request {why}"), None);
            self.reply = Some(Box::pin(
                self.writing.send(TxJsonRpcMessage::<RoleClient>::error(error, Some(id.clone()))),
            ));
        }
        None
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.waiting.sends(&message);
        self.writing.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(reply) = &mut self.reply {
                let sent = reply.await;
                self.reply = None;
                sent.ok()?;
            }
            if self.has_ended {
                return None;
            }
            match self.step().await {
                Ok(None) => {}
                Ok(message) => return message,
                Err(error) => {
                    tracing::warn!("the connection ends: {error}");
                    self.has_ended = true;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writing.close().await
    }
}
