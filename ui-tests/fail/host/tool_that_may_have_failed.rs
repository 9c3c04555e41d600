// errors: 1
use toolkit::prelude::*;
use toolkit::descriptor::DynamicArgs;

fn main() {
    let tool = Tool::builder("t")
        .description("Does something.")
        .build(|_: ToolContext, _: DynamicArgs| async { Ok::<_, ToolError>("done") });
    let _ = Toolkit::empty().tool(tool);
}
