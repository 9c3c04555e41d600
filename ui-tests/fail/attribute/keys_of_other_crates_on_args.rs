// errors: 5
#[toolkit::args(rename_all = "camelCase")]
struct Renamed {
    text: String,
}

#[toolkit::args(example = "x")]
struct Shown {
    text: String,
}

#[toolkit::args(description = "A query.")]
struct Described {
    text: String,
}

#[toolkit::args(Debug, Clone)]
struct Derived {
    text: String,
}

#[toolkit::args(deny_unknown_fields)]
struct Closed {
    text: String,
}

fn main() {}
