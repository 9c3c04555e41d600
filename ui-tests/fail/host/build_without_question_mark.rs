// errors: 1
use toolkit::prelude::*;

async fn host() {
    let toolkit = Toolkit::builder().build();
    let _ = toolkit.toolbox(&Caller::new()).await;
}

fn main() {}
