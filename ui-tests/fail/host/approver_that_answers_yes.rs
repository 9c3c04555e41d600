// errors: 3
use toolkit::approval::{Answer, CallbackApprover};
use toolkit::prelude::*;

fn main() {
    let _ = Toolkit::builder().approver(CallbackApprover::new(|_| true));
    let _ = Toolkit::builder().approver(CallbackApprover::new(|_| async { Answer::allow() }));
    let _ = Toolkit::builder().approver(CallbackApprover::from_async(|_| Answer::allow()));
}
