//! The table of addresses that are not public.

use crate::AddressRange;
use std::net::{IpAddr, Ipv6Addr};

/// A range of addresses that belongs to no public server, with the reason.
#[derive(Debug, PartialEq, Eq)]
pub struct SpecialRange {
    /// The addresses.
    pub range: AddressRange,
    /// Name in the registry, in lower case: `private use`.
    pub name: &'static str,
    /// The document that reserves it.
    pub document: &'static str,
}

const fn v4(octets: [u8; 4], prefix: u8, name: &'static str, document: &'static str) -> SpecialRange {
    SpecialRange { range: AddressRange::v4(octets, prefix), name, document }
}

#[expect(
    clippy::many_single_char_names,
    reason = "a constant function takes an address apart in no other way"
)]
const fn v6(segments: [u16; 8], prefix: u8, name: &'static str, document: &'static str) -> SpecialRange {
    let [a, b, c, d, e, f, g, h] = segments;
    SpecialRange { range: AddressRange::v6(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix), name, document }
}

/// All ranges that are not public. A longer prefix precedes the shorter one that contains it.
///
/// Sources, as of 2025-10:
/// * <https://www.iana.org/assignments/iana-ipv4-special-registry/>
/// * <https://www.iana.org/assignments/iana-ipv6-special-registry/>
/// * <https://www.iana.org/assignments/multicast-addresses/> and
///   <https://www.iana.org/assignments/ipv6-multicast-addresses/>
/// * <https://www.iana.org/assignments/ipv6-address-space/> for what is deprecated or not in use
///
/// Ranges that the registries call globally reachable are listed too (AS112, AMT, ORCHIDv2): no web server has such an address.
/// IPv4-mapped addresses and the well-known NAT64 prefix are not in the table: the IPv4 address in them decides.
pub static SPECIAL_RANGES: [SpecialRange; 50] = [
    v4([0, 0, 0, 0], 32, "this host on this network", "RFC 1122"),
    v4([0, 0, 0, 0], 8, "this network", "RFC 791"),
    v4([10, 0, 0, 0], 8, "private use", "RFC 1918"),
    v4([100, 64, 0, 0], 10, "shared address space", "RFC 6598"),
    v4([127, 0, 0, 0], 8, "loopback", "RFC 1122"),
    v4([169, 254, 0, 0], 16, "link-local", "RFC 3927"),
    v4([172, 16, 0, 0], 12, "private use", "RFC 1918"),
    v4([192, 0, 0, 0], 29, "IPv4 service continuity prefix", "RFC 7335"),
    v4([192, 0, 0, 8], 32, "IPv4 dummy address", "RFC 7600"),
    v4([192, 0, 0, 9], 32, "port control protocol anycast", "RFC 7723"),
    v4([192, 0, 0, 10], 32, "traversal using relays around NAT anycast", "RFC 8155"),
    v4([192, 0, 0, 170], 31, "NAT64/DNS64 discovery", "RFC 7050"),
    v4([192, 0, 0, 0], 24, "IETF protocol assignments", "RFC 6890"),
    v4([192, 0, 2, 0], 24, "documentation", "RFC 5737"),
    v4([192, 31, 196, 0], 24, "AS112-v4", "RFC 7535"),
    v4([192, 52, 193, 0], 24, "AMT", "RFC 7450"),
    v4([192, 88, 99, 0], 24, "deprecated 6to4 relay anycast", "RFC 7526"),
    v4([192, 168, 0, 0], 16, "private use", "RFC 1918"),
    v4([192, 175, 48, 0], 24, "direct delegation AS112 service", "RFC 7534"),
    v4([198, 18, 0, 0], 15, "benchmarking", "RFC 2544"),
    v4([198, 51, 100, 0], 24, "documentation", "RFC 5737"),
    v4([203, 0, 113, 0], 24, "documentation", "RFC 5737"),
    v4([224, 0, 0, 0], 4, "multicast", "RFC 5771"),
    v4([255, 255, 255, 255], 32, "limited broadcast", "RFC 8190"),
    v4([240, 0, 0, 0], 4, "reserved", "RFC 1112"),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128, "unspecified address", "RFC 4291"),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback", "RFC 4291"),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 96, "deprecated IPv4-compatible", "RFC 4291"),
    v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, "IPv4-translated", "RFC 2765"),
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "IPv4-IPv6 translation, local use", "RFC 8215"),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "discard-only", "RFC 6666"),
    v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64, "dummy IPv6 prefix", "RFC 9780"),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "Teredo", "RFC 4380"),
    v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, "benchmarking", "RFC 5180"),
    v6([0x2001, 3, 0, 0, 0, 0, 0, 0], 32, "AMT", "RFC 7450"),
    v6([0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48, "AS112-v6", "RFC 7535"),
    v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28, "deprecated ORCHID", "RFC 4843"),
    v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28, "ORCHIDv2", "RFC 7343"),
    v6([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28, "drone remote identification", "RFC 9374"),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "IETF protocol assignments", "RFC 2928"),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation", "RFC 3849"),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4", "RFC 3056"),
    v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, "direct delegation AS112 service", "RFC 7534"),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation", "RFC 9637"),
    v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, "segment routing (SRv6) identifiers", "RFC 9602"),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "unique local", "RFC 4193"),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "link-local unicast", "RFC 4291"),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "deprecated site-local", "RFC 3879"),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast", "RFC 4291"),
    // IANA allocates global unicast addresses from 2000::/3 alone. This row is met by addresses outside of it; see `special`.
    v6([0, 0, 0, 0, 0, 0, 0, 0], 0, "not global unicast", "RFC 4291"),
];

/// Global unicast addresses.
const GLOBAL_UNICAST: AddressRange = AddressRange::v6(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Returns the row of the table that contains an address; `None` for a public address. Embedded addresses are not checked.
pub(crate) fn special(address: IpAddr) -> Option<&'static SpecialRange> {
    let row = SPECIAL_RANGES.iter().find(|row| row.range.contains(address))?;
    let is_last_resort =
        row.range.first() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) && row.name == "not global unicast";
    (!is_last_resort || !GLOBAL_UNICAST.contains(address)).then_some(row)
}

/// Returns true for addresses of cloud metadata services, which return a machine's credentials. They are never connected to.
///
/// | address | of |
/// |---|---|
/// | 169.254.169.254, fd00:ec2::254, fd20:ce::254 | AWS, Azure, Google, Oracle, DigitalOcean, OpenStack and others |
/// | 169.254.169.123, 169.254.169.253 | time and DNS of AWS |
/// | 169.254.170.2, 169.254.170.23, fd00:ec2::23 | credentials of containers on AWS |
/// | 100.100.100.200 | Alibaba |
/// | 168.63.129.16 | the wire server of Azure |
/// | 192.0.0.192 | Oracle classic |
/// | 169.254.42.42, fd00:42::42 | Scaleway |
/// | 169.254.0.23 | Tencent |
pub(crate) fn is_metadata(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => matches!(
            address.octets(),
            [169, 254, 169, 254 | 253 | 123]
                | [169, 254, 170, 2 | 23]
                | [169, 254, 42, 42]
                | [169, 254, 0, 23]
                | [100, 100, 100, 200]
                | [168, 63, 129, 16]
                | [192, 0, 0, 192]
        ),
        IpAddr::V6(address) => matches!(
            address.segments(),
            [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254 | 0x23]
                | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254]
                | [0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42]
        ),
    }
}

/// Names under which metadata is served, for networks in which a proxy or a resolver replaces the address.
pub(crate) const METADATA_NAMES: [&str; 3] =
    ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"];
