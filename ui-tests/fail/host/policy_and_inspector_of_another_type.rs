// errors: 2
use toolkit::prelude::*;

fn main() {
    let _ = Toolkit::builder().policy(r#"{ "deny": ["exec"] }"#);
    let _ = Toolkit::builder().inspector("audit", |_| true);
}
