//! One connection, as the requests that come over it see it.

use crate::principal::Revocation;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// A connection.
///
/// `serve` adds a clone to the extensions of each request. A host with its own listener does the same, and closes the connection when
/// [`revoked`](Self::revoked) returns. What is [attached](Self::attached) to it is dropped with the last clone.
#[derive(Clone, Default)]
pub struct Connection(Arc<State>);

#[derive(Default)]
struct State {
    attached: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// Cancelled when a token is revoked that a request of this connection used.
    revoked: CancellationToken,
    /// The revocations that are waited for.
    awaited: Mutex<Vec<(Revocation, AbortOnDropHandle<()>)>>,
    /// The other end.
    peer: Option<SocketAddr>,
    #[cfg(feature = "http")]
    upgrades: crate::upgrades::Upgrades,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// Creates a connection.
    pub fn new() -> Self {
        Self::default()
    }

    #[cfg(feature = "http")]
    pub(crate) fn accepted(upgrades: crate::upgrades::Upgrades, peer: SocketAddr) -> Self {
        Self(Arc::new(State { upgrades, peer: Some(peer), ..State::default() }))
    }

    /// The address at the other end: that of the client, or of a proxy in front of the server. `None` for a connection that `serve` has not
    /// accepted.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.0.peer
    }

    /// Runs a task that uses the connection after an upgrade. The connection counts as one of the server until the task ends.
    ///
    /// The task ends at once if a token is revoked that the connection used. At the server's shutdown the token that it gets is cancelled; it
    /// then has the server's [`end_within`](crate::ServeOptions::end_within) to finish. Must be called within a tokio runtime.
    #[cfg(feature = "http")]
    pub fn run_upgraded<F: Future<Output = ()> + Send>(
        &self,
        task: impl FnOnce(CancellationToken) -> F + Send + 'static,
    ) {
        let (upgrades, revoked) = (self.0.upgrades.clone(), self.0.revoked.clone());
        let (connection, shutdown) = (self.clone(), upgrades.shutdown.clone());
        upgrades.spawn(async move {
            // The attached values last as long as the connection.
            let _connection = connection;
            tokio::select! {
                () = task(shutdown) => {}
                () = revoked.cancelled() => tracing::debug!("an upgraded connection ended with its token"),
            }
        });
    }

    /// A number that no other connection has at the same time.
    #[cfg(feature = "http")]
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Returns the value of a type that belongs to this connection. The first call makes it.
    pub fn attached<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut attached = lock(&self.0.attached);
        let value = attached.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().unwrap_or_default()
    }

    /// Waits until a token is revoked that a request of this connection used.
    pub async fn revoked(&self) {
        self.0.revoked.cancelled().await;
    }

    /// Lets the connection end with a token. Does nothing outside of a tokio runtime.
    pub fn ends_with(&self, revocation: &Revocation) {
        let mut awaited = lock(&self.0.awaited);
        if awaited.iter().any(|(other, _)| other.is_of_same_token(revocation)) {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        let (token, revoked) = (revocation.token_revoked(), self.0.revoked.clone());
        let task = runtime.spawn(async move {
            token.await;
            revoked.cancel();
        });
        awaited.push((revocation.clone(), AbortOnDropHandle::new(task)));
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_ends_with_each_token_that_it_used() {
        let (connection, one, two) = (Connection::new(), Revocation::new(), Revocation::new());
        connection.ends_with(&one);
        connection.ends_with(&one);
        connection.ends_with(&two);
        assert_eq!(lock(&connection.0.awaited).len(), 2);
        two.revoke_token();
        connection.clone().revoked().await;
    }

    #[test]
    fn a_value_of_each_type_is_attached_once() {
        let connection = Connection::new();
        let first = connection.attached::<Mutex<u8>>();
        *lock(&first) = 7;
        assert_eq!(*lock(&connection.clone().attached::<Mutex<u8>>()), 7);
        assert_eq!(*lock(&connection.attached::<Mutex<u16>>()), 0);
    }
}
