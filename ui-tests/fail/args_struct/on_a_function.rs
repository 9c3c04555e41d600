// errors: 1
#[toolkit::args]
fn read(path: String) -> String {
    path
}

fn main() {
    read(String::new());
}
