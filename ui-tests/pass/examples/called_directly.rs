//! The function stays a plain function: of its own signature, callable, passable, testable.
use toolkit::prelude::*;

/// Reads a file.
#[tool]
async fn read(
    ctx: &ToolContext,
    path: &Path,
    words: &[String],
    end: Option<&str>,
    #[arg(default = 1)] offset: usize,
) -> Result<String, ToolError> {
    ctx.check_cancelled()?;
    Ok(format!("{}{words:?}{end:?}{offset}", path.display()))
}

/// Doubles a number.
#[tool]
fn double(number: u32) -> String {
    (number * 2).to_string()
}

fn main() {
    let context = ToolContext::detached(toolkit::Caller::new());
    let future = read(&context, Path::new("x"), &[], Some("e"), 3);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(future).unwrap(), r#"x[]Some("e")3"#);
    let pointer: fn(u32) -> String = double;
    assert_eq!([1, 2].map(pointer), ["2", "4"]);
}
