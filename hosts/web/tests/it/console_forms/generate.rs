//! Random schemas of tools, each with values that it allows.

use super::leaves::{Dice, leaf};
use serde_json::{Map, Value, json};

/// Levels of schemas.
const DEEPEST_SCHEMA: usize = 3;
/// Levels of values: below, optional members and items are left out.
const DEEPEST_VALUE: usize = 5;
/// Few names, so that the options of a union have members of the same name.
const NAMES: [&str; 8] = ["a", "b", "kind", "value", "file_name", "x-y", "é", "a/b~c"];
/// Names of the members of maps.
const KEYS: [&str; 9] = ["", "k", "a/b", "~", "__proto__", "constructor", "10", "two words", "ü"];

/// A schema, from which values are made too.
#[derive(Clone)]
enum Shape {
    /// A schema with some of the values that it allows.
    Leaf(Value, Vec<Value>),
    Array {
        items: Box<Shape>,
        least: usize,
        most: Option<usize>,
    },
    Tuple {
        places: Vec<Shape>,
        rest: Option<Box<Shape>>,
    },
    Object(Members),
    /// Options under `oneOf` or `anyOf`.
    Union(&'static str, Vec<Shape>),
    /// An object with members beside the options of others.
    Flattened(Members, &'static str, Vec<Members>),
    /// An object in parts under `allOf`.
    Parts(Vec<Members>),
    /// A definition; under `allOf` if so.
    Reference(usize, bool),
    /// Null too: in the list of types if so, otherwise by `anyOf`.
    Nullable(Box<Shape>, bool),
    Default(Box<Shape>, Value),
}

#[derive(Clone)]
struct Members {
    members: Vec<(String, bool, Shape)>,
    rest: Rest,
}

#[derive(Clone)]
enum Rest {
    Unstated,
    Closed,
    Any,
    Each(Box<Shape>),
    /// Members whose names match a pattern.
    Named(Box<Shape>),
}

/// The schema of a tool.
pub(super) struct Generated {
    root: Shape,
    definitions: Vec<Shape>,
}

impl Generated {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let mut definitions = Vec::new();
        for place in 0..dice.below(3) {
            let maker = Maker { definitions: &definitions, all: place + 1 };
            let shape = maker.definition(dice);
            definitions.push(shape);
        }
        let maker = Maker { definitions: &definitions, all: definitions.len() };
        let root = match dice.below(12) {
            0 => maker.tagged(dice, 1),
            1 => maker.flattened(dice, 1),
            2 => maker.parts(dice, 1),
            3 => Shape::Object(Members { members: Vec::new(), rest: Rest::Any }),
            _ => Shape::Object(maker.members(dice, 0, 4)),
        };
        Self { root, definitions }
    }

    pub(super) fn schema(&self) -> Value {
        let mut schema = self.root.schema();
        if !self.definitions.is_empty() {
            let definitions = self.definitions.iter().enumerate();
            let definitions: Map<String, Value> =
                definitions.map(|(place, shape)| (format!("D{place}"), shape.schema())).collect();
            schema["$defs"] = definitions.into();
        }
        schema
    }

    /// Returns a value that is mostly allowed: the options of a union may both allow it.
    pub(super) fn value(&self, dice: &mut Dice) -> Value {
        self.root.value(dice, &self.definitions, 0)
    }
}

/// Makes shapes.
struct Maker<'a> {
    /// The definitions that are complete, which anything may contain.
    definitions: &'a [Shape],
    /// The number of definitions that what may be absent may contain.
    all: usize,
}

