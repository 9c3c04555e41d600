//! Two types for one section, in a program that loads no configuration.

use toolkit::prelude::*;

#[toolkit::args]
struct Mail {
    /// The sender.
    from: Option<String>,
}

#[toolkit::args]
struct Chat {
    /// The channel.
    channel: Option<String>,
}

struct Mailer;
struct Chatter;

#[toolkit::service]
fn mailer(config: &Config<Mail>) -> Mailer {
    let _ = config;
    Mailer
}

#[toolkit::service]
fn chatter(config: &Config<Chat>) -> Chatter {
    let _ = config;
    Chatter
}

#[test]
fn they_are_an_error_that_names_both_functions() {
    let problems = Toolkit::builder().build().err().map(|error| error.problems).unwrap_or_default();
    let [problem] = &*problems else { panic!("{problems:?}") };
    for part in [
        "is there twice",
        "`Config<two_sections::Mail>` by `mailer`",
        "`Config<two_sections::Chat>` by `chatter`",
    ] {
        assert!(problem.contains(part), "{problem}");
    }
    // A program that adds each tool uses none of these functions.
    assert!(Toolkit::empty().build().is_ok());
}
