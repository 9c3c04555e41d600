// errors: 1
#[toolkit::service]
async fn store() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
