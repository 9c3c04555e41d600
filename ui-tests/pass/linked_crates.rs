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
        .service(ui_tests_pedantic::Store::default())
        .build()
        .unwrap();
    let crates: std::collections::BTreeSet<&str> =
        toolkit.tools().iter().map(|tool| tool.location().crate_name()).collect();
    assert_eq!(crates.into_iter().collect::<Vec<_>>(), ["ui_tests_pedantic", "ui_tests_renamed"]);
}
