//! Nothing is built here: cargo accepts the `links` key, which keeps two versions of this crate out of one
//! binary, only beside a build script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
