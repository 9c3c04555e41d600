// errors: 5
use toolkit::approval::{Answer, ScriptedApprover};
use toolkit::prelude::*;

fn main() {
    let _ = Content::new("text");
    let _ = Json::<u32>::new(1);
    let _ = ScriptedApprover::allow_all();
    let _ = ScriptedApprover::new(Answer::allow());
    let _ = ScriptedApprover::new([true]);
}
