//! `range(1..=10)` and `length(1..)`.

use super::{Constraint, Kind, Literal, TypeForm};
use crate::check::{Check, Errors};
use crate::fragments::{flat, of_caller};
use crate::keys::{Entry, Given, as_range};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use std::fmt;
use syn::spanned::Spanned;
use syn::{Expr, RangeLimits};

/// Bounds on a number or a length.
struct Range {
    least: Option<Bound>,
    greatest: Option<Bound>,
    /// True if `greatest` itself is excluded.
    exclusive: bool,
    text: String,
    place: TokenStream,
}

/// A bound of a range.
#[derive(Clone)]
enum Bound {
    Literal(Literal),
    /// A constant, known to the compiler only.
    Expression(Box<Expr>),
}

/// A constraint of a number.
struct OfNumber(Range, Span);

/// A constraint of a length.
struct OfLength(Range, Span);

/// Reads `range(..)`.
pub(super) fn range(entry: &Entry, errors: &mut Errors) -> Option<Box<dyn Constraint>> {
    Some(Box::new(OfNumber(parse(entry, errors)?, entry.span)))
}

/// Reads `length(..)`.
pub(super) fn length(entry: &Entry, errors: &mut Errors) -> Option<Box<dyn Constraint>> {
    Some(Box::new(OfLength(parse_length(entry, errors)?, entry.span)))
}

