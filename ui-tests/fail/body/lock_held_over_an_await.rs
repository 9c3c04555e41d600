// errors: 2
use std::sync::{Mutex, RwLock};
use toolkit::prelude::*;

static COUNT: RwLock<u64> = RwLock::new(0);

async fn save(_count: u64) {}

struct Notes(Mutex<Vec<String>>);

/// Keeps a note.
#[tool(auto_execute)]
async fn keep(notes: State<Notes>, text: String) {
    let mut list = notes.0.0.lock().unwrap();
    list.push(text);
    save(list.len() as u64).await;
}

/// Counts a visit.
#[tool(auto_execute)]
async fn visit(saves: bool) {
    let mut count = COUNT.write().expect("nothing panics");
    *count += 1;
    if saves {
        save(*count).await;
    }
}

fn main() {}
