//! JSON pointers (RFC 6901), and the same path as people write it.

/// A name as a step of a JSON pointer.
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The steps of a JSON pointer, as names.
pub(crate) fn steps(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
}

/// A JSON pointer from names.
pub(crate) fn join<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    names.into_iter().fold(String::new(), |pointer, name| pointer + "/" + &escape(name.as_ref()))
}

/// A pointer as a path with dots, `tools.exec.safeBins`; as it is where a step has a dot itself.
pub(crate) fn dotted(pointer: &str) -> String {
    let steps: Vec<String> = steps(pointer).collect();
    if steps.is_empty() || steps.iter().any(|step| step.is_empty() || step.contains('.')) {
        return pointer.to_owned();
    }
    steps.join(".")
}
