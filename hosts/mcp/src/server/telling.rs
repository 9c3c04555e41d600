//! What is told to a client while a call runs: how far it got, and what it says for those who look for faults.

#![expect(deprecated, reason = "clients of the versions that have logging use it")]

use super::ToolServer;
use super::principal::is_stateless;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use toolkit::{Event, Events, LogLevel, LogMessage, Progress};

/// What a client wants to be told of a call.
#[derive(Debug)]
pub(super) struct Telling {
    token: Option<ProgressToken>,
    /// The least grave that it is told. The protocol has logging up to 2025-11-25.
    logs: Option<LogLevel>,
}

impl Telling {
    /// What it wants; `None` where that is nothing.
    pub(super) fn wanted(server: &ToolServer, context: &RequestContext<RoleServer>) -> Option<Self> {
        let token = context.meta.get_progress_token();
        let logs = (!is_stateless(context)).then(|| server.log_level());
        (token.is_some() || logs.is_some()).then_some(Self { token, logs })
    }

    /// Tells it, until the call is over.
    pub(super) async fn tell(self, mut events: Events, call_id: &str, peer: &Peer<RoleServer>) {
        let mut last = f64::NEG_INFINITY;
        while let Some(event) = events.next().await {
            if event.call_id != call_id {
                continue;
            }
            let told = match event.event {
                Event::Finished { .. } | Event::Interrupted => return,
                Event::Progress(progress) => match &self.token {
                    // It has to grow, says the protocol.
                    Some(token) if progress.done > last => {
                        last = progress.done;
                        peer.notify_progress(param(token.clone(), progress)).await
                    }
                    _ => Ok(()),
                },
                Event::Log(message) if self.logs.is_some_and(|least| message.level >= least) => {
                    peer.notify_logging_message(log(message)).await
                }
                _ => Ok(()),
            };
            if told.is_err() {
                return;
            }
        }
    }
}

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
