//! Two round brackets: arithmetic, or subshells in each other. The parser takes more of them for arithmetic than bash does.

/// The meaning in bash of a text that the parser reads as arithmetic.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Brackets<'t> {
    /// `((`, with nothing between, and `))` where the second is closed.
    Arithmetic,
    /// Certainly something else: the text between the outer two brackets runs as commands.
    Subshells(&'t str),
    /// The meaning is not certain.
    Unclear,
}

/// Returns true if the text begins with two brackets, possibly with only a line continuation between them.
pub(super) fn begins_as_arithmetic(text: &str) -> bool {
    let second = text.strip_prefix('(').map(|rest| rest.trim_start_matches("\\\n"));
    second.is_some_and(|rest| rest.starts_with('('))
}

/// Returns the meaning to bash of a text from its first bracket to its last.
pub(super) fn brackets(text: &str) -> Brackets<'_> {
    // bash joins continued lines before it looks at brackets.
    if text.contains("\\\n") {
        return Brackets::Unclear;
    }
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return Brackets::Unclear;
    };
    let Some(expression) = inner.strip_prefix('(') else {
        // Removing a backslash may make the brackets adjacent.
        return if inner.starts_with([' ', '\t', '\n']) { subshells(inner) } else { Brackets::Unclear };
    };
    match closing(expression) {
        Some(at) if at + 1 == expression.len() => Brackets::Arithmetic,
        Some(at) if !expression[at + 1..].starts_with([')', '\\', '\n']) => subshells(inner),
        _ => Brackets::Unclear,
    }
}

/// Returns the commands in the brackets, which bash requires not to be empty.
fn subshells(text: &str) -> Brackets<'_> {
    let inner = innermost(text);
    if inner.trim().is_empty() { Brackets::Unclear } else { Brackets::Subshells(inner) }
}

/// Returns the text that runs in the last of subshells of which each has nothing but the next.
fn innermost(text: &str) -> &str {
    let mut inner = text;
    loop {
        let trimmed = inner.trim_matches([' ', '\t']);
        let Some(rest) = trimmed.strip_prefix('(').filter(|rest| !rest.starts_with(['(', '\\'])) else {
            return inner;
        };
        match closing(rest) {
            Some(at) if at + 1 == rest.len() => inner = &rest[..at],
            _ => return inner,
        }
    }
}

/// Returns true if the text after `for` begins and ends as bash requires.
pub(super) fn is_arithmetic_for(text: &str) -> bool {
    let head = text.strip_prefix("for").map(|rest| rest.trim_start_matches([' ', '\t']));
    let expressions = head.and_then(|head| head.strip_prefix("(("));
    expressions.is_some_and(|text| closing(text).is_some_and(|at| text[at + 1..].starts_with(')')))
}

/// Returns the position of the bracket that closes one opened before the text. `None` if quotes make it uncertain.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            b'\'' => at += 1 + text[at + 1..].find('\'')?,
            b'"' => {
                let quoted = &text[at + 1..];
                let end = quoted.find('"')?;
                if quoted[..end].contains(['\\', '`', '(', ')']) {
                    return None;
                }
                at += 1 + end;
            }
            b'\\' | b'`' | b'#' => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_bash_takes_for_arithmetic_is() {
        for (text, expected) in [
            ("((1))", Brackets::Arithmetic),
            ("(( (1) + (2) ))", Brackets::Arithmetic),
            ("((a[1] > \"$b\"))", Brackets::Arithmetic),
            ("((')' ))", Brackets::Arithmetic),
            ("((x) )", Brackets::Subshells("x")),
            ("(( x ) )", Brackets::Subshells(" x ")),
            ("( (x))", Brackets::Subshells("x")),
            ("(\t( x ) )", Brackets::Subshells(" x ")),
            ("( ( ( ( x; y ) ) ) )", Brackets::Subshells(" x; y ")),
            ("( (x); (y))", Brackets::Subshells(" (x); (y)")),
            ("( ((x)))", Brackets::Subshells(" ((x))")),
            ("( (\\\n(x)))", Brackets::Unclear),
            ("( ( ))", Brackets::Unclear),
            ("( (\n))", Brackets::Unclear),
            ("(( ) )", Brackets::Unclear),
            ("( ( ( )))", Brackets::Unclear),
            ("( ( <\\\\\nx ))", Brackets::Unclear),
            ("((1)+(2))", Brackets::Subshells("(1)+(2)")),
            ("((x)\\\n)", Brackets::Unclear),
            ("((x)\n )", Brackets::Unclear),
            ("((x) ; y\n)", Brackets::Subshells("(x) ; y\n")),
            ("(\\\n(x))", Brackets::Unclear),
            ("((x)) )", Brackets::Unclear),
            ("((x)", Brackets::Unclear),
            ("((\\)))", Brackets::Unclear),
            ("((`x`))", Brackets::Unclear),
            ("((\"$(x)\"))", Brackets::Unclear),
            ("(('x))", Brackets::Unclear),
            ("((1 # )) \n))", Brackets::Unclear),
            ("x((1))", Brackets::Unclear),
        ] {
            assert_eq!(brackets(text), expected, "{text}");
        }
    }

    #[test]
    fn the_head_of_a_loop_is_arithmetic_only_so() {
        for (text, expected) in [
            ("for ((i = 0; i < 3; i++)); do ls; done", true),
            ("for((i = (0); i < 3; i++)) do ls; done", true),
            ("for ( (i = 0; i < 3; i++)); do ls; done", false),
            ("for ((i = 0; i < 3; i++) ); do ls; done", false),
            ("for ((i = 0; i < 3; i++\\)); do ls; done", false),
            ("for i in 1; do ls; done", false),
        ] {
            assert_eq!(is_arithmetic_for(text), expected, "{text}");
        }
    }
}
