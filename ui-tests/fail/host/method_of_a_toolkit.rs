// errors: 8
use toolkit::prelude::*;

async fn host(builder: toolkit::Builder) -> Result<(), BuildError> {
    let allowing = builder.clone().allow_all();
    let serving = builder.clone().with_mcp("http://localhost", 1);
    let telling = builder.clone().on_event(|event| println!("{event:?}"));
    let toolkit = builder.build()?;
    toolkit.serve_stdio().await;
    toolkit.service(1_u8);
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let text = toolbox.call_tool("add", r#"{ "a": 1 }"#).await.text();
    let definitions = toolbox.to_openai();
    let tool = Tool::builder("add").description("Adds.").parameter("a", "integer").handler(|a| a);
    drop((allowing, serving, telling, text, definitions, tool));
    Ok(())
}

fn main() {}
