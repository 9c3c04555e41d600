//! What one schema allows and the other does not, in words.

use super::Severity;
use super::branch::{ARRAY, BOOLEAN, FRACTION, INTEGER, NULL, OBJECT, STRING, Types, each};
use crate::schema::describe::plain;
use serde_json::Value;

/// From which side two schemas are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    is_input: bool,
    /// The old schema is the one that allows more.
    is_lost: bool,
}

impl View {
    /// What calls could say, and can no longer.
    pub(super) const INPUT_LOST: Self = Self { is_input: true, is_lost: true };
    /// What calls can say, and could not.
    pub(super) const INPUT_WON: Self = Self { is_input: true, is_lost: false };
    /// What the output can be, and could not.
    pub(super) const OUTPUT_WON: Self = Self { is_input: false, is_lost: false };
    /// What the output could be, and can no longer.
    pub(super) const OUTPUT_LOST: Self = Self { is_input: false, is_lost: true };

    /// Whether what is found breaks something.
    pub(super) fn breaks(self) -> bool {
        self == Self::INPUT_LOST || self == Self::OUTPUT_WON
    }

    pub(super) fn is_input(self) -> bool {
        self.is_input
    }

    /// Where the schema stands in a snapshot.
    pub(super) fn root(self) -> &'static str {
        if self.is_input { "/inputSchema" } else { "/outputSchema" }
    }
}

/// One thing that one schema, the narrower one, is asked for and does not allow.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// Into the schema that says it.
    pub(super) pointer: String,
    /// The argument or the part of the output: `edits[].line`; empty for the whole.
    pub(super) subject: String,
    /// Whether it was shown that such values exist.
    pub(super) is_certain: bool,
    pub(super) kind: Kind,
}

/// "The other" is the schema that is compared with; "one" the schema whose values are looked at.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Values in words: `strings of more than 5 characters`.
    Values(String),
    /// Values other than these.
    Others(String),
    /// A property that one has and the other does not take.
    Unknown {
        /// The other requires it, or not.
        name: String,
        /// What it may be called there.
        renamed: Option<String>,
        is_required: bool,
    },
    /// The other requires a property, which one has, or not.
    Missing { name: String, is_known: bool },
    /// The other has a property, which one only allows as one of any name.
    Described { name: String, is_required: bool },
    /// One has a property, which the other only allows as one of any name.
    Undescribed { name: String },
    /// The other takes the name of a property as an alias of this one.
    Renamed { from: String, to: String },
    /// The other does not take this alias of a property.
    Alias { name: String, alias: String },
    /// Two properties are one in the other.
    Joined { names: [String; 2], to: String },
    /// What absence means differs.
    Default { one: Option<Value>, other: Option<Value> },
    /// A keyword whose effect is not known.
    Keyword(String),
    /// The schemas cannot be compared.
    Opaque,
}

impl Finding {
    /// Whether it says nothing of which values are allowed.
    pub(super) fn is_notice(&self) -> bool {
        matches!(self.kind, Kind::Default { .. } | Kind::Renamed { .. } | Kind::Undescribed { .. })
    }

