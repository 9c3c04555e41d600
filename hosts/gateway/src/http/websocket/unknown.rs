//! Places for sockets of which nobody knows yet whose they are.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::http::ClientAddress;

/// The places. The first frame of a client follows its upgrade at once, so that of those of the address that has most, the one that has waited
/// longest gives its place to a new one: sockets that send nothing keep nobody out.
#[derive(Debug, Clone)]
pub(super) struct UnknownPlaces {
    max: usize,
    /// The longest waiting one first.
    taken: Arc<Mutex<VecDeque<Taken>>>,
}

#[derive(Debug)]
struct Taken {
    client: Option<IpAddr>,
    /// Cancelled when another socket has the place.
    lost: CancellationToken,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(super) struct UnknownPlace {
    places: UnknownPlaces,
    client: Option<IpAddr>,
    /// Cancelled when another socket has it.
    lost: CancellationToken,
}

impl UnknownPlaces {
    /// So many places, one at least.
    pub(super) fn new(max: usize) -> Self {
        Self { max: max.max(1), taken: Arc::default() }
    }

    /// Takes a place, for a client from an address.
    pub(super) fn enter(&self, client: Option<ClientAddress>) -> UnknownPlace {
        let lost = CancellationToken::new();
        let client = client.map(ClientAddress::network);
        let mut taken = self.taken();
        while taken.len() >= self.max {
            let Some(place) = least_worthy(&taken).and_then(|at| taken.remove(at)) else { break };
            place.lost.cancel();
        }
        taken.push_back(Taken { client, lost: lost.clone() });
        drop(taken);
        UnknownPlace { places: self.clone(), client, lost }
    }

    fn taken(&self) -> MutexGuard<'_, VecDeque<Taken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the place to give away: the first one of the address that has most.
fn least_worthy(taken: &VecDeque<Taken>) -> Option<usize> {
    let of_same = |place: &Taken| taken.iter().filter(|other| other.client == place.client).count();
    (0..taken.len()).rev().max_by_key(|at| of_same(&taken[*at]))
}

impl UnknownPlace {
    /// The network of the client.
    pub(super) fn network(&self) -> Option<IpAddr> {
        self.client
    }

    /// Waits until another socket has the place.
    pub(super) async fn lost(&self) {
        self.lost.cancelled().await;
    }
}

impl Drop for UnknownPlace {
    fn drop(&mut self) {
        // None that is still there is cancelled before this one is marked.
        self.lost.cancel();
        self.places.taken().retain(|place| !place.lost.is_cancelled());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last: u8) -> ClientAddress {
        ClientAddress([192, 0, 2, last].into())
    }

    #[test]
    fn the_longest_waiting_socket_gives_its_place_to_a_new_one() {
        let places = UnknownPlaces::new(2);
        let [first, second] = [places.enter(Some(at(1))), places.enter(Some(at(2)))];
        assert!(!first.lost.is_cancelled());
        let third = places.enter(Some(at(3)));
        assert_eq!([&first, &second, &third].map(|place| place.lost.is_cancelled()), [true, false, false]);
        drop(second);
        let fourth = places.enter(None);
        assert!(!third.lost.is_cancelled() && !fourth.lost.is_cancelled());
        drop((first, third, fourth));
        assert!(places.taken().is_empty());
    }

    #[test]
    fn an_address_with_many_silent_sockets_takes_places_of_its_own() {
        let places = UnknownPlaces::new(3);
        let alone = places.enter(Some(at(1)));
        let many: Vec<_> = (0..100).map(|_| places.enter(Some(at(2)))).collect();
        assert!(!alone.lost.is_cancelled());
        let waiting = many.iter().map(|place| !place.lost.is_cancelled());
        assert_eq!(waiting.filter(|is| *is).count(), 2);
    }
}
