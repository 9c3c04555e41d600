// errors: 12
use toolkit::prelude::*;

fn main() {
    let _ = ToolError::internal("it failed");
    let _ = ToolError::ExecutionFailed("it failed".to_owned());
    let _ = ToolError::invalid_params("`a` is too great", None);
    let _ = ToolError::PermissionDenied("not here");
    let _ = ToolError::NotFound("there is no file `a`");
    let _ = ToolError::timeout("the server is slow");
    let _ = ToolOutput::success("done");
    let _ = ToolOutput::error("it failed");
    let _ = ToolOutput::image(b"", "image/png");
    let _ = Image::from_path("a.png");
    let _ = ToolContext::new();
    let _ = Dialect::OpenAI;
}
