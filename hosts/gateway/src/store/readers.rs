//! A few connections that read, on threads that may block.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::damage::Fault;
use super::files;

/// Connections that read at once.
const MAX_READERS: usize = 4;

#[derive(Debug)]
pub(super) struct Readers {
    file: PathBuf,
    places: std::sync::Arc<Semaphore>,
    /// Those that nobody uses now.
    idle: std::sync::Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(super) fn new(file: PathBuf) -> Self {
        Self {
            file,
            places: std::sync::Arc::new(Semaphore::new(MAX_READERS)),
            idle: std::sync::Arc::default(),
        }
    }

    /// Reads what is committed, as it is at one time.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let place = std::sync::Arc::clone(&self.places).acquire_owned().await.map_err(|_| Fault::Closed)?;
        let (file, idle) = (self.file.clone(), std::sync::Arc::clone(&self.idle));
        let read = tokio::task::spawn_blocking(move || {
            // Held by the reading itself: whoever asked may be gone.
            let _place = place;
            let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = kept.map_or_else(|| files::connect_reader(&file), Ok)?;
            let answer = act(&connection);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            answer
        });
        read.await.unwrap_or(Err(Fault::Closed))
    }

    /// Waits for those that read, and closes their connections.
    pub(super) async fn close(&self) {
        let all = u32::try_from(MAX_READERS).unwrap_or(u32::MAX);
        let all = self.places.acquire_many(all).await;
        self.places.close();
        drop(all);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
