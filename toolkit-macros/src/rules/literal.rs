//! Literals that are JSON, and the types with known literals.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};

/// A JSON value as a literal of Rust.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(String),
    List(Vec<Literal>),
}

impl Literal {
    /// The value, if the expression is a literal, a negated one, or a list of such.
    pub(crate) fn of(value: &Expr) -> Option<Self> {
        match value {
            Expr::Lit(ExprLit { lit, .. }) => match lit {
                Lit::Bool(value) => Some(Self::Bool(value.value)),
                Lit::Int(value) => value.base10_parse().ok().map(Self::Int),
                Lit::Float(value) => {
                    value.base10_parse().ok().filter(|value: &f64| value.is_finite()).map(Self::Float)
                }
                Lit::Str(value) => Some(Self::Str(value.value())),
                Lit::Char(value) => Some(Self::Str(value.value().to_string())),
                _ => None,
            },
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match Self::of(expr)? {
                Self::Int(value) => Some(Self::Int(-value)),
                Self::Float(value) => Some(Self::Float(-value)),
                _ => None,
            },
            Expr::Array(array) => array.elems.iter().map(Self::of).collect::<Option<_>>().map(Self::List),
            Expr::Reference(reference) => match &*reference.expr {
                list @ Expr::Array(_) => Self::of(list),
                _ => None,
            },
            Expr::Group(group) => Self::of(&group.expr),
            Expr::Paren(paren) => Self::of(&paren.expr),
            _ => None,
        }
    }

    /// Returns the kind of the literal in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a boolean",
            Self::Int(value) if *value < 0 => "a negative number",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a decimal number",
            Self::Str(_) => "a string",
            Self::List(_) => "a list",
        }
    }

    /// Returns the number of characters or items.
    pub(crate) fn length(&self) -> Option<i128> {
        let length = match self {
            Self::Str(text) => text.chars().count(),
            Self::List(items) => items.len(),
            _ => return None,
        };
        i128::try_from(length).ok()
    }

    /// Returns the expression for the literal at run time.
    pub(crate) fn to_tokens(&self) -> TokenStream {
        match self {
            Self::Bool(value) => quote!(__toolkit::Literal::Bool(#value)),
            Self::Int(value) => quote!(__toolkit::Literal::Int(#value)),
            Self::Float(value) => quote!(__toolkit::Literal::Float(#value)),
            Self::Str(value) => quote!(__toolkit::Literal::Str(#value)),
            Self::List(items) => {
                let items = items.iter().map(Self::to_tokens);
                quote!(__toolkit::Literal::List(&[#(#items),*]))
            }
        }
    }
}

/// The kind of a type, as far as its name shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Integer {
        least: i128,
        greatest: i128,
    },
    Float,
    Text,
    Char,
    List,
    /// Known only to the compiler.
    Unknown,
}

impl Kind {
    /// The kind of a type by its last name.
    pub(crate) fn of(name: &str) -> Self {
        let integer = |least: i128, greatest: i128| Self::Integer { least, greatest };
        match name {
            "bool" => Self::Bool,
            "i8" => integer(i8::MIN.into(), i8::MAX.into()),
            "i16" => integer(i16::MIN.into(), i16::MAX.into()),
            "i32" => integer(i32::MIN.into(), i32::MAX.into()),
            "i64" | "isize" => integer(i64::MIN.into(), i64::MAX.into()),
            "u8" => integer(0, u8::MAX.into()),
            "u16" => integer(0, u16::MAX.into()),
            "u32" => integer(0, u32::MAX.into()),
            "u64" | "usize" => integer(0, u64::MAX.into()),
            "f32" | "f64" => Self::Float,
            "char" => Self::Char,
            "String" | "str" | "PathBuf" | "Path" => Self::Text,
            "Vec" => Self::List,
            _ => Self::Unknown,
        }
    }

    /// Returns the nearest number that a floating-point type of this name holds, if it is not the whole number that is written.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "the loss is the question"
    )]
    pub(crate) fn nearest(self, literal: &Literal, name: &str) -> Option<i128> {
        let (Self::Float, Literal::Int(value)) = (self, literal) else { return None };
        let held = if name.ends_with("f32") { f64::from(*value as f32) } else { *value as f64 };
        Some(held as i128).filter(|held| held != value)
    }

    /// Returns true if the literal is valid for a type of this kind.
    pub(crate) fn takes(self, literal: &Literal) -> bool {
        match (self, literal) {
            (Self::Unknown, _)
            | (Self::Bool, Literal::Bool(_))
            | (Self::Float, Literal::Int(_) | Literal::Float(_))
            | (Self::Text, Literal::Str(_))
            | (Self::List, Literal::List(_)) => true,
            (Self::Integer { least, greatest }, Literal::Int(value)) => (least..=greatest).contains(value),
            (Self::Char, Literal::Str(text)) => text.chars().count() == 1,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn literals_are_read() {
        let cases: [(Expr, Literal); 6] = [
            (parse_quote!(-5), Literal::Int(-5)),
            (parse_quote!(10u32), Literal::Int(10)),
            (parse_quote!(0.5), Literal::Float(0.5)),
            (parse_quote!('x'), Literal::Str("x".into())),
            (
                parse_quote!(["a", "b"]),
                Literal::List(vec![Literal::Str("a".into()), Literal::Str("b".into())]),
            ),
            (parse_quote!((true)), Literal::Bool(true)),
        ];
        for (expression, expected) in cases {
            assert_eq!(Literal::of(&expression), Some(expected));
        }
        assert_eq!(Literal::of(&parse_quote!(LIMIT)), None);
        assert_eq!(Literal::of(&parse_quote!(!true)), None);
    }

    #[test]
    fn types_take_their_literals() {
        assert!(Kind::of("u8").takes(&Literal::Int(255)));
        assert!(!Kind::of("u8").takes(&Literal::Int(256)));
        assert!(!Kind::of("u64").takes(&Literal::Int(-1)));
        assert!(Kind::of("f64").takes(&Literal::Int(1)));
        assert!(!Kind::of("i32").takes(&Literal::Float(1.0)));
        assert!(!Kind::of("bool").takes(&Literal::Str("true".into())));
        assert!(Kind::of("Mode").takes(&Literal::Str("fast".into())));
    }
}
