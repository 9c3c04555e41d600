//! The memory for answers and files that are kept, of one client and of all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of bytes that may be taken.
#[derive(Debug)]
pub(crate) struct Room {
    max: usize,
    taken: AtomicUsize,
}

/// The room of one client within that of all.
#[derive(Debug)]
pub(crate) struct Shared {
    own: Arc<Room>,
    all: Arc<Room>,
}

impl Shared {
    pub(crate) fn new(max: usize, all: Arc<Room>) -> Self {
        Self { own: Room::new(max), all }
    }

    /// Takes bytes of both rooms, if each has so many.
    pub(crate) fn take(&self, bytes: usize) -> Option<(Taken, Taken)> {
        Some((self.own.take(bytes)?, self.all.take(bytes)?))
    }
}

/// Bytes that are taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    room: Arc<Room>,
    bytes: usize,
}

impl Room {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, taken: AtomicUsize::new(0) })
    }

    /// Takes bytes, if there are so many.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> Option<Taken> {
        let more = |taken: usize| taken.checked_add(bytes).filter(|sum| *sum <= self.max);
        self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Taken { room: Arc::clone(self), bytes })
    }

    /// Returns the number of bytes that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Acquire)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.room.taken.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_taken_up_to_the_limit_and_given_back() {
        let room = Room::new(10);
        let six = room.take(6).unwrap();
        assert!(room.take(5).is_none() && room.take(usize::MAX).is_none());
        let four = room.take(4).unwrap();
        drop(six);
        assert_eq!(room.taken(), 4);
        drop(four);
        assert_eq!(room.taken(), 0);
    }
}
