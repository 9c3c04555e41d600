//! Notifications to a client while a call runs: progress and log messages.

#![expect(deprecated, reason = "clients of the versions that have logging use it")]

use super::ToolServer;
use super::sessions::is_stateless;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use toolkit::events::{Event, Events, LogLevel, LogMessage, Progress};

/// The notifications that a client wants for a call.
#[derive(Debug)]
pub(super) struct Telling {
    token: Option<ProgressToken>,
    /// Minimum level of log messages. The protocol has logging up to 2025-11-25.
    logs: Option<LogLevel>,
}

impl Telling {
    /// Returns the notifications that the client wants; `None` if it wants none.
    pub(super) fn wanted(server: &ToolServer, context: &RequestContext<RoleServer>) -> Option<Self> {
        let token = context.meta.get_progress_token();
        let logs = (!is_stateless(context)).then(|| server.log_level());
        (token.is_some() || logs.is_some()).then_some(Self { token, logs })
    }

    /// Sends the client the events in `notices` while `call` runs, and returns the outcome of the call after all of
    /// them are sent. At the shutdown of the server, the outcome does not wait for events: rmcp takes no notification any more.
    pub(super) async fn during<T>(
        self,
        mut notices: Events,
        server: &ToolServer,
        peer: &Peer<RoleServer>,
        call: impl Future<Output = T>,
    ) -> T {
        let mut call = pin!(call);
        let mut shutdown = pin!(server.0.options.shutdown.cancelled());
        let (mut outcome, mut last) = (None, f64::NEG_INFINITY);
        // Most calls have no events, so nothing is allocated for sending them.
        let mut telling: Option<BoxFuture<'_>> = None;
        poll_fn(|task| {
            if outcome.is_none()
                && let Poll::Ready(ready) = call.as_mut().poll(task)
            {
                outcome = Some(ready);
            }
            loop {
                if let Some(told) = &mut telling {
                    if told.as_mut().poll(task).is_pending() {
                        let outcome = outcome.take_if(|_| shutdown.as_mut().poll(task).is_ready());
                        return outcome.map_or(Poll::Pending, Poll::Ready);
                    }
                    telling = None;
                }
                match notices.poll_next(task) {
                    Poll::Ready(Some(event)) => telling = self.tell(event.event, &mut last, peer),
                    // The call is over, and so are its events.
                    Poll::Ready(None) | Poll::Pending => {
                        return outcome.take().map_or(Poll::Pending, Poll::Ready);
                    }
                }
            }
        })
        .await
    }

    /// Sends one event, if the client wants it. Errors are ignored, since the client may be gone.
    fn tell<'a>(&self, event: Event, last: &mut f64, peer: &'a Peer<RoleServer>) -> Option<BoxFuture<'a>> {
        match event {
            // The protocol requires progress to increase.
            Event::Progress(progress) if progress.done > *last => {
                *last = progress.done;
                let param = param(self.token.clone()?, progress);
                Some(Box::pin(async move {
                    let _ = peer.notify_progress(param).await;
                }))
            }
            Event::Log(message) if self.logs.is_some_and(|least| message.level >= least) => {
                let param = log(message);
                Some(Box::pin(async move {
                    let _ = peer.notify_logging_message(param).await;
                }))
            }
            _ => None,
        }
    }
}

type BoxFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

fn param(token: ProgressToken, progress: Progress) -> ProgressNotificationParam {
    let mut param = ProgressNotificationParam::new(token, progress.done);
    param.total = progress.total;
    param.message = progress.message;
    param
}

fn log(message: LogMessage) -> LoggingMessageNotificationParam {
    let level = match message.level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Notice => LoggingLevel::Notice,
        LogLevel::Warning => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
        LogLevel::Critical => LoggingLevel::Critical,
        LogLevel::Alert => LoggingLevel::Alert,
        LogLevel::Emergency => LoggingLevel::Emergency,
    };
    let mut param = LoggingMessageNotificationParam::new(level, message.data);
    param.logger = message.logger;
    param
}
