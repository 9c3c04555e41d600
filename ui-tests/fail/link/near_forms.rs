// errors: 13

toolkit::link!(core);
toolkit::link!(core, ui_tests_renamed);
toolkit::link!(core(ui_tests_renamed));
toolkit::link!(core::ui_tests_renamed);
toolkit::link!(ui_tests_renamed: core);
toolkit::link!(ui_tests_renamed = core);
toolkit::link!(use ui_tests_renamed);
toolkit::link!(extern crate ui_tests_renamed);
toolkit::link!(ui_tests_renamed; toolkit);
toolkit::link!([ui_tests_renamed]);
toolkit::link!(core: ui_tests_renamed core: toolkit);
toolkit::link!(core: [ui_tests_renamed, toolkit]);
toolkit::link!(ui_tests_renamed.tools);

fn main() {}
