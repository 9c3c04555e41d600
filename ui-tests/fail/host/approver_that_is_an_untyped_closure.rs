// errors: 1
use toolkit::prelude::*;

fn main() {
    let _ = Toolkit::builder().approver(|_| true);
}