impl Constraint for OfNumber {
    fn keywords(&self) -> &'static [&'static str] {
        &["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]
    }

    fn type_check(&self) -> (Check, &'static str, Span) {
        (Check::RangeType, "ranged", self.1)
    }

    fn rules(&self, kind: Kind) -> Vec<TokenStream> {
        self.0.number_rules(kind)
    }

    fn attributes(&self, kind: Kind, toolkit: &TokenStream) -> TokenStream {
        let bounds = self.0.number_bounds(kind, &quote!(#toolkit::__private)).into_iter();
        bounds.map(|(key, bound)| quote!(#[schemars(extend(#key = #bound))])).collect()
    }

    fn type_fault(&self, form: TypeForm<'_>) -> Option<(TokenStream, String)> {
        let fault = self.0.end_fault(form)?;
        Some((self.0.place.clone(), fault))
    }

    fn fault(&self, key: &str, value: &Literal) -> Option<String> {
        self.0.excludes(value).then(|| format!("this {key} is outside the range `{}`", self.0))
    }
}

impl Constraint for OfLength {
    fn keywords(&self) -> &'static [&'static str] {
        &["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]
    }

    fn type_check(&self) -> (Check, &'static str, Span) {
        (Check::LengthType, "measured", self.1)
    }

    fn rules(&self, _: Kind) -> Vec<TokenStream> {
        self.0.length_rules()
    }

    fn attributes(&self, _: Kind, toolkit: &TokenStream) -> TokenStream {
        let (least, greatest) = self.0.length_bounds(&quote!(#toolkit::__private));
        let least = least.map(|count| quote!(min = #count));
        let greatest = greatest.map(|count| quote!(max = #count));
        let bounds = least.into_iter().chain(greatest);
        quote!(#[schemars(length(#(#bounds),*))])
    }

    fn type_fault(&self, _: TypeForm<'_>) -> Option<(TokenStream, String)> {
        None
    }

    fn fault(&self, key: &str, value: &Literal) -> Option<String> {
        let is_outside = value.length().is_some_and(|count| self.0.excludes(&Literal::Int(count)));
        is_outside.then(|| format!("the length of this {key} is outside `{}`", self.0))
    }
}

fn parse(entry: &Entry, errors: &mut Errors) -> Option<Range> {
    let Given::List(tokens) = &entry.given else { return None };
    let range = read(entry, tokens, errors)?;
    for bound in [&range.least, &range.greatest].into_iter().flatten() {
        let fault = match bound {
            Bound::Literal(Literal::Int(value))
                if !(i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(value) =>
            {
                "the ends of a range have 64 bits at most".to_owned()
            }
            Bound::Literal(Literal::Int(_) | Literal::Float(_)) | Bound::Expression(_) => continue,
            Bound::Literal(literal) => format!("the ends of a range are numbers, not {}", literal.kind()),
        };
        errors.push(Check::RangeForm, &of_caller(tokens), fault);
        return None;
    }
    Some(range)
}

/// Parses `length(..)`, whose bounds are counts; `length(5)` means exactly 5.
fn parse_length(entry: &Entry, errors: &mut Errors) -> Option<Range> {
    let Given::List(tokens) = &entry.given else { return None };
    let range = match syn::parse2::<Expr>(tokens.clone()) {
        Ok(exact) if matches!(Literal::of(&exact), Some(Literal::Int(_))) => Range {
            text: flat(tokens).to_string(),
            least: Some(Bound::of(&exact)),
            greatest: Some(Bound::of(&exact)),
            exclusive: false,
            place: of_caller(tokens),
        },
        _ => read(entry, tokens, errors)?,
    };
    for bound in [&range.least, &range.greatest].into_iter().flatten() {
        if let Bound::Literal(literal) = bound
            && !matches!(literal, Literal::Int(count) if (0..=i128::from(u32::MAX)).contains(count))
        {
            errors.push(
                Check::RangeForm,
                &of_caller(tokens),
                "the ends of a length are whole numbers from 0 on",
            );
            return None;
        }
    }
    if range.exclusive && matches!(range.greatest, Some(Bound::Literal(Literal::Int(0)))) {
        errors.push(
            Check::EmptyRange,
            &of_caller(tokens),
            format!("the length `{range}` is empty: nothing is shorter than 0"),
        );
        return None;
    }
    Some(range)
}

fn read(entry: &Entry, tokens: &TokenStream, errors: &mut Errors) -> Option<Range> {
    let key = entry.key;
    let Ok(Expr::Range(range)) = syn::parse2::<Expr>(tokens.clone()).map(within_groups) else {
        let message = match as_range(tokens) {
            Some(range) => format!("`{key}` takes a range; write `{key}({range})`"),
            None => format!("`{key}` takes a range; write `{key}(1..=10)`, `{key}(1..)` or `{key}(..10)`"),
        };
        if tokens.is_empty() {
            errors.push_span(Check::RangeForm, entry.span, message);
        } else {
            errors.push(Check::RangeForm, &of_caller(tokens), message);
        }
        return None;
    };
    let (least, greatest) = (range.start.as_deref().map(Bound::of), range.end.as_deref().map(Bound::of));
    let exclusive = matches!(range.limits, RangeLimits::HalfOpen(_));
    if least.is_none() && greatest.is_none() {
        errors.push(
            Check::EmptyRange,
            &of_caller(tokens),
            format!("`{key}(..)` bounds nothing; give it an end"),
        );
        return None;
    }
    let text = flat(tokens).to_string().replace(' ', "");
    let range = Range { least, greatest, exclusive, text, place: of_caller(tokens) };
    if range.is_empty() {
        errors.push(
            Check::EmptyRange,
            &of_caller(tokens),
            format!("the range `{range}` is empty: nothing lies in it"),
        );
        return None;
    }
    Some(range)
}

/// Returns the expression within parentheses, and within the invisible groups of a `macro_rules!`.
fn within_groups(value: Expr) -> Expr {
    match value {
        Expr::Group(group) => within_groups(*group.expr),
        Expr::Paren(paren) => within_groups(*paren.expr),
        other => other,
    }
}

impl Bound {
    fn of(value: &Expr) -> Self {
        Literal::of(value).map_or_else(|| Self::Expression(Box::new(value.clone())), Self::Literal)
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Literal(literal) => number(literal),
            Self::Expression(_) => None,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "only for comparing with bounds that people write")]
fn number(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Int(value) => Some(*value as f64),
        Literal::Float(value) => Some(*value),
        _ => None,
    }
}

impl Range {
    fn is_empty(&self) -> bool {
        match (self.least.as_ref().and_then(Bound::number), self.greatest.as_ref().and_then(Bound::number)) {
            (Some(least), Some(greatest)) if self.exclusive => least >= greatest,
            (Some(least), Some(greatest)) => least > greatest,
            _ => false,
        }
    }

    /// Returns the reason why an end is no number of the type, if it is known to be none.
    fn end_fault(&self, form: TypeForm<'_>) -> Option<String> {
        let name = form.name;
        let ends = [(&self.least, 0), (&self.greatest, i128::from(self.exclusive))];
        ends.into_iter().find_map(|(end, beyond)| {
            let Some(Bound::Literal(end)) = end else { return None };
            if let Some(nearest) = form.kind.nearest(end, name) {
                return Some(format!(
                    "an end of this range has more digits than `{name}` holds\nthe nearest is {nearest}"
                ));
            }
            match (form.kind, end) {
                (Kind::Integer { .. }, Literal::Float(_)) => {
                    Some(format!("an end of this range is a decimal number, which `{name}` does not take"))
                }
                (Kind::Integer { least, greatest }, Literal::Int(end))
                    if !(least..=greatest + beyond).contains(end) =>
                {
                    Some(format!(
                        "the end {end} does not fit into `{name}`, which takes {least} to {greatest}"
                    ))
                }
                _ => None,
            }
        })
    }

    /// Returns true if a literal is known to lie outside.
    fn excludes(&self, literal: &Literal) -> bool {
        let Some(value) = number(literal) else { return false };
        let below = self.least.as_ref().and_then(Bound::number).is_some_and(|least| value < least);
        let above = self
            .greatest
            .as_ref()
            .and_then(Bound::number)
            .is_some_and(|greatest| if self.exclusive { value >= greatest } else { value > greatest });
        below || above
    }

    /// The rules for a number of a type of which `kind` is known.
    fn number_rules(&self, kind: Kind) -> Vec<TokenStream> {
        let is_integer = matches!(kind, Kind::Integer { .. });
        let bounds = self.bounds(kind).into_iter();
        bounds
            .map(|(key, bound)| {
                let rule = Ident::new(
                    match key {
                        "minimum" => "Minimum",
                        "maximum" => "Maximum",
                        _ => "ExclusiveMaximum",
                    },
                    Span::call_site(),
                );
                let literal = match bound {
                    Bound::Literal(literal) => literal.to_tokens(),
                    Bound::Expression(value) if is_integer => {
                        let value = end(&value, check_of(kind), &quote!(__toolkit));
                        quote!(__toolkit::Literal::Int((#value) as i128))
                    }
                    Bound::Expression(value) => {
                        let value = end(&value, check_of(kind), &quote!(__toolkit));
                        quote!(__toolkit::Literal::Float((#value) as f64))
                    }
                };
                quote!(__toolkit::Rule::#rule(#literal))
            })
            .collect()
    }

    /// The bounds of a number as keywords of JSON Schema with expressions.
    fn number_bounds(&self, kind: Kind, private: &TokenStream) -> Vec<(&'static str, TokenStream)> {
        let bounds = self.bounds(kind).into_iter();
        bounds
            .map(|(key, bound)| match bound {
                Bound::Literal(Literal::Int(value)) => {
                    (key, proc_macro2::Literal::i128_unsuffixed(value).to_token_stream())
                }
                Bound::Literal(Literal::Float(value)) => (key, quote!(#value)),
                Bound::Literal(_) => (key, quote!(0)),
                Bound::Expression(value) => {
                    // Within parentheses, since schemars reads a block as an object.
                    let value = end(&value, check_of(kind), private);
                    (key, quote!((#value)))
                }
            })
            .collect()
    }

    fn bounds(&self, kind: Kind) -> Vec<(&'static str, Bound)> {
        let least = self.least.clone().map(|end| ("minimum", end));
        let greatest = self.greatest.clone().map(|end| match end {
            // `..10` on whole numbers reads better as "at most 9".
            Bound::Literal(Literal::Int(value)) if self.exclusive && matches!(kind, Kind::Integer { .. }) => {
                ("maximum", Bound::Literal(Literal::Int(value - 1)))
            }
            end if self.exclusive => ("exclusiveMaximum", end),
            end => ("maximum", end),
        });
        least.into_iter().chain(greatest).collect()
    }

    /// The rules for a length.
    fn length_rules(&self) -> Vec<TokenStream> {
        let (least, greatest) = self.length_bounds(&quote!(__toolkit));
        let least = least.map(|count| quote!(__toolkit::Rule::MinLength(#count)));
        let greatest = greatest.map(|count| quote!(__toolkit::Rule::MaxLength(#count)));
        least.into_iter().chain(greatest).collect()
    }

    /// The bounds of a length, as expressions of type `u64`.
    fn length_bounds(&self, private: &TokenStream) -> (Option<TokenStream>, Option<TokenStream>) {
        let count = |bound: &Bound, less: u64| match bound {
            Bound::Literal(Literal::Int(value)) => {
                let count = u64::try_from(*value).unwrap_or(0).saturating_sub(less);
                quote!(#count)
            }
            Bound::Literal(_) => quote!(0_u64),
            Bound::Expression(value) => {
                let value = end(value, "whole", private);
                quote!(((#value) as u64) - #less)
            }
        };
        let less = u64::from(self.exclusive);
        (self.least.as_ref().map(|end| count(end, 0)), self.greatest.as_ref().map(|end| count(end, less)))
    }
}

/// Returns the end of a range that is a constant, with the check of its type. The type of literals is known.
fn end(value: &Expr, check: &str, private: &TokenStream) -> TokenStream {
    if !names_something(&value.to_token_stream()) {
        return quote!((#value));
    }
    let check = Ident::new(check, value.span());
    let call = quote_spanned!(value.span()=> #private::Constant(#value).#check());
    quote!({ use #private::OtherConstant as _; #call })
}

fn names_something(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Group(group) => names_something(&group.stream()),
        _ => false,
    })
}

fn check_of(kind: Kind) -> &'static str {
    if matches!(kind, Kind::Integer { .. }) { "whole" } else { "number" }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
