//! Files of results that a client fetches later: `/v1/results/{id}/{n}`.

use crate::limits::{MAX_MEDIA_BYTES, MAX_RESULTS, MEDIA_LIFETIME};
use crate::room::{Room, Share, Shared};
use bytes::Bytes;
use data_encoding::BASE32_NOPAD;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// A picture, a sound, a document or a file.
#[derive(Debug, Clone)]
pub(crate) struct Medium {
    pub(crate) mime_type: String,
    pub(crate) name: Option<String>,
    pub(crate) data: Bytes,
}

/// The files of one client's results.
#[derive(Debug)]
pub(crate) struct Media {
    kept: Mutex<VecDeque<Kept>>,
    room: Shared,
}

#[derive(Debug)]
struct Kept {
    id: String,
    media: Vec<Medium>,
    at: Instant,
    _room: Share,
}

impl Media {
    pub(crate) fn new(all: Arc<Room>) -> Self {
        Self { kept: Mutex::default(), room: Shared::new(MAX_MEDIA_BYTES, all) }
    }

    /// Keeps the files of a result, and returns its id, which nobody can guess. Older ones of this client give way, and no other's. `None` if there is no
    /// room.
    pub(crate) fn keep(&self, media: Vec<Medium>) -> Option<String> {
        let mut random = [0; 20];
        getrandom::fill(&mut random).ok()?;
        let id = BASE32_NOPAD.encode(&random).to_lowercase();
        let bytes = media.iter().map(|medium| medium.data.len() + medium.mime_type.len()).sum();
        if bytes > MAX_MEDIA_BYTES {
            return None;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        forget_old(&mut kept);
        if kept.len() >= MAX_RESULTS {
            kept.pop_front();
        }
        loop {
            if let Some(room) = self.room.take(bytes) {
                kept.push_back(Kept { id: id.clone(), media, at: Instant::now(), _room: room });
                return Some(id);
            }
            kept.pop_front()?;
        }
    }

    /// Returns a file of a result.
    pub(crate) fn get(&self, id: &str, number: usize) -> Option<Medium> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        forget_old(&mut kept);
        kept.iter().find(|kept| kept.id == id)?.media.get(number).cloned()
    }

    /// Forgets the files that were kept long ago.
    pub(crate) fn forget_old(&self) {
        forget_old(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the number of results with files that are kept.
    pub(crate) fn count(&self) -> usize {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        forget_old(&mut kept);
        kept.len()
    }
}

fn forget_old(kept: &mut VecDeque<Kept>) {
    while kept.front().is_some_and(|kept| kept.at.elapsed() >= MEDIA_LIFETIME) {
        kept.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medium(bytes: usize) -> Vec<Medium> {
        vec![Medium { mime_type: String::new(), name: None, data: vec![7; bytes].into() }]
    }

    #[test]
    fn files_give_way_to_newer_ones_of_the_same_client_alone() {
        let all = Room::new(1_000);
        let (one, other) = (Media::new(Arc::clone(&all)), Media::new(Arc::clone(&all)));
        let of_other = other.keep(medium(400)).unwrap();
        let first = one.keep(medium(250)).unwrap();
        let second = one.keep(medium(200)).unwrap();
        assert!(one.get(&first, 0).is_none() && one.get(&second, 0).is_some());
        assert!(one.keep(medium(350)).is_none());
        assert!(other.get(&of_other, 0).is_some() && other.get(&of_other, 1).is_none());
        assert!(one.get(&of_other, 0).is_none());
        drop((one, other));
        assert_eq!(all.taken(), 0);
    }

    #[test]
    fn a_client_has_a_number_of_results_and_of_bytes() {
        let media = Media::new(Room::new(usize::MAX));
        let first = media.keep(medium(1)).unwrap();
        for _ in 0..MAX_RESULTS {
            media.keep(medium(1)).unwrap();
        }
        assert!(media.get(&first, 0).is_none());
        assert_eq!(media.count(), MAX_RESULTS);
        assert!(media.keep(medium(MAX_MEDIA_BYTES + 1)).is_none());
    }
}
