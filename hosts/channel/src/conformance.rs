//! Checks of a channel against a double of its platform, for the tests of the crate that implements it.
//!
//! The author implements [`Double`] over a server on loopback that behaves as the platform is documented to: people write, the channel
//! under test receives and sends, and requests meet faults. [`run`] runs all checks and returns a [`Report`] with an outcome for each.
//!
//! ```ignore
//! #[tokio::test]
//! async fn the_channel_keeps_to_its_trait() {
//!     let double = MyPlatform::start().await;
//!     let report = toolkit_channel::conformance::run(&double).await;
//!     report.assert();
//!     assert_eq!(report.left_out(), ["moved"], "{report}");
//! }
//! ```
//!
//! A check that needs a method which the double does not have is left out, with the reason. Compare [`Report::left_out`] with the list that
//! is expected, so that no check is left out by mistake.
//!
//! # Checks
//!
//! | check | rule |
//! |---|---|
//! | `identify` | the account has a stable id |
//! | `receive_*` | events come in order and once, also after a failure, a dropped future and a restart |
//! | `senders`, `conversations`, `groups` | people and conversations have stable ids |
//! | `send_*` | texts arrive whole and in order; an error states if the text may have arrived; nothing is sent twice |
//! | `text_*`, `media_*`, `caption_limit` | what is within the limits arrives, what is beyond is refused |
//! | `edit`, `delete`, `react`, `poll`, `buttons`, `press`, `reply`, `silent`, `platform_action` | an ability works, or its action is refused |
//! | `typing_and_acknowledge` | they return, also in an outage |
//! | `moved` | a conversation with a new id |
//! | `secrets` | no secret is in an error or value of any check |
//!
//! A check also fails if the channel panics or an operation does not return within minutes. No check depends on the speed of the machine.
//! Requests that go beyond a limit are made on purpose: [`Double::take_violations`] may report them.

mod actions;
mod bench;
mod double;
mod guard;
mod media;
mod outages;
mod receiving;
mod report;
mod sending;

use std::pin::Pin;

pub use double::{Double, Fault, Held, Operation, Person, Sent, Supported, Unsupported};
pub use report::{Check, Outcome, Report};

use bench::Bench;
use report::{Checked, Stop, ensure};

/// The function of a check.
type Run = for<'a, 'b> fn(&'a mut Bench<'b>) -> Pin<Box<dyn Future<Output = Checked> + Send + 'a>>;

/// A check before it runs.
struct Planned {
    name: &'static str,
    rule: &'static str,
    run: Run,
}

macro_rules! checks {
    ($($name:literal, $run:path, $rule:literal;)*) => {
        &[$(Planned {
            name: $name,
            rule: $rule,
            run: |bench| Box::pin($run(bench)),
        }),*]
    };
}

