//! The first and the last address of every special range, in every spelling.

use super::server::{Server, client, guard, ok};
use std::net::{Ipv4Addr, Ipv6Addr};
use toolkit_http::{Guard, Limits, Refused, Request};

/// The IANA registries of IPv4, copied by hand, with the last address spelled out: the table of the crate is checked against these.
const V4: &[(&str, &str)] = &[
    ("0.0.0.0", "0.255.255.255"),
    ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("169.254.0.0", "169.254.255.255"),
    ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"),
    ("192.0.0.8", "192.0.0.10"),
    ("192.0.0.170", "192.0.0.171"),
    ("192.0.2.0", "192.0.2.255"),
    ("192.31.196.0", "192.31.196.255"),
    ("192.52.193.0", "192.52.193.255"),
    ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"),
    ("192.175.48.0", "192.175.48.255"),
    ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"),
    ("224.0.0.0", "239.255.255.255"),
    ("240.0.0.0", "255.255.255.255"),
];

/// Those of IPv6.
const V6: &[(&str, &str)] = &[
    ("::", "::1"),
    ("::2", "::ffff:ffff"),
    ("::ffff:0:0:0", "::ffff:0:ffff:ffff"),
    ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
    ("100::", "100::ffff:ffff:ffff:ffff"),
    ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"),
    ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:1::", "2001:1::3"),
    ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"),
    ("2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff"),
    ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:30::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:40::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
];

/// Public addresses right beside the ranges, and some that are well known.
const PUBLIC: &[&str] = &[
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "192.0.1.255",
    "192.0.3.0",
    "192.31.195.255",
    "192.31.197.0",
    "192.52.192.255",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "192.175.47.255",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "2000::",
    "2001:200::",
    "2001:db7:ffff::",
    "2001:db9::",
    "2003::",
    "2606:4700:4700::1111",
    "2620:4f:7fff::",
    "2620:4f:8001::",
    "2a00:1450:4001::1",
    "3ffe::1",
    "3fff:1000::",
];

/// Metadata services of clouds.
const METADATA: &[&str] = &[
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "169.254.42.42",
    "169.254.0.23",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:42::42",
];

/// An IPv4 address as URLs can spell it.
fn spellings_v4(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let whole = u32::from(address);
    let (low, lower) = (whole & 0x00ff_ffff, whole & 0xffff);
    vec![
        address.to_string(),
        format!("{address}."),
        format!("{whole}"),
        format!("{whole:#x}"),
        format!("{whole:#X}"),
        format!("0{whole:o}"),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("000{a:o}.{b}.{c:#x}.{d}"),
        format!("{a}.{low}"),
        format!("{a}.{b}.{lower}"),
        format!("{a:#x}.{low:#x}"),
        // Digits and dots of other scripts, which names are normalised to.
        address.to_string().replace('.', "\u{3002}"),
        address.to_string().replace('.', "\u{ff0e}"),
        address
            .to_string()
            .chars()
            .map(|char| match char.to_digit(10) {
                Some(digit) => char::from_u32(0xff10 + digit).expect("a full-width digit"),
                None => char,
            })
            .collect(),
        address.to_string().replace('1', "%31"),
    ]
}

/// IPv6 addresses that lead to an IPv4 address.
fn embedded(address: Ipv4Addr) -> Vec<Ipv6Addr> {
    let (high, low) = (u32::from(address) >> 16, u32::from(address) & 0xffff);
    let (high, low) = (u16::try_from(high).expect("16 bits"), u16::try_from(low).expect("16 bits"));
    vec![
        Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0x2001, 0, high, low, 0, 0, 0, 0),
        Ipv6Addr::new(0x2001, 0, 0x4136, 0xe378, 0x8000, 0x63bf, !high, !low),
        Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0, 0x5efe, high, low),
        Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0x200, 0x5efe, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
    ]
}

/// An IPv6 address as URLs can spell it.
fn spellings_v6(address: Ipv6Addr) -> Vec<String> {
    let segments = address.segments();
    let whole: Vec<String> = segments.iter().map(|segment| format!("{segment:04X}")).collect();
    let [.., high, low] = segments;
    let last = Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    vec![
        format!("[{address}]"),
        format!("[{}]", whole.join(":")),
        format!("[{}:{last}]", whole[..6].join(":")),
    ]
}

fn refused(guard: &Guard, host: &str) -> Result<(), String> {
    match guard.check_url(&format!("http://{host}/")) {
        Err(_) => Ok(()),
        Ok(target) => Err(format!("{host} was taken for {}", target.host())),
    }
}