impl Maker<'_> {
    fn definition(&self, dice: &mut Dice) -> Shape {
        match dice.below(5) {
            0 => self.tagged(dice, 1),
            1 => leaf(dice).into(),
            2 => self.external(dice, 1),
            _ => Shape::Object(self.members(dice, 1, 3)),
        }
    }

    /// `can_be_absent` if no value needs to contain one of it.
    fn any(&self, dice: &mut Dice, depth: usize, can_be_absent: bool) -> Shape {
        let references = if can_be_absent { self.all } else { self.definitions.len() };
        if references > 0 && dice.chance(15) {
            return Shape::Reference(dice.below(references), dice.chance(30));
        }
        if depth >= DEEPEST_SCHEMA || dice.chance(45) {
            let shape = leaf(dice).into();
            return self.with_default(dice, shape);
        }
        match dice.below(12) {
            0 | 1 => self.array(dice, depth + 1),
            2 => self.tuple(dice, depth + 1),
            3 | 4 => {
                let shape = Shape::Object(self.members(dice, depth + 1, 3));
                self.with_default(dice, shape)
            }
            5 => Shape::Object(Members { members: Vec::new(), rest: self.rest(dice, depth + 1, true) }),
            6 => self.tagged(dice, depth + 1),
            7 => self.external(dice, depth + 1),
            8 => self.untagged(dice, depth + 1),
            9 => self.flattened(dice, depth + 1),
            10 => self.parts(dice, depth + 1),
            _ => self.nullable(dice, depth + 1),
        }
    }

    fn with_default(&self, dice: &mut Dice, shape: Shape) -> Shape {
        if !shape.is_plain() || dice.chance(75) {
            return shape;
        }
        let value = shape.value(dice, self.definitions, 2);
        Shape::Default(Box::new(shape), value)
    }

    fn nullable(&self, dice: &mut Dice, depth: usize) -> Shape {
        let inner = self.any(dice, depth, false);
        let is_typed = match &inner {
            Shape::Leaf(schema, _) => {
                schema["type"].is_string() && schema["type"] != "null" && schema.get("enum").is_none()
            }
            inner => matches!(inner, Shape::Array { .. } | Shape::Object(_)),
        };
        let shape = Shape::Nullable(Box::new(inner), is_typed && dice.chance(60));
        self.with_default(dice, shape)
    }

    fn array(&self, dice: &mut Dice, depth: usize) -> Shape {
        let least = [0, 0, 0, 1, 2][dice.below(5)];
        let most = dice.chance(30).then(|| least + dice.below(3) + 1);
        let items = self.any(dice, depth, least == 0);
        let shape = Shape::Array { items: Box::new(items), least, most };
        self.with_default(dice, shape)
    }

    fn tuple(&self, dice: &mut Dice, depth: usize) -> Shape {
        let places = (0..=dice.below(3)).map(|_| self.any(dice, depth, false)).collect();
        let rest = dice.chance(25).then(|| Box::new(self.any(dice, depth, true)));
        Shape::Tuple { places, rest }
    }

    fn rest(&self, dice: &mut Dice, depth: usize, is_map: bool) -> Rest {
        match dice.below(if is_map { 6 } else { 14 }) {
            0..=2 => Rest::Each(Box::new(self.any(dice, depth, true))),
            3 => Rest::Named(Box::new(self.any(dice, depth, true))),
            4 | 5 => Rest::Any,
            6..=9 => Rest::Closed,
            _ => Rest::Unstated,
        }
    }

    fn members(&self, dice: &mut Dice, depth: usize, most: usize) -> Members {
        let mut names = NAMES.to_vec();
        let count = dice.below(most + 1).max(usize::from(dice.chance(90)));
        let mut members = Vec::new();
        for _ in 0..count {
            let name = names.remove(dice.below(names.len())).to_owned();
            let is_required = dice.chance(50);
            members.push((name, is_required, self.any(dice, depth, !is_required)));
        }
        // Without members, one that says nothing of the rest takes any.
        let rest = self.rest(dice, depth, false);
        Members { members, rest }
    }

    /// Members of a part of an object, to which other parts are added.
    fn open(&self, dice: &mut Dice, depth: usize, without: &[String]) -> Members {
        let mut part = self.members(dice, depth, 2);
        part.members.retain(|(name, ..)| !without.contains(name));
        part.rest = Rest::Unstated;
        if part.members.is_empty() {
            part.members.push((format!("own{}", without.len()), true, leaf(dice).into()));
        }
        part
    }

    fn options(&self, dice: &mut Dice, depth: usize, without: &[String]) -> Vec<Members> {
        let tag = *dice.pick(&["kind", "type", "op"]);
        let by_list = dice.chance(30);
        let is_closed = without.is_empty() && dice.chance(50);
        let names = ["one", "two", "three_words"];
        let options = names[..2 + dice.below(2)].iter().map(|name| {
            let schema = if by_list {
                json!({ "type": "string", "enum": [name] })
            } else if dice.chance(50) {
                json!({ "type": "string", "const": name })
            } else {
                json!({ "const": name })
            };
            let mut option = self.members(dice, depth, 2);
            option.members.retain(|(other, ..)| other != tag && !without.contains(other));
            option.members.insert(0, (tag.to_owned(), true, Shape::Leaf(schema, vec![json!(name)])));
            option.rest = if is_closed { Rest::Closed } else { Rest::Unstated };
            option
        });
        options.collect()
    }

    /// Options that differ by a member.
    fn tagged(&self, dice: &mut Dice, depth: usize) -> Shape {
        let options = self.options(dice, depth, &[]).into_iter().map(Shape::Object).collect();
        Shape::Union(if dice.chance(70) { "oneOf" } else { "anyOf" }, options)
    }

    /// Names of units, and objects with one member, as enums of Rust are.
    fn external(&self, dice: &mut Dice, depth: usize) -> Shape {
        let mut options = Vec::new();
        if dice.chance(60) {
            let units = ["unit", "other_unit"];
            let schema = json!({ "type": "string", "enum": units });
            options.push(Shape::Leaf(schema, units.iter().map(|unit| json!(unit)).collect()));
        }
        for name in &["new_type", "fields", "pair"][..=1 + dice.below(2)] {
            let inner = match *name {
                "new_type" => leaf(dice).into(),
                "fields" => Shape::Object(self.members(dice, depth, 2)),
                _ => self.tuple(dice, depth),
            };
            let member = ((*name).to_owned(), true, inner);
            options.push(Shape::Object(Members { members: vec![member], rest: Rest::Closed }));
        }
        Shape::Union("oneOf", options)
    }

    /// Options that nothing but their type tells apart, and one or two of the same type.
    fn untagged(&self, dice: &mut Dice, depth: usize) -> Shape {
        let mut options = vec![
            Shape::Leaf(json!({ "const": "auto" }), vec![json!("auto")]),
            Shape::Leaf(json!({ "type": "integer" }), vec![json!(0), json!(u64::MAX), json!(-3)]),
            Shape::Leaf(json!({ "type": "string" }), vec![json!(""), json!("text"), json!("5")]),
            Shape::Leaf(json!({ "type": "boolean" }), vec![json!(true), json!(false)]),
            Shape::Leaf(json!({}), vec![json!("free"), json!({ "free": [1, null] })]),
            self.array(dice, depth),
            self.array(dice, depth),
            Shape::Object(self.members(dice, depth, 3)),
            Shape::Object(self.members(dice, depth, 2)),
            self.external(dice, depth),
        ];
        let count = 2 + dice.below(3);
        let options = (0..count).map(|_| options.remove(dice.below(options.len()))).collect();
        Shape::Union("anyOf", options)
    }

    fn flattened(&self, dice: &mut Dice, depth: usize) -> Shape {
        let own = self.open(dice, depth, &["kind".to_owned(), "type".to_owned(), "op".to_owned()]);
        let names: Vec<String> = own.members.iter().map(|(name, ..)| name.clone()).collect();
        let keyword = if dice.chance(50) { "oneOf" } else { "anyOf" };
        Shape::Flattened(own, keyword, self.options(dice, depth, &names))
    }

    fn parts(&self, dice: &mut Dice, depth: usize) -> Shape {
        let mut parts: Vec<Members> = Vec::new();
        for _ in 0..2 {
            let known = parts.iter().flat_map(|part| part.members.iter().map(|(name, ..)| name.clone()));
            let known: Vec<String> = known.collect();
            parts.push(self.open(dice, depth, &known));
        }
        Shape::Parts(parts)
    }
}

