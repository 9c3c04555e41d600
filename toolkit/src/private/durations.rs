//! Literals for a `std::time::Duration`, which is read from a text, checked at compile time.

use std::marker::PhantomData;
use std::time::Duration;
use toolkit_core::parameter::Literal;

/// Tells whether a type is the `Duration` of the standard library, under whatever name.
pub struct IsDuration<T>(PhantomData<T>);

impl IsDuration<Duration> {
    /// Preferred where it applies, since it is an inherent item.
    pub const IS: bool = true;
}

/// Used for all other types.
pub trait IsOther {
    /// Returns false.
    const IS: bool = false;
}

impl<T> IsOther for IsDuration<T> {}

/// Checks a default or an example; the error is reported at the literal.
#[track_caller]
pub const fn check_duration(is_duration: bool, key: &str, literal: Literal) {
    if !is_duration {
        return;
    }
    let is_default = key.len() == "default".len() && key.as_bytes()[0] == b'd';
    match literal {
        Literal::Str(text) if is_text(text.as_bytes()) => {}
        Literal::Str(_) if is_default => {
            panic!("this default is no duration; write `default = \"30s\"` or `\"1h30m\"`")
        }
        Literal::Str(_) => panic!("this example is no duration; write `example = \"30s\"` or `\"1h30m\"`"),
        _ if is_default => panic!("a `Duration` is a text with its units; write `default = \"30s\"`"),
        _ => panic!("a `Duration` is a text with its units; write `example = \"30s\"`"),
    }
}

/// Returns true for numbers with units, and for what begins like an ISO 8601 duration. The schema's pattern decides.
const fn is_text(text: &[u8]) -> bool {
    if text.len() > 2 && text[0] == b'P' {
        return true;
    }
    let mut at = 0;
    while at < text.len() {
        let start = at;
        at = digits(text, at);
        if at == start {
            return false;
        }
        if at < text.len() && text[at] == b'.' {
            let fraction = digits(text, at + 1);
            if fraction == at + 1 {
                return false;
            }
            at = fraction;
        }
        at = match text.split_at(at).1 {
            [b'n' | b'u' | b'm', b's', ..] => at + 2,
            [b's' | b'm' | b'h' | b'd', ..] => at + 1,
            _ => return false,
        };
    }
    !text.is_empty()
}

const fn digits(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at].is_ascii_digit() {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_durations() {
        for text in ["30s", "1h30m", "1.5h", "250ms", "1m1s", "7d", "5us", "5ns", "PT30S", "P1DT12H"] {
            assert!(is_text(text.as_bytes()), "{text}");
        }
        for text in ["", "30", "s", "30 s", "30 seconds", "-1s", "1.s", ".5s", "1h30", "1y", "P"] {
            assert!(!is_text(text.as_bytes()), "{text}");
        }
    }
}
