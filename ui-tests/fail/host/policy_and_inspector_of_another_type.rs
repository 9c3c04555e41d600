// errors: 3
use toolkit::prelude::*;

use toolkit::policy::ToolRules;

fn main() {
    let _ = Toolkit::builder().policy(r#"{ "deny": ["exec"] }"#);
    let _ = Toolkit::builder().policy(ToolRules::default());
    let _ = Toolkit::builder().inspector("audit", |_| true);
}
