//! The meter of a gateway, whose counts and budgets are in the store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task;
use toolkit::Caller;
use toolkit_models::{Meter, MeterError, MeterStore, OpenRequest, Opening, Scope, SettledRequest};

use crate::SessionKey;
use crate::store::{JobId, NewRequest, ReserveOutcome, Store};

/// Time after which a store that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The kind of the account that carries the key of a session.
const SESSION: &str = "gatewaySession";

/// Returns a caller whose requests count for a session, and for a job in place of that of the session's run.
#[must_use]
pub(crate) fn counted_in(caller: Caller, session: &SessionKey, job: Option<&JobId>) -> Caller {
    let mut accounts = json!({ SESSION: session.as_str() });
    if let Some(job) = job {
        accounts["job"] = job.as_str().into();
    }
    caller.with_extra(Scope::EXTRA, accounts)
}

/// Keeps the records of a [`Meter`] in a [`Store`], which refuses requests that would pass a budget.
///
/// A request counts for the agents of its caller and of those above it, and for the session of [`caller_in`](crate::caller_in)'s kind that a
/// gateway gives them. One without such a session, as of an MCP server that asks a model, counts for everything together and its agents.
#[derive(Clone)]
pub struct StoredMeter(Arc<Inner>);

struct Inner {
    store: Store,
    /// Notified when a request has ended.
    ended: Notify,
}

impl StoredMeter {
    /// Returns the meter of a store.
    pub fn meter(store: Store) -> Meter {
        let ended = Notify::new();
        Meter::builder().store(Arc::new(Self(Arc::new(Inner { store, ended })))).build()
    }
}

impl MeterStore for StoredMeter {
    fn open<'a>(&'a self, request: &'a OpenRequest) -> Opening<'a> {
        Box::pin(async move {
            let mut budgets = self.0.store.budgets_changed();
            loop {
                // Made before the look, so that what comes after it is not missed.
                let ended = self.0.ended.notified();
                budgets.mark_unchanged();
                match self.0.store.reserve(new_request(request)).await {
                    Ok(ReserveOutcome::Reserved) => return Ok(()),
                    // Open requests need not use all that they have reserved. None of them waits for this one.
                    Ok(ReserveOutcome::Refused(exceeded)) if exceeded.is_passing() => tokio::select! {
                        () = ended => {}
                        Ok(()) = budgets.changed() => {}
                    },
                    Ok(ReserveOutcome::Refused(exceeded)) => return Err(MeterError::Exceeded(*exceeded)),
                    Err(error) => return Err(MeterError::Store { reason: error.to_string() }),
                }
            }
        })
    }

    fn settle(&self, request: SettledRequest) {
        let settling = settle(Arc::clone(&self.0), request);
        // The first poll hands the command over, so that a reservation that follows finds it settled.
        let mut settling: BoxFuture<'static, _> = Box::pin(task::unconstrained(settling));
        if (&mut settling).now_or_never().is_none()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(settling);
        }
    }
}

/// Stores the end of a request. Where the store fails, it is tried again: what is reserved would keep others waiting.
async fn settle(inner: Arc<Inner>, request: SettledRequest) {
    loop {
        let settled = match request.used {
            Some(used) => inner.store.settle(&request.id, used).await,
            None => inner.store.release(&request.id).await,
        };
        match settled {
            Err(error) if error.problem.is_passing() => {
                tracing::error!(%error, "the usage of a request cannot be stored; the store is tried again");
                tokio::time::sleep(RETRY).await;
            }
            Err(error) => {
                tracing::warn!(%error, "the usage of a request cannot be stored: it counts as reserved");
                break;
            }
            Ok(()) => break,
        }
    }
    inner.ended.notify_waiters();
}

fn new_request(request: &OpenRequest) -> NewRequest {
    let accounts = || request.accounts.iter().map(|of| &of.account);
    let named = |kind: &'static str| accounts().filter(move |account| account.kind == kind);
    let new = NewRequest::new(&*request.id, request.reserved);
    let new = named("agent").fold(new, |new, agent| new.with_agent(&*agent.name));
    // The nearest: those above are known to the store.
    let session = named(SESSION).find_map(|session| session.name.parse().ok());
    let new = match session {
        Some(session) => new.with_session(session),
        None => new,
    };
    match named("job").next() {
        Some(job) => new.with_job(&*job.name),
        None => new,
    }
}

impl fmt::Debug for StoredMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoredMeter").field(&self.0.store.file()).finish()
    }
}
