//! `crate = …` by a name that `extern crate` gives, as a string, and through a re-export of one's own.
extern crate toolkit as tk;

pub mod reexport {
    pub use toolkit::*;
}

/// By another name.
#[tk::tool(crate = ::tk)]
fn by_name(#[arg(default = 5, range(1..))] number: u8) -> String {
    number.to_string()
}

/// By a string.
#[tk::tool(crate = "::tk")]
fn by_string() {}

/// By a re-export.
#[reexport::tool(crate = crate::reexport)]
async fn by_reexport(#[arg(default = Default::default())] mode: Mode) -> tk::Json<Mode> {
    tk::Json(mode)
}

#[tk::args(crate = crate::reexport)]
#[derive(Default)]
enum Mode {
    #[default]
    One,
}

fn main() {
    assert_eq!(ui_tests::text("by_name", "{}"), "5");
    assert_eq!(ui_tests::text("by_string", "{}"), "Done.");
    assert_eq!(ui_tests::text("by_reexport", "{}"), "\"One\"");
}