/// All checks, in the order in which they run.
const CHECKS: &[Planned] = checks! {
    "identify", receiving::identify, "the account has an id and a name, which are the same each time";
    "receive_repeats", receiving::repeats, "the same offset returns the same events until a later offset is given";
    "receive_empty", receiving::empty, "while nothing happens, receive ends with an empty batch";
    "receive_dropped", receiving::dropped, "a receive future that is dropped loses nothing";
    "receive_dropped_answer", receiving::dropped_answer, "a receive future that is dropped before its answer came loses nothing";
    "receive_reopened", receiving::reopened, "a channel opened anew continues exactly after the stored offset";
    "receive_order", receiving::order, "messages of several people come in order, each with an offset to continue from";
    "receive_unreadable", receiving::unreadable, "an event that cannot be read stops nothing";
    "receive_ids", receiving::ids, "external ids are unique in the account, and stable";
    "receive_edits", receiving::edits, "an edit has an external id of its own, and is_edited";
    "receive_unreachable", outages::receive_unreachable, "a connection that is refused is an error, and loses nothing";
    "receive_cut", outages::receive_cut, "a connection that is cut is an error, and loses and repeats nothing";
    "receive_conflict", outages::receive_conflict, "status 409 is an error, and loses and repeats nothing";
    "receive_too_many", outages::receive_too_many, "status 429 is an error with the wait, and loses and repeats nothing";
    "receive_server_error", outages::receive_server_error, "a status from 500 up is an error, and loses and repeats nothing";
    "senders", receiving::senders, "the id of a sender is stable, unique and no name";
    "conversations", receiving::conversations, "a conversation is that of the person, and is read as it is written";
    "groups", receiving::groups, "a message of a group names the group, and states if it names the account";
    "send_texts", sending::texts, "texts arrive exactly and in order, once, in their conversation";
    "send_parts", sending::parts, "all parts of an answer in Markdown are accepted, and are the answer together";
    "send_markup", sending::markup, "markup that is refused is SendError::Markup, and the plain text passes";
    "text_limit", sending::limit, "a text at the limit arrives, and one unit more is refused";
    "send_unreachable", outages::send_unreachable, "a connection that is refused is NotSent";
    "send_too_many", outages::send_too_many, "status 429 is NotSent with the wait";
    "send_server_error", outages::send_server_error, "a status from 500 up is Unknown, and nothing is sent twice";
    "send_cut", outages::send_cut, "a connection that is cut after the request is Unknown, and nothing is sent twice";
    "send_crash", outages::send_crash, "a future that is dropped before its answer came sends nothing twice";
    "edit", actions::edit, "an edit replaces the text of its message";
    "delete", actions::delete, "a deletion deletes its message";
    "react", actions::react, "a reaction is set and taken back";
    "poll", actions::poll, "a poll arrives with its options, up to their limit";
    "buttons", actions::buttons, "buttons arrive with their data, up to its limit";
    "press", actions::press, "a press has the data, the message and the sender";
    "reply", actions::reply, "a reply names the message that it replies to";
    "silent", actions::silent, "a message is silent if it is to be";
    "platform_action", actions::of_platform, "an action of a platform whose name is not known is refused";
    "media", media::sent, "a file arrives with its bytes and caption";
    "caption_limit", media::caption, "a caption at the limit arrives, and one unit more is refused";
    "media_limit", media::limit, "a file at the limit arrives";
    "media_too_large", media::too_large, "a file of one byte more than the limit is refused";
    "media_received", media::received, "a received file has its bytes, and is an error if it is longer than the maximum";
    "typing_and_acknowledge", outages::unimportant, "typing and acknowledge return, also in an outage";
    "moved", actions::moved, "a conversation that moved is an event, and SendError::Moved for the earlier id";
    "secrets", secrets, "no secret is in an error or value that the channel gave";
};

/// The checks whose requests no correct client makes: they go beyond a limit.
const BEYOND_LIMITS: &[&str] =
    &["send_markup", "text_limit", "poll", "buttons", "caption_limit", "media_too_large"];

/// The names of all checks, in the order in which they run.
pub fn names() -> Vec<&'static str> {
    CHECKS.iter().map(|check| check.name).collect()
}

/// Runs all checks of a channel. Checks that need a method which the double does not have are left out.
pub async fn run(double: &dyn Double) -> Report {
    let mut bench = Bench::new(double);
    let mut checks = Vec::with_capacity(CHECKS.len());
    for Planned { name, rule, run } in CHECKS {
        // A check that ended early leaves nothing to the next one.
        double.clear_faults();
        bench.channel = double.open();
        let checked = run(&mut bench).await;
        let violations = double.take_violations();
        let checked = checked.and_then(|()| {
            ensure(
                violations.is_empty() || BEYOND_LIMITS.contains(name),
                "requests that the platform permits",
                || violations.join("; "),
            )
        });
        checks.push(Check { name, rule, outcome: checked.into() });
    }
    Report { checks }
}

async fn secrets(bench: &mut Bench<'_>) -> Checked {
    let secrets = bench.double.secrets();
    if secrets.is_empty() {
        return Err(Stop::LeftOut("the double has no secret".to_owned()));
    }
    for text in bench.written() {
        if let Some(secret) = secrets.iter().find(|secret| text.contains(secret.as_str())) {
            return Err(Stop::failed("texts without a secret", text.replace(secret.as_str(), "SECRET")));
        }
    }
    Ok(())
}
