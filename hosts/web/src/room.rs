//! The memory for what is kept, read and sent, of one client and of all.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of bytes that may be taken.
#[derive(Debug)]
pub(crate) struct Room {
    max: usize,
    taken: AtomicUsize,
}

/// The room of one client within that of all.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    own: Arc<Room>,
    all: Arc<Room>,
}

impl Shared {
    pub(crate) fn new(max: usize, all: Arc<Room>) -> Self {
        Self { own: Room::new(max), all }
    }

    /// Takes bytes of both rooms, if each has so many. `None` also if the client had more then than is left for all others: however many clients take as
    /// much as they can, there is room for one more.
    pub(crate) fn take(&self, bytes: usize) -> Option<Share> {
        let (own, all) = (self.own.take(bytes)?, self.all.take(bytes)?);
        (bytes == 0 || self.own.taken() <= self.all.left()).then_some(Share { own, _all: all })
    }
}

/// Bytes of a client that are taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    own: Taken,
    _all: Taken,
}

impl Share {
    /// Returns the number of bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.own.bytes
    }
}

/// Returns bytes that hold a value until the last part of them is dropped.
pub(crate) fn holding(bytes: Bytes, held: impl Send + Sync + 'static) -> Bytes {
    Bytes::from_owner(Holding { bytes, _held: held })
}

/// Bytes and a value that is dropped with them.
struct Holding<T> {
    bytes: Bytes,
    _held: T,
}

impl<T> AsRef<[u8]> for Holding<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
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

    /// Returns the number of bytes that are left.
    fn left(&self) -> usize {
        self.max.saturating_sub(self.taken())
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

    #[test]
    fn clients_that_take_all_they_can_leave_room_to_the_next_one() {
        let all = Room::new(1_000);
        let mut shares = Vec::new();
        for expected in [500, 250, 125] {
            let client = Shared::new(600, Arc::clone(&all));
            let mut bytes = 0;
            while let Some(share) = client.take(1) {
                bytes += share.bytes();
                shares.push(share);
            }
            assert_eq!(bytes, expected);
        }
        let alone = Shared::new(10, Room::new(1_000));
        assert!(alone.take(11).is_none() && alone.take(10).is_some());
    }

    #[test]
    fn bytes_hold_their_share_until_the_last_part_is_dropped() {
        let all = Room::new(100);
        let share = Shared::new(100, Arc::clone(&all)).take(6).unwrap();
        let mut bytes = holding(Bytes::from_static(b"answer"), share);
        let part = bytes.split_to(3);
        drop(bytes);
        assert_eq!((&part[..], all.taken()), (&b"ans"[..], 6));
        drop(part);
        assert_eq!(all.taken(), 0);
    }
}
