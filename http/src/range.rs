//! Ranges of addresses: `10.0.0.0/8`, `fc00::/7`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A range of addresses, in CIDR notation. A single address is a range of one.
///
/// ```
/// use toolkit_http::AddressRange;
///
/// let range: AddressRange = "10.0.0.0/8".parse().unwrap();
/// assert!(range.contains("10.1.2.3".parse().unwrap()));
/// assert!("10.1.2.3/8".parse::<AddressRange>().is_err(), "bits are set beyond the prefix");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressRange {
    first: IpAddr,
    prefix: u8,
}

/// An error of parsing an [`AddressRange`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an address range: {why}; write it as \"10.0.0.0/8\" or \"fc00::/7\"")]
pub struct InvalidRange {
    text: String,
    why: &'static str,
}

impl AddressRange {
    pub(crate) const fn v4(octets: [u8; 4], prefix: u8) -> Self {
        let [a, b, c, d] = octets;
        Self { first: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
    }

    pub(crate) const fn v6(first: Ipv6Addr, prefix: u8) -> Self {
        Self { first: IpAddr::V6(first), prefix }
    }

    /// Returns true if the address is in the range. An IPv4 address is never in an IPv6 range, nor the other way round.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                (u32::from(first) ^ u32::from(address)).checked_shr(32 - u32::from(self.prefix)).unwrap_or(0)
                    == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                (u128::from(first) ^ u128::from(address))
                    .checked_shr(128 - u32::from(self.prefix))
                    .unwrap_or(0)
                    == 0
            }
            _ => false,
        }
    }

    /// The first address.
    pub fn first(&self) -> IpAddr {
        self.first
    }

    /// The last address.
    pub fn last(&self) -> IpAddr {
        match self.first {
            IpAddr::V4(first) => {
                let host = u32::MAX.checked_shr(self.prefix.into()).unwrap_or(0);
                IpAddr::V4((u32::from(first) | host).into())
            }
            IpAddr::V6(first) => {
                let host = u128::MAX.checked_shr(self.prefix.into()).unwrap_or(0);
                IpAddr::V6((u128::from(first) | host).into())
            }
        }
    }
}

impl FromStr for AddressRange {
    type Err = InvalidRange;

    fn from_str(text: &str) -> Result<Self, InvalidRange> {
        let invalid = |why| InvalidRange { text: text.to_owned(), why };
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let first: IpAddr = address.parse().map_err(|_| invalid("its address cannot be read"))?;
        let longest = if first.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => longest,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits
                .parse()
                .ok()
                .filter(|prefix| *prefix <= longest)
                .ok_or_else(|| invalid("its prefix is longer than the address"))?,
            Some(_) => return Err(invalid("its prefix is not a number")),
        };
        let range = Self { first, prefix };
        let host_bits = match (first, range.last()) {
            (IpAddr::V4(first), IpAddr::V4(last)) => u128::from(u32::from(first) ^ u32::from(last)),
            (IpAddr::V6(first), IpAddr::V6(last)) => u128::from(first) ^ u128::from(last),
            _ => 0,
        };
        // `first | host` is `first ^ host` only where no bit of the host part is set.
        if host_bits.count_ones() != u32::from(longest - prefix) {
            return Err(invalid("bits are set beyond its prefix"));
        }
        Ok(range)
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (text, first, last) in [
            ("10.0.0.0/8", "10.0.0.0", "10.255.255.255"),
            ("0.0.0.0/0", "0.0.0.0", "255.255.255.255"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.7"),
            ("192.0.2.6/31", "192.0.2.6", "192.0.2.7"),
            ("::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("::1", "::1", "::1"),
        ] {
            let range: AddressRange = text.parse().unwrap();
            assert_eq!(range.first().to_string(), first, "{text}");
            assert_eq!(range.last().to_string(), last, "{text}");
            assert!(range.contains(range.first()) && range.contains(range.last()), "{text}");
        }
        for text in
            ["", "10.0.0.0/33", "10.0.0.1/8", "::1/64", "::/129", "10.0.0.0/+8", "10.0.0.0/", "10/8", "a/8"]
        {
            assert!(text.parse::<AddressRange>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn families_are_apart() {
        let all: AddressRange = "0.0.0.0/0".parse().unwrap();
        assert!(!all.contains("::ffff:10.0.0.1".parse().unwrap()));
    }
}
