// errors: 3
use toolkit::prelude::*;

#[tool]
unsafe fn read<T: ToString>(path: T) -> String {
    path.to_string()
}

fn main() {
    unsafe { read(5) };
}
