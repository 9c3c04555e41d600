// errors: 2
use toolkit::prelude::*;

#[toolkit::args]
#[serde(tag = "kind")]
enum Shape {
    Circle(u32),
    Line((u32, u32)),
    Point { x: u32 },
}

#[toolkit::args]
struct Arguments {
    shape: Shape,
}

/// Draws a shape.
#[tool]
fn draw(#[args] arguments: Arguments) -> String {
    drop(arguments);
    String::new()
}

fn main() {}
