//! The calls that are under way at a server, so that what it says meanwhile comes to the right one.

use super::visible;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toolkit::{LogMessage, Progress, ToolContext};

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
    /// Once it is sent.
    token: Option<ProgressToken>,
    context: ToolContext,
}

/// A call that is under way as long as this is there.
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
    /// It is sent, with this token.
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

    /// How far the call of this token got.
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

    /// What the server says for those who look for faults. It does not say of which call.
    pub(super) fn log(&self, message: LogMessage) {
        if let Some(context) = self.asking() {
            context.log(message);
        }
    }

    /// Whom a question of the server goes to, which does not say of which call it is: whoever made the last one. Where calls of
    /// several sessions are under way nobody is asked, so that none sees the questions of another.
    pub(super) fn asking(&self) -> Option<ToolContext> {
        let under_way = self.lock();
        let (_, last) = under_way.calls.last_key_value()?;
        let whose =
            |call: &Call| (call.context.session_key().to_owned(), call.context.agent().map(str::to_owned));
        let owner = whose(last);
        under_way.calls.values().all(|call| whose(call) == owner).then(|| last.context.clone())
    }
}
