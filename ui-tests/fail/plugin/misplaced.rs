// errors: 3

struct Acme;

impl Acme {
    toolkit::plugin! { id: "acme" }
}

fn one() {
    let plugin = toolkit::plugin! { id: "acme" };
}

fn two() {
    toolkit::plugin!(id: "acme")
}

fn main() {}
