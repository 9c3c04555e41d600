// errors: 1
struct Store;

impl Store {
    #[toolkit::service]
    fn store(&self) -> Store {
        Store
    }
}

fn main() {}
