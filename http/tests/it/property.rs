//! Any address, in any spelling, is decided as its number says.

use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use toolkit_http::{Guard, Host};

/// Ranges of IPv4 that are not public, as numbers, sorted; written apart from the table of the crate.
const SPECIAL: &[(u32, u32)] = &[
    (0x0000_0000, 0x00ff_ffff),
    (0x0a00_0000, 0x0aff_ffff),
    (0x6440_0000, 0x647f_ffff),
    (0x7f00_0000, 0x7fff_ffff),
    (0xa9fe_0000, 0xa9fe_ffff),
    (0xac10_0000, 0xac1f_ffff),
    (0xc000_0000, 0xc000_00ff),
    (0xc000_0200, 0xc000_02ff),
    (0xc01f_c400, 0xc01f_c4ff),
    (0xc034_c100, 0xc034_c1ff),
    (0xc058_6300, 0xc058_63ff),
    (0xc0a8_0000, 0xc0a8_ffff),
    (0xc0af_3000, 0xc0af_30ff),
    (0xc612_0000, 0xc613_ffff),
    (0xc633_6400, 0xc633_64ff),
    (0xcb00_7100, 0xcb00_71ff),
    (0xe000_0000, 0xffff_ffff),
];

fn is_public(number: u32) -> bool {
    // The wire server of Azure stands among public addresses.
    number != 0xa83f_8110 && !SPECIAL.iter().any(|(first, last)| (*first..=*last).contains(&number))
}

/// Numbers everywhere, and close to the ends of ranges.
fn number() -> impl Strategy<Value = u32> {
    let ends: Vec<u32> = SPECIAL.iter().flat_map(|(first, last)| [*first, *last]).collect();
    let near = (prop::sample::select(ends), -3_i32..=3).prop_map(|(end, by)| end.wrapping_add_signed(by));
    prop_oneof![any::<u32>(), near]
}

/// One of the ways to write a part of an address.
fn part(value: u32, base: u8) -> String {
    match base {
        0 => value.to_string(),
        1 => format!("{value:#x}"),
        2 => format!("0{value:o}"),
        _ => format!("0x000{value:X}"),
    }
}

fn spelled(number: u32, parts: u8, bases: [u8; 4], dot: char) -> String {
    let octets = number.to_be_bytes().map(u32::from);
    let mut texts: Vec<String> = Vec::new();
    let lead = usize::from(parts) - 1;
    for at in 0..lead {
        texts.push(part(octets[at], bases[at]));
    }
    let rest = octets[lead..].iter().fold(0_u64, |all, octet| all << 8 | u64::from(*octet));
    texts.push(part(u32::try_from(rest).expect("at most 32 bits"), bases[lead]));
    texts.join(&dot.to_string())
}

proptest! {
    #[test]
    fn ipv4_in_any_spelling(
        number in number(),
        parts in 1_u8..=4,
        bases in any::<[u8; 4]>(),
        dot in prop::sample::select(vec!['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']),
    ) {
        let host = spelled(number, parts, bases.map(|base| base % 4), dot);
        let checked = Guard::default().check_url(&format!("http://{host}/"));
        prop_assert_eq!(checked.is_ok(), is_public(number), "{} {:?}", host, checked);
        if let Ok(target) = checked {
            prop_assert_eq!(target.host(), &Host::Address(IpAddr::V4(number.into())));
        }
    }

    #[test]
    fn ipv4_within_ipv6(number in number(), prefix in any::<u64>()) {
        let guard = Guard::default();
        let low = u128::from(number);
        let mapped = guard.check_address(Ipv6Addr::from(0xffff_u128 << 32 | low).into());
        prop_assert_eq!(mapped.is_ok(), is_public(number));
        if let Ok(address) = mapped {
            prop_assert_eq!(address, IpAddr::V4(Ipv4Addr::from(number)), "connected to as IPv4");
        }
        let translated = guard.check_address(Ipv6Addr::from(0x0064_ff9b_u128 << 96 | low).into());
        prop_assert_eq!(translated.is_ok(), is_public(number));
        // A prefix that is allocated, so that the rest alone decides.
        let prefix = u128::from(prefix >> 8 | 0x2a00_0000_0000_0000) << 64;
        let isatap = guard.check_address(Ipv6Addr::from(prefix | 0x5efe_u128 << 32 | low).into());
        prop_assert_eq!(isatap.is_ok(), is_public(number));
    }

    #[test]
    fn any_text_is_decided(text in "\\PC{0,60}") {
        let _ = Guard::default().check_url(&text);
        let _ = Guard::default().check_url(&format!("http://{text}"));
        let _ = Guard::default().check_authority(&text);
    }
}
