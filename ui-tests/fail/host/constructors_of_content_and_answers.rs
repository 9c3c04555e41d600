// errors: 4
use toolkit::approval::{Answer, ScriptedApprover};
use toolkit::prelude::*;

fn main() {
    let _ = Content::new("text");
    let _ = Json::<u32>::new(1);
    let _ = Answer::deny();
    let _ = ScriptedApprover::new(Answer::allow());
    let _ = ScriptedApprover::new([true]);
}
