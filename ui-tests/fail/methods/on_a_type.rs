// errors: 2
#[toolkit::tools]
struct Files {
    count: u32,
}

#[toolkit::tools]
enum Kind {
    File,
}

fn main() {}
