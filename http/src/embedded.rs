//! IPv4 addresses within IPv6 addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The well-known NAT64 prefix, `64:ff9b::/96` (RFC 6052). A translator on the path connects to the IPv4 address in it.
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

/// Returns an address in the form that is connected to: an IPv4-mapped address becomes the IPv4 address.
pub(crate) fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// The IPv4 address that a NAT64 translator connects to.
pub(crate) fn nat64(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V6(v6) if v6.segments()[..6] == NAT64 => Some(from(v6.segments()[6], v6.segments()[7])),
        _ => None,
    }
}

/// Returns the IPv4 addresses in an address of a tunnel: the two of Teredo, and those of 6to4, ISATAP, IPv4-compatible and
/// IPv4-translated addresses.
pub(crate) fn tunnelled(address: IpAddr) -> impl Iterator<Item = Ipv4Addr> {
    let segments = match address {
        IpAddr::V6(v6) => v6.segments(),
        IpAddr::V4(_) => Ipv6Addr::UNSPECIFIED.segments(),
    };
    let [s0, s1, s2, s3, s4, s5, s6, s7] = segments;
    let is_v6 = address.is_ipv6();
    let last = from(s6, s7);
    [
        // RFC 4380: the server, and the client with its bits inverted.
        (s0 == 0x2001 && s1 == 0, from(s2, s3)),
        (s0 == 0x2001 && s1 == 0, from(!s6, !s7)),
        (s0 == 0x2002, from(s1, s2)),
        // RFC 5214: the interface identifier is 0000:5efe or 0200:5efe, and the address.
        ((s4 == 0 || s4 == 0x200) && s5 == 0x5efe, last),
        ([s0, s1, s2, s3, s4, s5] == [0; 6], last),
        ([s0, s1, s2, s3, s4, s5] == [0, 0, 0, 0, 0xffff, 0], last),
    ]
    .into_iter()
    .filter_map(move |(is_one, v4)| (is_v6 && is_one).then_some(v4))
}

/// Returns the IPv4 address in an ISATAP address, whose prefix does not show where it leads.
pub(crate) fn isatap(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V6(v6) => match v6.segments() {
            [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(from(high, low)),
            _ => None,
        },
        IpAddr::V4(_) => None,
    }
}

fn from(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_within_addresses() {
        for (text, expected) in [
            ("2002:a00:1::1", vec!["10.0.0.1"]),
            // The example of RFC 4380.
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", vec!["65.54.227.120", "192.0.2.45"]),
            ("2606:4700::5efe:10.0.0.1", vec!["10.0.0.1"]),
            ("2606:4700::200:5efe:127.0.0.1", vec!["127.0.0.1"]),
            ("::10.0.0.1", vec!["10.0.0.1"]),
            ("::ffff:0:10.0.0.1", vec!["10.0.0.1"]),
            ("2606:4700::1111", vec![]),
            ("10.0.0.1", vec![]),
        ] {
            let found: Vec<_> = tunnelled(text.parse().unwrap()).map(|v4| v4.to_string()).collect();
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(nat64("64:ff9b::10.0.0.1".parse().unwrap()), Some(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!(nat64("64:ff9b:1::10.0.0.1".parse().unwrap()), None);
        assert_eq!(canonical("::ffff:10.0.0.1".parse().unwrap()), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)));
    }
}
