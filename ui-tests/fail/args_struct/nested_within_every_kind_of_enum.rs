// errors: 5
use toolkit::prelude::*;

struct One;
struct Two;
struct Three;
struct Four;
struct Five;

#[toolkit::args]
#[serde(tag = "kind")]
enum Tagged {
    Fields { session: One },
    Held(Two),
}

#[toolkit::args]
#[serde(tag = "kind", content = "value")]
enum Adjacent {
    Held(Three),
    Fields { session: Option<Four> },
}

#[toolkit::args]
#[serde(untagged)]
enum Untagged {
    Held(Five),
    Text(String),
}

/// Reads a file.
#[tool]
fn read(tagged: Tagged, adjacent: Adjacent, untagged: Untagged) -> String {
    drop((tagged, adjacent, untagged));
    String::new()
}

fn main() {}
