// errors: 3
use toolkit::prelude::*;

fn main() {
    let _ = Configuration::load("toolkit.json5");
    let _ = Toolkit::builder().configuration("toolkit.json5");
    let _ = Toolkit::builder().configuration(Configuration::load(LoadOptions::new()));
}
