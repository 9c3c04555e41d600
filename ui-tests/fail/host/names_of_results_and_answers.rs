// errors: 9
use toolkit::prelude::*;

async fn call(toolbox: &Toolbox, call: ToolCall) {
    let _ = toolbox.call(call.clone()).await.unwrap();
    let _ = toolbox.call(call).await.json();
}

fn main() {
    drop(call);
    let _ = Caller::anonymous();
    let _ = Answer::calls([ToolCall::new("1", "add", "{}")]);
    let _ = Answer::yes();
    let _ = Answer::reject("why");
    let _ = Configuration::from_file("toolkit.json5");
    let _ = LoadOptions::new().path("toolkit.json5");
    let _ = LoadOptions::new().build();
}
