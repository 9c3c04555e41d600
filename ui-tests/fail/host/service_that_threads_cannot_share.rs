// errors: 2
use std::rc::Rc;
use toolkit::prelude::*;

fn main() {
    let _ = Toolkit::builder().service(Rc::new(1));
    let _ = Toolkit::builder().shared_service(std::sync::Arc::new(std::cell::Cell::new(1)));
}
