//! Keywords without an effect on validity.

/// The keyword for the place of a schema in its document, which splitting a schema adds.
pub(super) const AT: &str = "x-toolkit-at";

/// Returns true for keywords without an effect on validity. `default` is not among them: it defines the meaning of an
/// absent value.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "contentEncoding"
            | "contentMediaType"
            | "contentSchema"
            | "$comment"
            | "$schema"
            | "$id"
            | "$defs"
            | "definitions"
    ) || keyword == AT
        || keyword == toolkit_core::schema::SECRET
}
