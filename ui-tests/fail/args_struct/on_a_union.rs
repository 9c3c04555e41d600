// errors: 1
#[toolkit::args]
union Number {
    whole: u32,
}

fn main() {}