    /// How bad it is, and how it reads; `None` where another view tells it better.
    pub(super) fn told(&self, view: View) -> Option<(Severity, String)> {
        let severity = match (view.breaks(), self.is_certain) {
            (true, true) => Severity::Breaking,
            (true, false) => Severity::MayBreak,
            (false, _) => Severity::Compatible,
        };
        let property = |name: &str| view.property(&join(&self.subject, name));
        let is = |text: String| Some((severity, text));
        match &self.kind {
            Kind::Values(values) if self.is_certain => is(view.values(&self.subject, values)),
            Kind::Others(values) => is(view.others(&self.subject, values)),
            Kind::Values(values) if view.breaks() => is(view.perhaps(&self.subject, values)),
            Kind::Keyword(keyword) if view.breaks() => is(format!(
                "`{keyword}` of {} is another, and it is not known what that changes",
                view.whole(&self.subject)
            )),
            Kind::Opaque if view.breaks() => {
                is(format!("{} is stated in a way that cannot be compared", view.whole(&self.subject)))
            }
            Kind::Values(_) | Kind::Keyword(_) | Kind::Opaque => None,
            Kind::Unknown { name, renamed, is_required } => match view {
                View::INPUT_LOST => {
                    let hint = renamed.as_ref().map_or_else(String::new, |renamed| {
                        format!("; if it is called `{renamed}` now, give that one `alias = \"{name}\"`")
                    });
                    is(format!("{} is gone: calls that give it are refused{hint}", property(name)))
                }
                View::INPUT_WON if !is_required => is(format!("{} is new and optional", property(name))),
                View::OUTPUT_WON => {
                    is(format!("{} is new, where the old schema allows no further ones", property(name)))
                }
                _ => None,
            },
            Kind::Missing { name, is_known } => match (view, is_known) {
                (View::INPUT_LOST, true) => {
                    is(format!("{} is required now: calls without it are refused", property(name)))
                }
                (View::INPUT_LOST, false) => {
                    is(format!("{} is new and required: calls without it are refused", property(name)))
                }
                (View::INPUT_WON, true) => is(format!("{} is optional now", property(name))),
                (View::OUTPUT_WON, true) => is(format!("{} may be missing now", property(name))),
                (View::OUTPUT_WON, false) => is(format!("{} is gone", property(name))),
                (View::OUTPUT_LOST, true) => is(format!("{} is always there now", property(name))),
                _ => None,
            },
            Kind::Described { name, is_required } => match view {
                View::INPUT_LOST => is(format!(
                    "{} is new: calls that gave something else by that name may be refused",
                    property(name)
                )),
                View::OUTPUT_WON if !is_required => is(format!("{} is gone", property(name))),
                View::OUTPUT_LOST => is(format!("{} is new", property(name))),
                _ => None,
            },
            Kind::Undescribed { name } if view == View::INPUT_LOST => Some((
                Severity::Notice,
                format!("{} is gone: calls may still give it, to no effect", property(name)),
            )),
            Kind::Renamed { from, to } if view == View::INPUT_LOST => {
                let text = format!("{} is called `{to}` now and still taken by its old name", property(from));
                Some((Severity::Compatible, text))
            }
            Kind::Alias { name, alias } => match view {
                View::INPUT_LOST => is(format!("{} is no longer taken as `{alias}`", property(name))),
                View::INPUT_WON => is(format!("{} is also taken as `{alias}`", property(name))),
                _ => None,
            },
            Kind::Joined { names: [one, other], to } if view == View::INPUT_LOST => is(format!(
                "{} and {} are both `{to}` now: calls that give both are refused",
                property(one),
                property(other)
            )),
            Kind::Default { one, other } if view == View::INPUT_LOST => {
                let text = match (one, other) {
                    (Some(one), Some(other)) => {
                        format!("meant {} and means {} now", plain(one), plain(other))
                    }
                    (Some(one), None) => format!("no longer means {}", plain(one)),
                    (None, other) => {
                        format!("means {} now", other.as_ref().map(plain).unwrap_or_default())
                    }
                };
                Some((Severity::Notice, format!("{} left out {text}", view.whole(&self.subject))))
            }
            Kind::Undescribed { .. } | Kind::Renamed { .. } | Kind::Joined { .. } | Kind::Default { .. } => {
                None
            }
        }
    }
}

impl View {
    fn whole(self, subject: &str) -> String {
        match (subject, self.is_input) {
            ("", true) => "the tool".to_owned(),
            ("", false) => "the output".to_owned(),
            (subject, true) => format!("`{subject}`"),
            (subject, false) => format!("`{subject}` of the output"),
        }
    }

    fn property(self, subject: &str) -> String {
        self.whole(subject)
    }

    fn values(self, subject: &str, values: &str) -> String {
        let subject = self.whole(subject);
        match self {
            Self::INPUT_LOST => format!("{subject} no longer takes {values}"),
            Self::INPUT_WON => format!("{subject} also takes {values}"),
            Self::OUTPUT_WON => format!("{subject} also gives {values} now"),
            _ => format!("{subject} no longer gives {values}"),
        }
    }

    fn others(self, subject: &str, values: &str) -> String {
        let subject = self.whole(subject);
        match self {
            Self::INPUT_LOST => format!("{subject} takes only {values} now"),
            Self::INPUT_WON => format!("{subject} also takes others than {values}"),
            Self::OUTPUT_WON => format!("{subject} also gives others than {values} now"),
            _ => format!("{subject} gives only {values} now"),
        }
    }

    fn perhaps(self, subject: &str, values: &str) -> String {
        let subject = self.whole(subject);
        if self.is_input {
            format!("{subject} may no longer take {values}")
        } else {
            format!("{subject} may also give {values} now")
        }
    }
}

/// A property within a part of the arguments.
pub(super) fn join(subject: &str, name: &str) -> String {
    if subject.is_empty() { name.to_owned() } else { format!("{subject}.{name}") }
}

/// Types in words, in the plural.
pub(super) fn plural(types: Types) -> String {
    let words: Vec<&str> = each(types)
        .map(|each| match each {
            NULL => "null",
            BOOLEAN => "booleans",
            INTEGER => "integers",
            FRACTION => "numbers with a fraction",
            STRING => "strings",
            ARRAY => "arrays",
            OBJECT => "objects",
            _ => "numbers",
        })
        .collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => "nothing".to_owned(),
    }
}
