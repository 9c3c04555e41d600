//! Compares values as JSON Schema does: numbers by their value, objects without an order.

use serde_json::{Map, Number, Value};
use std::cmp::Ordering;

/// Up to this many items, comparing each pair is faster than sorting.
const FEW: usize = 15;

#[derive(Clone, Copy)]
enum Exact {
    Integer(i128),
    Float(f64),
}

fn exact(number: &Number) -> Exact {
    match number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)) {
        Some(integer) => Exact::Integer(integer),
        None => Exact::Float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

/// Compares two numbers without rounding.
pub(super) fn compare(one: &Number, other: &Number) -> Ordering {
    match (exact(one), exact(other)) {
        (Exact::Integer(one), Exact::Integer(other)) => one.cmp(&other),
        (Exact::Float(one), Exact::Float(other)) => one.partial_cmp(&other).unwrap_or(Ordering::Equal),
        (Exact::Integer(one), Exact::Float(other)) => compare_mixed(one, other),
        (Exact::Float(one), Exact::Integer(other)) => compare_mixed(other, one).reverse(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float beyond 128 bits is beyond every integer here too"
)]
fn compare_mixed(integer: i128, float: f64) -> Ordering {
    let whole = integer.cmp(&(float.trunc() as i128));
    whole.then_with(|| 0.0_f64.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal))
}

/// Returns true if the number is an integer: `5.0` is one too.
pub(super) fn is_integer(number: &Number) -> bool {
    match exact(number) {
        Exact::Integer(_) => true,
        Exact::Float(float) => float.fract() == 0.0,
    }
}

/// Returns true if the number is a multiple of `divisor`, which is at most 2^53.
#[expect(clippy::cast_precision_loss, reason = "the divisor is at most 2^53")]
pub(super) fn is_multiple(number: &Number, divisor: u64) -> bool {
    match exact(number) {
        Exact::Integer(integer) => integer % i128::from(divisor) == 0,
        Exact::Float(float) => float % divisor as f64 == 0.0,
    }
}

/// Returns true if two values are equal: `1` and `1.0` are.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other).is_eq(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| other.get(name).is_some_and(|other| equal(one, other)))
        }
        _ => one == other,
    }
}

/// Returns true if no two items are equal.
pub(super) fn are_unique(items: &[Value]) -> bool {
    if items.len() <= FEW {
        return items
            .iter()
            .enumerate()
            .all(|(at, item)| !items[..at].iter().any(|other| equal(other, item)));
    }
    let mut sorted: Vec<&Value> = items.iter().collect();
    sorted.sort_unstable_by(|one, other| order(one, other));
    sorted.windows(2).all(|pair| order(pair[0], pair[1]).is_ne())
}

/// Orders values, so that equal ones are neighbours.
fn order(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Number(one), Value::Number(other)) => compare(one, other),
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Array(one), Value::Array(other)) => one.len().cmp(&other.len()).then_with(|| {
            let orders = one.iter().zip(other).map(|(one, other)| order(one, other));
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        (Value::Object(one), Value::Object(other)) => one.len().cmp(&other.len()).then_with(|| {
            let (one, other) = (by_name(one), by_name(other));
            let orders = one.iter().zip(&other).map(|((one_name, one), (other_name, other))| {
                one_name.cmp(other_name).then_with(|| order(one, other))
            });
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        _ => rank(one).cmp(&rank(other)),
    }
}

fn by_name(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_compared_without_rounding() {
        let number = |value: Value| value.as_number().cloned().unwrap();
        for (one, other, expected) in [
            (json!(1), json!(1.0), Ordering::Equal),
            (json!(0), json!(-0.0), Ordering::Equal),
            (json!(1), json!(1.5), Ordering::Less),
            (json!(-1), json!(-1.5), Ordering::Greater),
            (json!(0), json!(-0.5), Ordering::Greater),
            (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992.0), Ordering::Greater),
            (json!(u64::MAX), json!(18_446_744_073_709_551_616.0), Ordering::Less),
            (json!(i64::MIN), json!(-1e300), Ordering::Greater),
            (json!(u64::MAX), json!(i64::MIN), Ordering::Greater),
            (json!(1.5), json!(2.5), Ordering::Less),
        ] {
            let (one, other) = (number(one), number(other));
            assert_eq!(compare(&one, &other), expected, "{one} {other}");
            assert_eq!(compare(&other, &one), expected.reverse(), "{other} {one}");
        }
    }

    #[test]
    fn items_are_unique_by_value() {
        for (first, second, unique) in [
            (json!(1), json!(1.0), false),
            (json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": 1}), false),
            (json!({"a": 1}), json!({"b": 1}), true),
            (json!([1, 2]), json!([2, 1]), true),
            (json!("1"), json!(1), true),
            (json!(null), json!(false), true),
        ] {
            for others in [0, FEW, 3 * FEW] {
                let mut items: Vec<Value> = (0..others).map(|n| json!([n, "other"])).collect();
                items.insert(others / 2, first.clone());
                items.push(second.clone());
                assert_eq!(are_unique(&items), unique, "{first} {second} {others}");
            }
        }
    }
}
