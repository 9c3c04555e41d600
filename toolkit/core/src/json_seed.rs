//! Builds JSON values from any serde format, under rules that can refuse a part of them.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use std::fmt;

/// The rules that a value must follow. They also are the state of the parser: a copy goes to each nested value.
pub trait JsonRules: Copy {
    /// Is called before each value.
    fn begin<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    /// Returns the rules for the values in a list or an object.
    fn nested<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    /// Is called for each key of an object, before its value.
    fn key<E: Error>(self, _key: &str) -> Result<(), E> {
        Ok(())
    }

    /// Returns a float as a number of JSON.
    fn float<E: Error>(self, value: f64) -> Result<Number, E>;

    /// Returns the error for a key that its object already has.
    fn repeated<E: Error>(self, key: &str) -> E;
}

/// Deserializes a JSON value under rules.
#[derive(Clone, Copy)]
pub struct JsonSeed<R>(pub R);

impl<'de, R: JsonRules> DeserializeSeed<'de> for JsonSeed<R> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.0.begin()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: JsonRules> Visitor<'de> for JsonSeed<R> {
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
        self.0.float(value).map(Value::Number)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let nested = Self(self.0.nested()?);
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(nested)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let nested = Self(self.0.nested()?);
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            self.0.key(&key)?;
            match map.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(members.next_value_seed(nested)?);
                }
                Entry::Occupied(place) => return Err(self.0.repeated(place.key())),
            }
        }
        Ok(map.into())
    }
}
