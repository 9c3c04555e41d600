//! Exact comparison of numbers in schemas.

use serde_json::{Map, Number, Value};
use std::cmp::Ordering;

/// A number in a schema.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exact {
    Integer(i128),
    Float(f64),
}

impl Exact {
    pub(super) fn of(value: &Value) -> Option<Self> {
        let number: &Number = value.as_number()?;
        let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        integer.map(Self::Integer).or_else(|| number.as_f64().map(Self::from))
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one.cmp(&other),
            (Self::Float(one), Self::Float(other)) => one.total_cmp(&other),
            (Self::Integer(one), Self::Float(other)) => integer_to_float(one, other),
            (Self::Float(one), Self::Integer(other)) => integer_to_float(other, one).reverse(),
        }
    }
}

impl From<f64> for Exact {
    fn from(float: f64) -> Self {
        // Floats from 2^127 on have no fraction, but do not fit into an `i128` either.
        #[expect(clippy::cast_possible_truncation, reason = "it is within the range")]
        if float.fract() == 0.0 && float.abs() < 1.7e38 {
            Self::Integer(float as i128)
        } else {
            Self::Float(float)
        }
    }
}

/// Compares an integer with a float that has a fraction, or is outside the range of `i128`.
fn integer_to_float(integer: i128, float: f64) -> Ordering {
    match Exact::from(float.floor()) {
        Exact::Integer(floor) if integer <= floor => Ordering::Less,
        Exact::Float(floor) if floor > 0.0 => Ordering::Less,
        Exact::Integer(_) | Exact::Float(_) => Ordering::Greater,
    }
}

/// The end of a range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub(super) keyword: &'static str,
    at: Exact,
    is_excluded: bool,
}

/// The end of a range: lower or upper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Low,
    High,
}

impl End {
    fn keywords(self) -> [&'static str; 2] {
        match self {
            Self::Low => ["minimum", "exclusiveMinimum"],
            Self::High => ["maximum", "exclusiveMaximum"],
        }
    }

    /// Orders bounds so that the stricter one is greater.
    fn strictness(self, ordering: Ordering) -> Ordering {
        if self == Self::Low { ordering } else { ordering.reverse() }
    }
}

/// Returns the strictest bound on the numbers of `schema`; `whole` if only integers count.
pub(super) fn bound(schema: &Map<String, Value>, end: End, whole: bool) -> Option<Bound> {
    let [included, excluded] = end.keywords();
    let one = schema.get(included).and_then(Exact::of);
    let other = schema.get(excluded).and_then(Exact::of);
    let one = one.map(|at| Bound { keyword: included, at, is_excluded: false }.among_integers(end, whole));
    let other = other.map(|at| Bound { keyword: excluded, at, is_excluded: true }.among_integers(end, whole));
    match (one, other) {
        (Some(one), Some(other)) => Some(if one.is_at_least_as_strict(other, end) { one } else { other }),
        (one, other) => one.or(other),
    }
}

impl Bound {
    fn among_integers(self, end: End, whole: bool) -> Self {
        if !whole {
            return self;
        }
        let step = if end == End::Low { 1 } else { -1 };
        let at = match self.at {
            Exact::Integer(at) if self.is_excluded => Exact::Integer(at + step),
            Exact::Integer(_) => return self,
            Exact::Float(at) => Exact::from(if end == End::Low { at.ceil() } else { at.floor() }),
        };
        Self { at, is_excluded: false, ..self }
    }

    /// Returns true if every number within this bound is within the other.
    pub(super) fn is_at_least_as_strict(self, other: Self, end: End) -> bool {
        match end.strictness(self.at.compare(other.at)) {
            Ordering::Greater => true,
            Ordering::Equal => self.is_excluded || !other.is_excluded,
            Ordering::Less => false,
        }
    }

    /// Describes the numbers beyond it: `below 5`.
    pub(super) fn beyond(self, end: End) -> String {
        let at = match self.at {
            Exact::Integer(at) => at.to_string(),
            Exact::Float(at) => at.to_string(),
        };
        match (end, self.is_excluded) {
            (End::Low, false) => format!("below {at}"),
            (End::Low, true) => format!("of {at} or less"),
            (End::High, false) => format!("above {at}"),
            (End::High, true) => format!("of {at} or more"),
        }
    }
}

/// Returns true if every multiple of `one` is one of `other`; `None` if this is unknown.
pub(super) fn is_multiple(one: &Value, other: &Value) -> Option<bool> {
    match (Exact::of(one)?, Exact::of(other)?) {
        (Exact::Integer(one), Exact::Integer(other)) if other != 0 => Some(one % other == 0),
        (one, other) if one.compare(other).is_eq() => Some(true),
        _ => None,
    }
}

/// Returns a count, such as `minLength`.
pub(super) fn count(schema: &Map<String, Value>, keyword: &str) -> Option<u64> {
    match Exact::of(schema.get(keyword)?)? {
        Exact::Integer(count) => u64::try_from(count).ok(),
        Exact::Float(_) => None,
    }
}
