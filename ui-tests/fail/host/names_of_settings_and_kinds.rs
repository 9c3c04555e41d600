// errors: 11
use toolkit::prelude::*;
use toolkit::{CallOptions, Secret};

fn read(secret: Secret) {
    let _ = secret.expose_secret();
}

async fn listen(toolkit: Toolkit) {
    let _ = toolkit.events().recv().await;
}

fn main() {
    drop((read, listen));
    let _ = ToolError::new(ToolErrorKind::Internal, "it failed");
    let _ = ToolError::new(ToolErrorKind::Timeout, "it is late");
    let _ = Ask::confirm("Delete it?");
    let _ = ToolOutput::text("text").as_text();
    let _ = Progress::percent(50);
    let _ = LogMessage::info("text");
    let _ = CallOptions::new().with_timeout(std::time::Duration::from_secs(1));
    let _ = PolicySettings::new();
    let _ = ToolPolicy::deny_list(["exec"]);
}
