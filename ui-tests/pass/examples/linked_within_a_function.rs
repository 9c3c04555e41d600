//! `link!` as a statement of a function, and of a block in it.
fn toolkit() -> toolkit::Toolkit {
    toolkit::link!(core: ui_tests_renamed);
    {
        toolkit::link! { ui_tests_pedantic }
    }
    let store = ui_tests_pedantic::Store::default();
    toolkit::Toolkit::builder().without_asking_first().service(store).build().unwrap()
}

fn main() {
    let toolkit = toolkit();
    for name in ["pedantic_whole", "renamed_read"] {
        assert!(toolkit.tool(name).is_some(), "{name}");
    }
}
