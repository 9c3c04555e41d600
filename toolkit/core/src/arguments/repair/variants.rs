//! Selects the variant that is meant, or the only one to which a value can be repaired.

use super::super::variant::{is_anything, meant_option, shared_tag};
use super::Repair;
use super::mend::{Mender, Wrapping};
use super::spelling::only_match;
use crate::pointer::Pointer;
use serde_json::Value;

impl<'a> Mender<'a> {
    /// Repairs the value for the variant that is meant, or otherwise for the only variant to which
    /// it can be repaired.
    pub(super) fn mend_variant(
        &mut self,
        value: &mut Value,
        options: &'a [Value],
        at: Pointer<'_>,
        wrapping: Wrapping,
    ) {
        let root = &self.compiled.annotated;
        // The empty alternative of an optional flattened type says nothing about the value.
        let telling = || options.iter().filter(|option| !is_anything(option));
        if telling().any(|option| self.fits(value, option)) {
            return;
        }
        self.spell_tag(value, options, at);
        if let Some(option) = meant_option(value, options, root) {
            self.mend(value, option, at.same(), wrapping);
            return;
        }
        let before = self.repairs.len();
        let mut found: Option<(Value, Vec<Repair>)> = None;
        for option in telling() {
            let mut trial = value.clone();
            let fits = self.mend(&mut trial, option, at.same(), wrapping);
            let made = self.repairs.split_off(before);
            match &found {
                _ if !fits => {}
                None => found = Some((trial, made)),
                Some((other, _)) if *other == trial => {}
                Some(_) => return,
            }
        }
        // If the step limit was reached, another variant might have matched too.
        if let Some((mended, made)) = found.filter(|_| self.left > 0) {
            *value = mended;
            self.repairs.extend(made);
        }
    }

    /// Corrects the case style of a variant's tag.
    fn spell_tag(&mut self, value: &mut Value, options: &'a [Value], at: Pointer<'_>) {
        let Value::Object(members) = value else { return };
        let Some((tag, values)) = shared_tag(options, &self.compiled.annotated) else { return };
        let Some(given) = members.get_mut(tag) else { return };
        let Some(text) = given.as_str() else { return };
        let spelled = only_match(text, values.iter().filter_map(|value| value.as_str()));
        if let Some(spelled) = spelled.filter(|spelled| *spelled != text).map(str::to_owned) {
            self.spell(given, spelled, at.member(tag));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::mended;
    use serde_json::json;

    #[test]
    fn a_variant_is_taken_where_no_other_comes_to_something_else() {
        let list = |kind: &str| json!({"type": "array", "items": {"type": kind}});
        let short = json!({"type": "array", "items": {"type": "integer"}, "maxItems": 3});
        let lists = json!({"type": "array", "items": list("integer")});
        let text = json!({"type": "string"});
        let object = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let optional = json!({"type": "object", "anyOf": [object, {}], "unevaluatedProperties": false});
        let tagged = |tag: &str| {
            json!({"type": "object", "properties": {"kind": {"const": tag}, "n": {"type": "integer"}},
                "required": ["kind"]})
        };
        let shapes = json!({"oneOf": [tagged("round"), tagged("square")]});
        for (schema, given, expected) in [
            (json!({"anyOf": [list("integer"), list("boolean"), text]}), json!(["5"]), json!([5])),
            (json!({"anyOf": [list("boolean"), list("integer"), text]}), json!(["5"]), json!([5])),
            (json!({"anyOf": [list("integer"), short]}), json!(["5"]), json!([5])),
            (json!({"anyOf": [list("integer"), lists]}), json!(["5"]), json!(["5"])),
            (json!({"anyOf": [list("integer"), list("boolean")]}), json!(["5", "x"]), json!(["5", "x"])),
            (optional, json!({"n": "5"}), json!({"n": 5})),
            (shapes.clone(), json!({"kind": "Round", "n": "5"}), json!({"kind": "round", "n": 5})),
            (shapes.clone(), json!({"kind": "square", "n": "5"}), json!({"kind": "square", "n": 5})),
            (shapes.clone(), json!({"kind": "flat", "n": "5"}), json!({"kind": "flat", "n": "5"})),
            (shapes, json!({"n": "5"}), json!({"n": "5"})),
        ] {
            assert_eq!(mended(&schema, &given), expected, "{given} {schema}");
        }
    }
}
