//! Repairs lists: their items, and single values where a list is expected.

use super::RepairKind;
use super::convert::Kinds;
use super::mend::{Mender, Wrapping};
use crate::pointer::Pointer;
use serde_json::{Map, Value};

impl<'a> Mender<'a> {
    pub(super) fn mend_items(
        &mut self,
        items: &mut Vec<Value>,
        schema: &'a Value,
        rules: &'a Map<String, Value>,
        at: Pointer<'_>,
    ) {
        let places = rules.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let each = rules.get("items").filter(|each| each.is_object());
        let before = self.repairs.len();
        if let Some(each) = each.filter(|each| places.is_empty() && self.is_list_of_lists(each))
            && items.iter().any(|item| !item.is_array())
        {
            self.mend_list_of_lists(items, schema, each, at);
        } else {
            for (index, item) in items.iter_mut().enumerate() {
                if let Some(place) = places.get(index).or(each) {
                    self.mend(item, place, at.item(index), Wrapping::Allowed);
                }
            }
        }
        self.join_alike(before, at);
    }

    fn is_list_of_lists(&self, each: &Value) -> bool {
        Kinds::of_schema(each, &self.compiled.annotated).has_any_of(Kinds::ARRAY)
    }

    /// Repairs a flat list where a list of lists is expected: either each item or the whole list may have been
    /// meant as an inner list.
    fn mend_list_of_lists(
        &mut self,
        items: &mut Vec<Value>,
        schema: &'a Value,
        each: &'a Value,
        at: Pointer<'_>,
    ) {
        let before = self.repairs.len();
        let mut by_item = items.clone();
        for (index, item) in by_item.iter_mut().enumerate() {
            self.mend(item, each, at.item(index), Wrapping::Allowed);
        }
        let by_item = Value::Array(by_item);
        let fits_by_item = self.fits(&by_item, schema);
        let made = self.repairs.split_off(before);

        let mut whole = Value::Array(items.clone());
        let fits_whole = self.mend(&mut whole, each, at.item(0), Wrapping::Done);
        let whole = Value::Array(vec![whole]);
        let fits_whole = fits_whole && self.fits(&whole, schema);
        let made_whole = self.repairs.split_off(before);
        let is_same = by_item == whole;
        let (Value::Array(by_item), Value::Array(whole)) = (by_item, whole) else { return };
        if fits_by_item && (is_same || !fits_whole) {
            *items = by_item;
            self.repairs.extend(made);
        } else if fits_whole && !fits_by_item {
            let given = Value::Array(std::mem::replace(items, whole));
            self.record(at, RepairKind::ValueToList, &given);
            self.repairs.extend(made_whole);
        }
    }

    /// Wraps a single value where a list of such values is expected.
    pub(super) fn wrap(
        &mut self,
        value: &mut Value,
        schema: &'a Value,
        rules: &'a Map<String, Value>,
        at: Pointer<'_>,
        wrapping: Wrapping,
    ) -> bool {
        let root = &self.compiled.annotated;
        let Some(each) = rules.get("items").filter(|each| each.is_object()) else { return false };
        let can_be_one = match &*value {
            Value::Null | Value::Array(_) => false,
            // If the items are no strings, the text is converted to such an item or not used.
            Value::String(text) => {
                !Kinds::of_schema(each, root).has_any_of(Kinds::STRING) || !may_be_none_or_many(text)
            }
            _ => true,
        };
        let is_wanted = Kinds::of_schema(schema, root).has_any_of(Kinds::of_value(value));
        if wrapping == Wrapping::Done || !can_be_one || is_wanted || rules.contains_key("prefixItems") {
            return false;
        }
        let before = self.repairs.len();
        let mut item = value.clone();
        self.mend(&mut item, each, at.item(0), Wrapping::Done);
        let list = Value::Array(vec![item]);
        let made = self.repairs.split_off(before);
        let fits = self.fits(&list, schema);
        if fits {
            self.record(at, RepairKind::ValueToList, value);
            self.repairs.extend(made);
            *value = list;
        }
        fits
    }
}

