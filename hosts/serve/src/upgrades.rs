//! Connections that became something else than HTTP: they count as connections, and end with the server.

use crate::addresses::OfAddress;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The place of a connection among all, and among those of its address.
type Place = (OwnedSemaphorePermit, OfAddress);

/// The part of the listener that an upgraded connection takes over. Without a listener, its tasks count nowhere.
#[derive(Debug, Clone, Default)]
pub(crate) struct Upgrades {
    pub(crate) shutdown: CancellationToken,
    /// Cancelled when the server has ended: what is open then ends.
    stopped: CancellationToken,
    tasks: TaskTracker,
    /// The place among the connections, until the connection has ended or is taken over.
    place: Arc<Mutex<Option<Arc<Place>>>>,
}

impl Upgrades {
    pub(crate) fn new(
        shutdown: CancellationToken,
        stopped: CancellationToken,
        tasks: TaskTracker,
        place: Place,
    ) -> Self {
        Self { shutdown, stopped, tasks, place: Arc::new(Mutex::new(Some(Arc::new(place)))) }
    }

    /// Ends HTTP on the connection: its place is free unless a task has taken it over.
    pub(crate) fn release(&self) {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Runs the task that uses the upgraded connection.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stopped = self.stopped.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = task => {}
                () = stopped.cancelled() => {}
            }
            drop(place);
        });
    }
}
