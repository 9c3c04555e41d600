//! Services that the file of a tool provides itself. Their types are checked where they are provided, so that one that threads cannot share is one
//! error, not one for each tool as well.

use crate::source;
use crate::type_form::last_segment;
use syn::Type;
use syn::spanned::Spanned;

/// Returns true if the file of a type's place provides a service of the type, as far as its text tells.
pub(super) fn is_beside(ty: &Type) -> bool {
    let Type::Path(_) = ty else { return false };
    let Some(segment) = last_segment(ty).filter(|segment| segment.arguments.is_none()) else { return false };
    source::text_of(ty.span()).is_some_and(|text| is_provided(&text, &segment.ident.to_string()))
}

fn is_provided(text: &str, name: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    let has_name = |text: &str| source::words(text).any(|word| word == name);
    let made = code.split("service").skip(1).any(|after| {
        let before_body = after.split('{').next().unwrap_or_default();
        let signature = after.starts_with([']', '(']).then(|| before_body.split_once("->")).flatten();
        signature.is_some_and(|(_, returned)| has_name(returned))
    });
    made || [".service(", ".shared_service("].iter().flat_map(|call| code.split(call).skip(1)).any(|after| {
        let arguments = after.split(';').next().unwrap_or_default();
        let variable = source::words(arguments).next().unwrap_or_default();
        has_name(arguments) || binds(&code, variable).is_some_and(has_name)
    })
}

/// Returns the statement that gives a variable its value.
fn binds<'a>(code: &'a str, variable: &str) -> Option<&'a str> {
    let statements = code.split("let ").skip(1).filter_map(|after| after.split(';').next());
    let mut binding = statements.filter(|statement| {
        source::words(statement).find(|word| *word != "mut").is_some_and(|word| word == variable)
    });
    binding.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_provides_what_it_gives_a_builder_or_makes() {
        for (text, provides) in [
            ("fn main() { Toolkit::builder().service(Counter::default()).build(); }", true),
            ("fn main() { b.shared_service(Arc::new(Counter { n })); }", true),
            (
                "fn main() { let counter = Counter::new(1); let b = Toolkit::builder().service(counter); }",
                true,
            ),
            ("#[toolkit::service]\nasync fn counter(c: Config<A>) -> Result<Counter, ToolError> { x }", true),
            ("#[service(close = shut)]\nfn counter() -> Arc<Counter> { x }", true),
            ("#[toolkit::service]\nfn other(counter: State<Counter>) -> Other { x }", false),
            ("fn main() { Toolkit::builder().service(Other); } struct Counter;", false),
            ("fn main() { let b = Toolkit::builder().service(other); let c = Counter; }", false),
            ("/// `.service(Counter)`\nstruct Counter;", false),
            ("struct Counter;", false),
        ] {
            assert_eq!(is_provided(text, "Counter"), provides, "{text}");
        }
    }
}