/// Returns true if a text may be a list in another notation, or no item at all, so that it is not clearly one
/// item.
fn may_be_none_or_many(text: &str) -> bool {
    text.trim().is_empty() || text.trim_start().starts_with('[') || text.contains([',', ';', '\n'])
}

#[cfg(test)]
mod tests {
    use super::super::tests::mended;
    use serde_json::{Value, json};

    fn list(items: &Value) -> Value {
        json!({"type": "array", "items": items})
    }

    #[test]
    fn one_value_where_a_list_is_wanted() {
        let integer = json!({"type": "integer"});
        let (integers, strings) = (list(&integer), list(&json!({"type": "string"})));
        for (schema, given, expected) in [
            (integers.clone(), json!(5), json!([5])),
            (integers.clone(), json!("5"), json!([5])),
            (integers.clone(), json!("5,6"), json!("5,6")),
            (integers.clone(), json!("five"), json!("five")),
            (integers.clone(), json!(null), json!(null)),
            (list(&json!({"type": ["integer", "null"]})), json!(null), json!(null)),
            (list(&integers), json!(5), json!(5)),
            (strings.clone(), json!("a"), json!(["a"])),
            (strings.clone(), json!(5), json!(5)),
            // The text may be no item, or several.
            (strings.clone(), json!(" "), json!(" ")),
            (strings.clone(), json!(" [a"), json!(" [a")),
            (strings.clone(), json!("a,b"), json!("a,b")),
            (strings.clone(), json!("a;b"), json!("a;b")),
            (strings, json!("a\nb"), json!("a\nb")),
            // Such an item is expected, but this one does not match.
            (json!({"type": ["integer", "array"], "items": integer, "maximum": 3}), json!(5), json!(5)),
            (json!({"type": "array", "prefixItems": [integer], "items": integer}), json!(5), json!(5)),
            (json!({"type": ["integer", "array"], "items": {"type": "number"}}), json!(5.5), json!([5.5])),
            (json!({"type": "array", "items": true}), json!(5), json!(5)),
            (json!({"type": "array"}), json!(5), json!(5)),
        ] {
            assert_eq!(mended(&schema, &given), expected, "{given} {schema}");
        }
    }

    #[test]
    fn one_list_where_a_list_of_lists_is_wanted() {
        let integer = json!({"type": "integer"});
        let lists = |key: &str, inner: usize, outer: usize| json!({"type": "array", key: outer, "items": {"type": "array", "items": integer, key: inner}});
        for (schema, given, expected) in [
            // There are two possible meanings.
            (lists("minItems", 0, 0), json!(["1", 2]), json!(["1", 2])),
            (lists("maxItems", 1, 9), json!(["1", 2]), json!([[1], [2]])),
            (lists("minItems", 0, 2), json!(["1", 2]), json!([[1], [2]])),
            (lists("minItems", 2, 0), json!(["1", 2]), json!([[1, 2]])),
            (lists("maxItems", 9, 1), json!(["1", 2]), json!([[1, 2]])),
            (lists("maxItems", 1, 1), json!(["1", 2]), json!(["1", 2])),
            // Both meanings have the same result.
            (lists("minItems", 0, 0), json!(["1"]), json!([[1]])),
            (lists("minItems", 0, 0), json!([["1"], 2]), json!([[1], [2]])),
            (lists("minItems", 0, 0), json!([["1"], ["2"]]), json!([[1], [2]])),
            (
                json!({"type": "array", "prefixItems": [integer], "items": list(&integer)}),
                json!(["1", ["2"]]),
                json!([1, [2]]),
            ),
            // Items that can be repaired are repaired beside one that cannot.
            (list(&integer), json!(["1", "x"]), json!([1, "x"])),
            (list(&integer), json!(["1", "2"]), json!([1, 2])),
        ] {
            assert_eq!(mended(&schema, &given), expected, "{given} {schema}");
        }
    }
}
