//! Checks at compile time that know the shape of a type with `#[toolkit::args]`.

use super::Text;
use std::marker::PhantomData;
use toolkit_core::arg::{ArgsShape, ArgsType};
use toolkit_core::parameter::Literal;

/// Tells the shape of a type, if it has `#[toolkit::args]`.
pub struct ShapeOf<T: ?Sized>(PhantomData<T>);

impl<T: ArgsType> ShapeOf<T> {
    /// Preferred where it applies, since it is an inherent item.
    pub const SHAPE: ArgsShape = T::SHAPE;
}

/// Used for all other types.
pub trait OtherShape {
    /// Returns that nothing is known.
    const SHAPE: ArgsShape = ArgsShape::Other;
}

impl<T: ?Sized> OtherShape for ShapeOf<T> {}

/// Checks the type of all arguments; the error is reported at the type.
#[track_caller]
pub const fn check_whole(shape: ArgsShape) {
    match shape {
        ArgsShape::Fields | ArgsShape::Other => {}
        ArgsShape::Names(_) => panic!(
            "an enum without fields cannot be all arguments\ntake it as one argument, without `#[args]`: all arguments are one JSON object"
        ),
        ArgsShape::Tuple | ArgsShape::Unit => panic!(
            "a struct without named fields cannot be all arguments\nname its fields, or take it as one argument, without `#[args]`: all arguments are one JSON object"
        ),
    }
}

/// Checks the type of a map's keys; the error is reported at the type.
#[track_caller]
pub const fn check_key(shape: ArgsShape) {
    match shape {
        ArgsShape::Names(_) | ArgsShape::Other => {}
        ArgsShape::Fields | ArgsShape::Tuple | ArgsShape::Unit => panic!(
            "the keys of a map are strings in JSON, and a struct cannot be one\nuse `String` as the key, or take a `Vec` of pairs"
        ),
    }
}

/// Checks a literal default or example; the error is reported at the literal.
#[track_caller]
pub const fn check_literal(shape: ArgsShape, key: &str, literal: Literal) {
    let mut text = Text::EMPTY;
    match (shape, literal) {
        (ArgsShape::Names(names), Literal::Str(given)) => {
            if holds(names, given) {
                return;
            }
            text.push(b"no variant is called `");
            text.push(given.as_bytes());
            text.push(b"`");
            if !names.is_empty() {
                text.push(b"\nthe variants are ");
                text.push_list(names);
            }
        }
        (ArgsShape::Names(names), _) => {
            text.push(b"a variant is given by its name, as a string");
            if !names.is_empty() {
                text.push(b"\nwrite `");
                text.push(key.as_bytes());
                text.push(b" = \"");
                text.push(names[0].as_bytes());
                text.push(b"\"`, or an expression");
            }
        }
        (ArgsShape::Fields | ArgsShape::Tuple | ArgsShape::Unit, _) => {
            text.push(b"a struct has no literal; write an expression that makes it");
        }
        (ArgsShape::Other, _) => return,
    }
    match core::str::from_utf8(text.bytes.split_at(text.length).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!("no variant has this name"),
    }
}

const fn holds(names: &[&str], name: &str) -> bool {
    let mut place = 0;
    while place < names.len() {
        if is_same(names[place].as_bytes(), name.as_bytes()) {
            return true;
        }
        place += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}
