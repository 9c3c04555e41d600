// errors: 1
use toolkit::prelude::*;

struct File;

#[toolkit::args]
impl File {}

fn main() {}