#[test]
fn every_special_address_is_refused_in_every_spelling() {
    let guard = Guard::default();
    let mut inputs = 0;
    let mut check = |host: &str| {
        inputs += 1;
        refused(&guard, host).unwrap();
    };
    for (first, last) in V4 {
        for address in [first, last] {
            let address: Ipv4Addr = address.parse().unwrap();
            assert!(guard.check_address(address.into()).is_err(), "{address}");
            for host in &spellings_v4(address) {
                check(host);
            }
            for inner in embedded(address) {
                assert!(guard.check_address(inner.into()).is_err(), "{inner}");
                for host in &spellings_v6(inner) {
                    check(host);
                }
            }
        }
    }
    for (first, last) in V6 {
        for address in [first, last] {
            let address: Ipv6Addr = address.parse().unwrap();
            assert!(guard.check_address(address.into()).is_err(), "{address}");
            for host in &spellings_v6(address) {
                check(host);
            }
        }
    }
    assert!(inputs > 1_500, "{inputs}");
}

#[test]
fn every_range_says_which_it_is() {
    let guard = Guard::default();
    for (first, last) in V4.iter().chain(V6) {
        for address in [first, last] {
            let error = guard.check_address(address.parse().unwrap()).unwrap_err();
            let Refused::NotPublic { rule, .. } = &error else { panic!("{address}: {error}") };
            assert!(rule.range.contains(address.parse().unwrap()), "{address}: {error}");
        }
    }
}

#[test]
fn public_addresses_are_allowed_in_every_spelling() {
    let guard = Guard::default();
    for text in PUBLIC {
        let address = text.parse().unwrap();
        assert_eq!(guard.check_address(address).as_ref(), Ok(&address), "{text}");
        let hosts = match address {
            std::net::IpAddr::V4(v4) => {
                // Only what leads through a translator, or is the address itself, leads to a public address.
                for inner in &embedded(v4)[..2] {
                    assert!(guard.check_address((*inner).into()).is_ok(), "{inner}");
                }
                spellings_v4(v4)
            }
            std::net::IpAddr::V6(v6) => spellings_v6(v6),
        };
        for host in hosts {
            let target = guard
                .check_url(&format!("https://{host}/"))
                .unwrap_or_else(|error| panic!("{host}: {error}"));
            assert_eq!(target.host(), &toolkit_http::Host::Address(address), "{host}");
        }
    }
}

#[test]
fn metadata_services_are_refused_even_where_everything_is_allowed() {
    let guard = guard(&["0.0.0.0/0", "::/0"]);
    let mut hosts = vec![
        "metadata.google.internal".to_owned(),
        "METADATA.google.internal.".to_owned(),
        "metadata.goog".to_owned(),
    ];
    for text in METADATA {
        match text.parse().unwrap() {
            std::net::IpAddr::V4(v4) => {
                hosts.extend(spellings_v4(v4));
                hosts.extend(embedded(v4).into_iter().flat_map(spellings_v6));
            }
            std::net::IpAddr::V6(v6) => hosts.extend(spellings_v6(v6)),
        }
    }
    for host in hosts {
        let error = guard.check_url(&format!("http://{host}/")).unwrap_err();
        assert!(matches!(error, Refused::Metadata { .. }), "{host}: {error}");
    }
}

#[test]
fn an_allowed_range_allows_itself_alone() {
    let guard = guard(&["10.1.0.0/16", "fd12::/16", "198.18.0.0/15"]);
    for (host, is_allowed) in [
        ("10.1.0.0", true),
        ("10.1.255.255", true),
        ("0xa010203", true),
        ("[::ffff:10.1.2.3]", true),
        ("[64:ff9b::10.1.2.3]", true),
        ("[2606:4700::5efe:10.1.2.3]", true),
        ("198.18.0.7", true),
        ("10.0.255.255", false),
        ("10.2.0.0", false),
        ("[fd12::1]", true),
        ("[fd13::1]", false),
        ("127.0.0.1", false),
        ("[2002:a01:203::1]", false),
        ("[2001:0:a01:203::]", false),
        ("[2606:4700::5efe:10.2.2.3]", false),
    ] {
        assert_eq!(guard.check_url(&format!("http://{host}/")).is_ok(), is_allowed, "{host}");
    }
}

#[tokio::test]
async fn no_spelling_of_loopback_reaches_a_server() {
    let server = Server::start(|_| ok("secret")).await;
    let (shut, open) = (client(&[], Limits::default()), client(&["127.0.0.0/8"], Limits::default()));
    let address = Ipv4Addr::LOCALHOST;
    let mut hosts = spellings_v4(address);
    hosts.extend(spellings_v6(embedded(address)[0]));
    hosts.extend(["localhost".to_owned(), "LocalHost".to_owned(), "127.1".to_owned(), "0".to_owned()]);
    for host in &hosts {
        let error = shut.send(Request::get(format!("http://{host}:{}/", server.port()))).await.unwrap_err();
        let told = error.to_string();
        assert!(told.contains("is refused") && !told.contains("secret"), "{host}: {told}");
    }
    assert_eq!(server.requests(), Vec::<String>::new(), "nothing reached the server");
    let mut reached = 0;
    for host in
        hosts.iter().filter(|host| !matches!(&***host, "0") && !host.to_lowercase().starts_with("localhost"))
    {
        open.send(Request::get(format!("http://{host}:{}/", server.port()))).await.unwrap();
        reached += 1;
        assert_eq!(server.requests().len(), reached, "{host}");
    }
}
