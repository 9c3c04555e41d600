//! Running calls of a server, to which its notifications are assigned.

use super::visible;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toolkit::{
    ToolContext,
    events::{LogMessage, Progress},
};

/// The calls under way, in the order in which they began.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls(Arc<Mutex<UnderWay>>);

#[derive(Debug, Default)]
struct UnderWay {
    last: u64,
    calls: BTreeMap<u64, Call>,
}

#[derive(Debug)]
struct Call {
    /// Set once the request is sent.
    token: Option<ProgressToken>,
    context: ToolContext,
}

/// A call that counts as running until this is dropped.
#[derive(Debug)]
pub(super) struct Begun {
    calls: Calls,
    number: u64,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.calls.lock().calls.remove(&self.number);
    }
}

impl Begun {
    /// Records the progress token with which the call was sent.
    pub(super) fn has(&self, token: ProgressToken) {
        if let Some(call) = self.calls.lock().calls.get_mut(&self.number) {
            call.token = Some(token);
        }
    }
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, context: &ToolContext) -> Begun {
        let mut under_way = self.lock();
        under_way.last += 1;
        let number = under_way.last;
        under_way.calls.insert(number, Call { token: None, context: context.clone() });
        Begun { calls: self.clone(), number }
    }

    /// Forwards a progress notification to the call with its token.
    pub(super) fn progress(&self, params: ProgressNotificationParam) {
        let context = {
            let under_way = self.lock();
            let call =
                under_way.calls.values().find(|call| call.token.as_ref() == Some(&params.progress_token));
            call.map(|call| call.context.clone())
        };
        if let Some(context) = context {
            let mut progress = Progress::new(params.progress);
            progress.total = params.total;
            progress.message = params.message.map(visible::text);
            context.progress(progress);
        }
    }

    /// Forwards a log message of the server. The message does not say which call it belongs to.
    pub(super) fn log(&self, message: LogMessage) {
        if let Some(context) = self.asking() {
            context.log(message);
        }
    }

    /// Returns the context that a request of the server goes to, since the request does not say which call it belongs to: that
    /// of the last call. Returns `None` while calls of several sessions are running, so that no session sees the requests meant
    /// for another.
    pub(super) fn asking(&self) -> Option<ToolContext> {
        let under_way = self.lock();
        let (_, last) = under_way.calls.last_key_value()?;
        let whose =
            |call: &Call| (call.context.session_key().to_owned(), call.context.agent().map(str::to_owned));
        let owner = whose(last);
        under_way.calls.values().all(|call| whose(call) == owner).then(|| last.context.clone())
    }
}
