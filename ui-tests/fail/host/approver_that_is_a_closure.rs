// errors: 1
use toolkit::approval::{Answer, PendingAsk};
use toolkit::prelude::*;

fn main() {
    let _ = Toolkit::builder().approver(|_: &PendingAsk| Answer::allow());
}