impl From<(Value, Vec<Value>)> for Shape {
    fn from((schema, values): (Value, Vec<Value>)) -> Self {
        Self::Leaf(schema, values)
    }
}

impl Shape {
    /// Returns true if its values are allowed for sure, so that one can be a default.
    fn is_plain(&self) -> bool {
        match self {
            Self::Leaf(schema, _) => schema.is_object(),
            Self::Array { items, .. } => items.is_plain(),
            Self::Nullable(inner, _) | Self::Default(inner, _) => inner.is_plain(),
            Self::Object(members) => {
                matches!(members.rest, Rest::Unstated | Rest::Closed | Rest::Any)
                    && members.members.iter().all(|(.., shape)| shape.is_plain())
            }
            _ => false,
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Leaf(schema, _) => schema.clone(),
            Self::Array { items, least, most } => {
                let mut schema = json!({ "type": "array", "items": items.schema() });
                if *least > 0 {
                    schema["minItems"] = json!(least);
                }
                if let Some(most) = most {
                    schema["maxItems"] = json!(most);
                }
                schema
            }
            Self::Tuple { places, rest } => {
                let all: Vec<Value> = places.iter().map(Self::schema).collect();
                let mut schema = json!({ "type": "array", "prefixItems": all, "minItems": all.len() });
                schema["items"] = rest.as_ref().map_or(json!(false), |rest| rest.schema());
                schema
            }
            Self::Object(members) => members.schema(),
            Self::Union(keyword, options) => {
                let options: Vec<Value> = options.iter().map(Self::schema).collect();
                json!({ *keyword: options })
            }
            Self::Flattened(own, keyword, options) => {
                let mut schema = own.schema();
                schema[*keyword] = options.iter().map(Members::schema).collect();
                schema
            }
            Self::Parts(parts) => {
                let parts: Vec<Value> = parts.iter().map(Members::schema).collect();
                json!({ "type": "object", "allOf": parts })
            }
            Self::Reference(place, is_part) => {
                let reference = json!({ "$ref": format!("#/$defs/D{place}") });
                if *is_part { json!({ "description": "A part.", "allOf": [reference] }) } else { reference }
            }
            Self::Nullable(inner, in_type) => {
                let mut schema = inner.schema();
                if *in_type {
                    schema["type"] = json!([schema["type"], "null"]);
                    return schema;
                }
                json!({ "anyOf": [schema, { "type": "null" }] })
            }
            Self::Default(inner, value) => {
                let mut schema = inner.schema();
                schema["default"] = value.clone();
                schema
            }
        }
    }

