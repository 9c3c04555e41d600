//! The address of a client, behind proxies that are known.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use toolkit_serve::axum::http::HeaderMap;

/// The header in which a proxy says for whom it forwards a request.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of the client of a request, in its extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// Returns what whoever has the address has with it: of IPv6, the network with a prefix of 64 bits.
    pub(super) fn network(self) -> IpAddr {
        match self.0 {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (!0 << 64)).into(),
            address @ IpAddr::V4(_) => address,
        }
    }
}

/// Returns the address from which a request came: the other end of the connection, or, if that is a known proxy, the last address that the
/// proxies name which is none of them. A name or a text that is no address ends the chain: the proxy that wrote it counts as the client.
pub(super) fn client_address(peer: SocketAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> ClientAddress {
    let mut client = peer.ip().to_canonical();
    let is_proxy = |address: &IpAddr| proxies.iter().any(|proxy| proxy.to_canonical() == *address);
    let named: Vec<_> = headers.get_all(FORWARDED_FOR).iter().collect();
    // Each proxy adds to the end. All that stands before the last unknown address may be written by the client.
    for value in named.into_iter().rev() {
        let Ok(value) = value.to_str() else { break };
        for address in value.split(',').rev() {
            if !is_proxy(&client) {
                return ClientAddress(client);
            }
            let Some(address) = parsed(address.trim()) else { return ClientAddress(client) };
            client = address.to_canonical();
        }
    }
    ClientAddress(client)
}

/// An address, with a port or without.
fn parsed(text: &str) -> Option<IpAddr> {
    let in_brackets = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    in_brackets.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

#[cfg(test)]
mod tests {
    use toolkit_serve::axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_known_proxies_say_where_a_request_came_from() {
        let proxies = ["10.0.0.1", "10.0.0.2", "::1"].map(|proxy| proxy.parse().expect("an address"));
        for (peer, named, expected) in [
            ("192.0.2.7:1", &[][..], "192.0.2.7"),
            ("192.0.2.7:1", &["198.51.100.1"], "192.0.2.7"),
            ("10.0.0.1:1", &[], "10.0.0.1"),
            ("10.0.0.1:1", &["198.51.100.1"], "198.51.100.1"),
            ("[::ffff:10.0.0.1]:1", &["::ffff:198.51.100.1"], "198.51.100.1"),
            ("[::1]:1", &["[2001:db8::1]:443"], "2001:db8::1"),
            ("[::1]:1", &["[2001:db8::1]"], "2001:db8::1"),
            ("10.0.0.1:1", &["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1:1", &["203.0.113.9, 198.51.100.1, 10.0.0.2"], "198.51.100.1"),
            ("10.0.0.1:1", &["203.0.113.9", "198.51.100.1:80, 10.0.0.2"], "198.51.100.1"),
            ("10.0.0.1:1", &["203.0.113.9, unknown"], "10.0.0.1"),
            ("10.0.0.1:1", &["203.0.113.9,"], "10.0.0.1"),
            ("10.0.0.1:1", &["10.0.0.2, 10.0.0.1"], "10.0.0.2"),
        ] {
            let mut headers = HeaderMap::new();
            for value in named {
                headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
            }
            let found = client_address(peer.parse().expect("an address"), &headers, &proxies);
            assert_eq!(found.0.to_string(), expected, "{peer} {named:?}");
        }
    }
}
