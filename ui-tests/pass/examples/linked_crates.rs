//! `link!` with a mark, an own name, conditions and a trailing comma.
mod lists {
    toolkit::link!(core: ui_tests_renamed,);

    #[cfg(any())]
    toolkit::link!(no_such_crate);
}

toolkit::link! {
    #[cfg(all())]
    ui_tests_pedantic,
    #[cfg(any())]
    no_such_crate,
    ui_tests_renamed as ui_tests_renamed,
}

toolkit::link!();

fn main() {
    let toolkit = toolkit::Toolkit::builder()
        .without_asking_first()
        .service(ui_tests_pedantic::Store::default())
        .build()
        .unwrap();
    for name in ["pedantic_whole", "renamed_read"] {
        assert!(toolkit.tool(name).is_some(), "{name}");
    }
}
