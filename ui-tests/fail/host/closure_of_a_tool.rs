// errors: 3
use toolkit::prelude::*;

struct Row;

fn main() {
    let _ = Tool::builder("now").build(|_, _| "noon");
    let _ = Tool::builder("find").build(|_, _| async { Row });
    let _ = Tool::builder("read").build(|_, _| async { Err::<String, _>("no file") });
}
