//! A program that looks after commands, and does nothing else: any host's does that first in its `main`.

fn main() {
    toolkit_sandbox::init();
}
