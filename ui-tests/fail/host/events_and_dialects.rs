// errors: 2
use toolkit::inspection::{CallbackInspector, Inspection};
use toolkit::prelude::*;

async fn list(toolkit: &Toolkit) {
    drop(toolkit.toolbox(&Caller::new()).await.definitions_for("openai"));
}

fn main() {
    let inspector = CallbackInspector::new(|call: &Inspection<'_>| call.arguments()["force"] != true);
    let _ = Toolkit::builder().inspector("force", inspector);
}
