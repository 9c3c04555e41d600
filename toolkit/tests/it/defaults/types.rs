//! Types of arguments, and random values of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Duration;

/// A generator of numbers (`SplitMix64`).
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// A type with random values.
pub(super) trait Make: Sized {
    /// `depth` bounds how far values nest.
    fn make(random: &mut Random, depth: u64) -> Self;
}

macro_rules! integers {
    ($($type:ty)*) => { $(impl Make for $type {
        fn make(random: &mut Random, _: u64) -> Self {
            match random.below(6) {
                0 => Self::MIN,
                1 => Self::MAX,
                n => Self::try_from(n - 2).unwrap(),
            }
        }
    })* };
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

macro_rules! chosen {
    ($($type:ty: $($value:expr),+;)*) => { $(impl Make for $type {
        fn make(random: &mut Random, _: u64) -> Self {
            let mut values: Vec<Self> = vec![$($value),+];
            let place = random.below(values.len() as u64);
            values.swap_remove(usize::try_from(place).unwrap())
        }
    })* };
}

chosen! {
    bool: true, false;
    char: 'a', '\u{1F600}', '\0';
    f64: 0.0, -0.0, 0.1, 1e300, -5.0, f64::MIN_POSITIVE;
    f32: 0.0, 0.1, -1.5, f32::MAX;
    String: String::new(), "a".into(), "null".into(), "30s".into(), "é\u{0}\n".into();
    PathBuf: PathBuf::new(), "/tmp/a b".into();
    Duration: Duration::ZERO, Duration::MAX, Duration::from_millis(1500), Duration::new(1, 1);
    std::net::IpAddr: [127, 0, 0, 1].into(), std::net::Ipv6Addr::LOCALHOST.into();
    std::num::NonZeroU8: std::num::NonZeroU8::MIN, std::num::NonZeroU8::MAX;
    serde_json::Value: serde_json::Value::Null, 5.into(), "a".into(), serde_json::json!({"a": null});
}

impl Make for () {
    fn make(_: &mut Random, _: u64) -> Self {}
}

impl<T: Make> Make for Option<T> {
    fn make(random: &mut Random, depth: u64) -> Self {
        (depth > 0 && random.below(2) == 0).then(|| T::make(random, depth - 1))
    }
}

impl<T: Make> Make for Box<T> {
    fn make(random: &mut Random, depth: u64) -> Self {
        Self::new(T::make(random, depth.saturating_sub(1)))
    }
}

fn several<T: Make, C: FromIterator<T>>(random: &mut Random, depth: u64) -> C {
    let count = if depth == 0 { 0 } else { random.below(3) };
    (0..count).map(|_| T::make(random, depth - 1)).collect()
}

impl<T: Make> Make for Vec<T> {
    fn make(random: &mut Random, depth: u64) -> Self {
        several(random, depth)
    }
}

impl<T: Make + Ord> Make for BTreeSet<T> {
    fn make(random: &mut Random, depth: u64) -> Self {
        several(random, depth)
    }
}

impl<T: Make> Make for BTreeMap<String, T> {
    fn make(random: &mut Random, depth: u64) -> Self {
        several(random, depth)
    }
}

impl<T: Make> Make for BTreeMap<u8, T> {
    fn make(random: &mut Random, depth: u64) -> Self {
        several(random, depth)
    }
}

impl<T: Make> Make for HashMap<String, T> {
    fn make(random: &mut Random, depth: u64) -> Self {
        several(random, depth)
    }
}

impl<T: Make, const N: usize> Make for [T; N] {
    fn make(random: &mut Random, depth: u64) -> Self {
        std::array::from_fn(|_| T::make(random, depth.saturating_sub(1)))
    }
}

impl<A: Make, B: Make> Make for (A, B) {
    fn make(random: &mut Random, depth: u64) -> Self {
        let depth = depth.saturating_sub(1);
        (A::make(random, depth), B::make(random, depth))
    }
}

/// Structs and enums with random values.
macro_rules! made {
    ($(#[$attribute:meta])* struct $name:ident { $($(#[$field_attribute:meta])* $field:ident: $type:ty,)* } $($more:tt)*) => {
        #[toolkit::args]
        #[derive(Debug, Clone, PartialEq)]
        $(#[$attribute])*
        pub(super) struct $name { $($(#[$field_attribute])* $field: $type,)* }

        impl Make for $name {
            fn make(random: &mut Random, depth: u64) -> Self {
                let depth = depth.saturating_sub(1);
                Self { $($field: Make::make(random, depth)),* }
            }
        }

        made! { $($more)* }
    };
    ($(#[$attribute:meta])* enum $name:ident {
        $($(#[$variant_attribute:meta])* $variant:ident $({ $($(#[$field_attribute:meta])* $field:ident: $type:ty,)* })? $(($held:ty))?,)*
    } $($more:tt)*) => {
        #[toolkit::args]
        #[derive(Debug, Clone, PartialEq)]
        $(#[$attribute])*
        pub(super) enum $name {
            $($(#[$variant_attribute])* $variant $({ $($(#[$field_attribute])* $field: $type,)* })? $(($held))?,)*
        }

        impl Make for $name {
            fn make(random: &mut Random, depth: u64) -> Self {
                let depth = depth.saturating_sub(1);
                let variants: &[fn(&mut Random, u64) -> Self] = &[
                    $(|_random, _depth| Self::$variant $({ $($field: Make::make(_random, _depth)),* })? $((<$held>::make(_random, _depth)))?,)*
                ];
                // At the end, the first variant, which holds nothing.
                let place = if depth == 0 { 0 } else { random.below(variants.len() as u64) };
                variants[usize::try_from(place).unwrap()](random, depth)
            }
        }

        made! { $($more)* }
    };
    () => {};
}

made! {
    struct Plain {
        text: String,
        count: Option<u8>,
        flags: Vec<bool>,
    }

    #[serde(rename_all = "camelCase")]
    struct Renamed {
        first_one: Option<String>,
        #[serde(rename = "2nd")]
        second_one: Option<Plain>,
    }

    enum Units {
        One,
        TwoThree,
    }

    enum External {
        Nothing,
        Text(String),
        Fields { at: Option<Duration>, more: Option<Plain>, },
        Held(Plain),
    }

    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Internal {
        Nothing,
        Fields { at: Option<Duration>, },
        HeldOne(Plain),
    }

    #[serde(tag = "kind", content = "value")]
    enum Adjacent {
        Nothing,
        Text(Option<String>),
        Fields { at: Option<u16>, more: Option<Plain>, },
    }

    #[serde(untagged)]
    enum Untagged {
        Nothing,
        Text(String),
        Fields { here: bool, more: Option<String>, },
    }

    struct Flat {
        #[serde(flatten)]
        plain: Plain,
        at: Option<Duration>,
    }

    struct FlatEnum {
        #[serde(flatten)]
        internal: Internal,
        note: Option<String>,
    }

    struct Tree {
        name: Option<String>,
        left: Option<Box<Tree>>,
        others: Vec<Tree>,
    }

    struct Deep {
        units: Units,
        list: Vec<External>,
        map: BTreeMap<String, Internal>,
        adjacent: Option<Adjacent>,
        pair: (Option<Plain>, Duration),
        renamed: Renamed,
    }

    #[serde(default)]
    struct Container {
        plain: Plain,
        wait: Duration,
        name: Option<String>,
        internal: Internal,
    }

    struct Skipping {
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        list: Vec<Plain>,
    }

    struct WithSecret {
        #[arg(secret)]
        token: Option<String>,
        inner: Option<Plain>,
    }
}

impl Default for Container {
    fn default() -> Self {
        super::random::current()
    }
}
