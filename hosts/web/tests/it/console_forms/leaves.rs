//! Schemas of values without parts, and random numbers.

use serde_json::{Value, json};

/// Pseudorandom numbers (`SplitMix64`), the same for each seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap();
        usize::try_from(self.next() % limit).unwrap()
    }

    /// Returns true in so many of a hundred cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Returns a schema of values without parts, and some of its values in random order.
pub(super) fn leaf(dice: &mut Dice) -> (Value, Vec<Value>) {
    let (schema, values) = match dice.below(5) {
        0 => texts(dice),
        1 => numbers(dice),
        _ => others(dice),
    };
    let mut values = values.as_array().unwrap().clone();
    let turn = dice.below(values.len());
    values.rotate_left(turn);
    (schema, values)
}

fn texts(dice: &mut Dice) -> (Value, Value) {
    let all = [
        (
            json!({ "type": "string" }),
            json!(["", " ", "a\nb", "\"\\", "null", "5", "\u{1F469}\u{200D}\u{1F467}", "\u{202E}x"]),
        ),
        (
            json!({ "type": "string", "minLength": 2, "maxLength": 5 }),
            json!(["ab", "\u{1F469}\u{1F469}", "abcde"]),
        ),
        (json!({ "type": "string", "maxLength": 500 }), json!(["", "one\ntwo"])),
        (json!({ "type": "string", "pattern": "^[a-z]+$" }), json!(["a", "xyz"])),
        (json!({ "type": "string", "format": "date-time" }), json!(["2026-11-30T18:30:00Z"])),
        (json!({ "type": "string", "format": "date" }), json!(["2026-11-30"])),
        (json!({ "type": "string", "format": "uri" }), json!(["https://example.org/?a=b"])),
        (json!({ "type": "string", "format": "email" }), json!(["name@example.org"])),
        (json!({ "type": "string", "format": "uuid" }), json!(["00000000-0000-0000-0000-000000000000"])),
        (json!({ "type": "string", "format": "password" }), json!(["hidden words", "p@ss"])),
        (json!({ "type": "string", "writeOnly": true }), json!(["hidden", "s3cret"])),
        (
            json!({ "type": "string", "contentEncoding": "base64", "contentMediaType": "image/png" }),
            json!(["aGFsbG8=", ""]),
        ),
    ];
    dice.pick(&all).clone()
}

fn numbers(dice: &mut Dice) -> (Value, Value) {
    let all = [
        (json!({ "type": "integer" }), json!([0, -1, 9_007_199_254_740_993_u64, u64::MAX, i64::MIN])),
        (json!({ "type": "integer", "minimum": 0, "maximum": 255 }), json!([0, 255, 7])),
        (json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX }), json!([u64::MAX, u64::MAX - 1, 0])),
        (
            json!({ "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX }),
            json!([i64::MIN, i64::MAX, i64::MIN + 1, 1]),
        ),
        (
            json!({ "type": "integer", "minimum": 9_007_199_254_740_993_u64, "maximum": 9_007_199_254_740_995_u64 }),
            json!([9_007_199_254_740_993_u64, 9_007_199_254_740_994_u64, 9_007_199_254_740_995_u64]),
        ),
        (json!({ "type": "integer", "multipleOf": 5 }), json!([5, -10, 0])),
        (json!({ "type": "number" }), json!([0.5, -0.25, 1e20, 1e-7, 12, u64::MAX, 1e300])),
        (json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }), json!([0.5, 1, 0.001])),
    ];
    dice.pick(&all).clone()
}

fn others(dice: &mut Dice) -> (Value, Value) {
    let described = json!({ "oneOf": [
        { "const": "red", "description": "Red." },
        { "const": "green", "description": "Green." },
        { "enum": ["blue", "black"] },
    ] });
    let all = [
        (json!({ "type": "boolean" }), json!([true, false])),
        (json!({ "type": "boolean" }), json!([true, false])),
        (json!({ "type": "null" }), json!([null])),
        (json!({ "type": "string", "enum": ["a", "b", ""] }), json!(["a", "b", ""])),
        (json!({ "type": "string", "enum": ["b", "c"] }), json!(["b", "c"])),
        (
            json!({ "enum": ["x", 1, u64::MAX, null, true, [1], { "k": 2 }] }),
            json!(["x", 1, u64::MAX, null, true, [1], { "k": 2 }]),
        ),
        (json!({ "type": ["string", "null"], "enum": ["a", null] }), json!(["a", null])),
        (json!({ "const": "fixed" }), json!(["fixed"])),
        (json!({ "const": { "deep": [1, 2.5] } }), json!([{ "deep": [1, 2.5] }])),
        (json!({ "const": null }), json!([null])),
        (described, json!(["red", "green", "blue", "black"])),
        (json!({}), json!([null, "free", [1, { "a": u64::MAX }], {}, false, 1.5])),
        (json!(true), json!(["anything", 0, { "": [] }])),
        (json!({ "type": ["string", "integer"] }), json!(["5", 5, ""])),
        (json!({ "type": ["boolean", "number", "null"] }), json!([true, 0.5, null])),
        (json!({ "type": "object" }), json!([{}, { "any": { "thing": 1 } }])),
        (json!({ "type": "array" }), json!([[], [1, "two", [3]]])),
    ];
    dice.pick(&all).clone()
}