    fn value(&self, dice: &mut Dice, definitions: &[Self], depth: usize) -> Value {
        let deeper = depth + 1;
        match self {
            Self::Leaf(_, values) => dice.pick(values).clone(),
            Self::Array { items, least, most } => {
                let more = if depth > DEEPEST_VALUE { 0 } else { dice.below(4) };
                let count = most.map_or(least + more, |most| most.min(least + more));
                (0..count).map(|_| items.value(dice, definitions, deeper)).collect()
            }
            Self::Tuple { places, rest } => {
                let mut items: Vec<Value> =
                    places.iter().map(|place| place.value(dice, definitions, deeper)).collect();
                if let Some(rest) = rest.as_ref().filter(|_| depth <= DEEPEST_VALUE) {
                    items.extend((0..dice.below(3)).map(|_| rest.value(dice, definitions, deeper)));
                }
                items.into()
            }
            Self::Object(members) => members.value(dice, definitions, depth).into(),
            Self::Union(_, options) => dice.pick(options).value(dice, definitions, depth),
            Self::Flattened(own, _, options) => {
                let mut value = own.value(dice, definitions, depth);
                value.extend(dice.pick(options).value(dice, definitions, depth));
                value.into()
            }
            Self::Parts(parts) => {
                let parts = parts.iter().flat_map(|part| part.value(dice, definitions, depth));
                parts.collect::<Map<String, Value>>().into()
            }
            Self::Reference(place, _) => definitions[*place].value(dice, definitions, depth),
            Self::Nullable(inner, _) => {
                if dice.chance(40) {
                    Value::Null
                } else {
                    inner.value(dice, definitions, depth)
                }
            }
            Self::Default(inner, value) => {
                if dice.chance(20) {
                    value.clone()
                } else {
                    inner.value(dice, definitions, depth)
                }
            }
        }
    }
}

impl Members {
    fn schema(&self) -> Value {
        let mut schema = json!({ "type": "object" });
        if !self.members.is_empty() {
            let members = self.members.iter();
            schema["properties"] =
                members.map(|(name, _, shape)| (name.clone(), shape.schema())).collect::<Map<_, _>>().into();
        }
        let required = self.members.iter().filter(|(_, is_required, _)| *is_required);
        let required: Vec<&str> = required.map(|(name, ..)| name.as_str()).collect();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        match &self.rest {
            Rest::Unstated => {}
            Rest::Closed => schema["additionalProperties"] = json!(false),
            Rest::Any => schema["additionalProperties"] = json!(true),
            Rest::Each(shape) => schema["additionalProperties"] = shape.schema(),
            Rest::Named(shape) => {
                schema["patternProperties"] = json!({ "^n_": shape.schema() });
                schema["additionalProperties"] = json!(false);
            }
        }
        schema
    }

    fn value(&self, dice: &mut Dice, definitions: &[Shape], depth: usize) -> Map<String, Value> {
        let deeper = depth + 1;
        let mut value = Map::new();
        for (name, is_required, shape) in &self.members {
            if *is_required || (depth <= DEEPEST_VALUE && dice.chance(60)) {
                value.insert(name.clone(), shape.value(dice, definitions, deeper));
            }
        }
        let more = if depth > DEEPEST_VALUE { 0 } else { dice.below(3) };
        for _ in 0..more {
            let key = *dice.pick(&KEYS);
            let (key, member) = match &self.rest {
                Rest::Any => (key.to_owned(), leaf(dice).1.remove(0)),
                Rest::Unstated if self.members.is_empty() => (key.to_owned(), json!([key])),
                Rest::Each(shape) => (key.to_owned(), shape.value(dice, definitions, deeper)),
                Rest::Named(shape) => (format!("n_{key}"), shape.value(dice, definitions, deeper)),
                Rest::Unstated | Rest::Closed => continue,
            };
            value.entry(key).or_insert(member);
        }
        value
    }
}
