//! The number of connections from each address, so that one machine does not take all places.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bits of an address of IPv6 that name a network: whoever has one has all its addresses.
const NETWORK: u128 = !0 << 64;

/// The connections of each address.
#[derive(Debug, Clone)]
pub(crate) struct Addresses {
    max: usize,
    counts: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A connection of an address, until it is dropped.
#[derive(Debug)]
pub(crate) struct OfAddress {
    addresses: Addresses,
    /// `None` for this machine, whose connections are not counted.
    network: Option<IpAddr>,
}

impl Addresses {
    /// So many connections of each address.
    pub(crate) fn new(max: usize) -> Self {
        Self { max, counts: Arc::default() }
    }

    /// Counts a connection from an address; `None` if there are as many as there may be.
    pub(crate) fn enter(&self, address: IpAddr) -> Option<OfAddress> {
        let network = network(address);
        if let Some(network) = network {
            let mut counts = self.counts();
            let count = counts.entry(network).or_default();
            if *count >= self.max {
                return None;
            }
            *count += 1;
        }
        Some(OfAddress { addresses: self.clone(), network })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OfAddress {
    fn drop(&mut self) {
        let Some(network) = self.network else { return };
        let mut counts = self.addresses.counts();
        if let Some(count) = counts.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&network);
            }
        }
    }
}

/// Returns the network of an address; `None` for this machine.
fn network(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    let network = match address {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
        IpAddr::V4(_) => address,
    };
    (!address.is_loopback()).then_some(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_places_of_its_own_and_this_machine_has_all() {
        let addresses = Addresses::new(2);
        let enter = |address: &str| addresses.enter(address.parse().expect("an address"));
        let first = enter("192.0.2.1").expect("a place");
        let _second = enter("::ffff:192.0.2.1").expect("a place of the same one");
        assert!(enter("192.0.2.1").is_none());
        let _other = enter("192.0.2.2").expect("another one");
        drop(first);
        let _again = enter("192.0.2.1").expect("its place is free");
        let _six = [enter("2001:db8::1").expect("a place"), enter("2001:db8::2").expect("a place")];
        assert!(enter("2001:db8::ffff:1").is_none() && enter("2001:db8:0:1::1").is_some());
        let here: Vec<_> = (0..10).map(|_| enter("127.0.0.1").expect("no limit")).collect();
        drop(here);
        assert!(enter("::1").is_some());
    }
}
