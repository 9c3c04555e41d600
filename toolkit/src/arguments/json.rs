//! JSON text to a value, with duplicate keys refused.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

pub(super) fn parse(text: &str) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Unique.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Unique)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} stands twice in one object")));
            }
            let value = members.next_value_seed(Unique)?;
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_serde_json_where_no_key_stands_twice() {
        for text in [
            r#"{"a":[1,-2,3.5,1e300,true,null,"x\n\u00e9"],"b":{"c":{}}}"#,
            "18446744073709551615",
            "-9223372036854775808",
            "\"\"",
            "[]",
            " null ",
        ] {
            assert_eq!(parse(text).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
        for text in ["", "{", "[1,]", "nul", "{} {}", "{\"a\":1e999}", "'a'"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn refuses_a_key_that_stands_twice() {
        let error = parse(r#"{"a":1,"b":{"x":1,"x":2}}"#).unwrap_err().to_string();
        assert!(error.starts_with("the key \"x\" stands twice in one object at line 1"), "{error}");
    }

    #[test]
    fn refuses_endless_nesting() {
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
