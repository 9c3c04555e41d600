//! JSON pointers (RFC 6901), and the same path in dotted form.

pub(crate) use toolkit_core::pointer::{escape, steps};

/// Joins names to a JSON pointer.
pub(crate) fn join<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    names.into_iter().fold(String::new(), |pointer, name| pointer + "/" + &escape(name.as_ref()))
}

/// Returns a pointer as a path with dots, `tools.exec.safeBins`; unchanged if a step itself
/// contains a dot.
pub(crate) fn dotted(pointer: &str) -> String {
    let steps: Vec<String> = steps(pointer).collect();
    if steps.is_empty() || steps.iter().any(|step| step.is_empty() || step.contains('.')) {
        return pointer.to_owned();
    }
    steps.join(".")
}
