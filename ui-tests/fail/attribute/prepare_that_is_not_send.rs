// errors: 1
use std::rc::Rc;
use toolkit::prelude::*;
use toolkit::descriptor::Preparation;

async fn narrowed(_: &Caller, tool: &mut Preparation) {
    let text = Rc::new(String::new());
    std::future::ready(()).await;
    tool.describe(text.as_str());
}

/// Reads a file.
#[tool(prepare = narrowed)]
fn read(path: String) -> String {
    path
}

fn main() {}
