//! Describes the differences between two schemas.

use super::Severity;
use super::branch::{ARRAY, BOOLEAN, FRACTION, INTEGER, NULL, OBJECT, STRING, Types, each};
use serde_json::Value;
use toolkit_core::schema::describe::plain;

/// The direction in which two schemas are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    is_input: bool,
    /// True if the old schema is the one that allows more.
    is_lost: bool,
}

impl View {
    /// Arguments that calls could have, and can no longer.
    pub(super) const INPUT_LOST: Self = Self { is_input: true, is_lost: true };
    /// Arguments that calls can have, and could not.
    pub(super) const INPUT_WON: Self = Self { is_input: true, is_lost: false };
    /// Output that can occur now, and could not.
    pub(super) const OUTPUT_WON: Self = Self { is_input: false, is_lost: false };
    /// Output that could occur, and can no longer.
    pub(super) const OUTPUT_LOST: Self = Self { is_input: false, is_lost: true };

    /// Returns true if a finding in this direction breaks something.
    pub(super) fn breaks(self) -> bool {
        self == Self::INPUT_LOST || self == Self::OUTPUT_WON
    }

    pub(super) fn is_input(self) -> bool {
        self.is_input
    }

    /// Returns the place of the schema in a snapshot.
    pub(super) fn root(self) -> &'static str {
        if self.is_input { "/inputSchema" } else { "/outputSchema" }
    }
}

/// A value that one schema allows and the other, narrower one does not.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// A pointer into the schema that causes it.
    pub(super) pointer: String,
    /// The argument or the part of the output: `edits[].line`; empty for the root.
    pub(super) subject: String,
    /// True if it was proved that such values exist.
    pub(super) is_certain: bool,
    pub(super) kind: Kind,
}

/// "The other" is the schema that is compared with; "one" is the schema whose values are checked.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Values in words: `strings of more than 5 characters`.
    Values(String),
    /// Values other than these.
    Others(String),
    /// A property that one has and the other does not accept.
    Unknown {
        /// The name of the property.
        name: String,
        /// Its probable new name in the other.
        renamed: Option<String>,
        is_required: bool,
    },
    /// A property that the other requires, whether or not one has it.
    Missing { name: String, is_known: bool },
    /// A property of the other, which one only allows as one of any name.
    Described { name: String, is_required: bool },
    /// A property of one, which the other only allows as one of any name.
    Undescribed { name: String },
    /// The other accepts the name of a property as an alias of this one.
    Renamed { from: String, to: String },
    /// The other does not accept this alias of a property.
    Alias { name: String, alias: String },
    /// Two properties of one are a single property in the other.
    Joined { names: [String; 2], to: String },
    /// The defaults differ.
    Default { one: Option<Value>, other: Option<Value> },
    /// A keyword whose effect is unknown.
    Keyword(String),
    /// The schemas cannot be compared.
    Opaque,
}

impl Finding {
    /// Returns true if it does not change the set of allowed values.
    pub(super) fn is_notice(&self) -> bool {
        matches!(self.kind, Kind::Default { .. } | Kind::Renamed { .. } | Kind::Undescribed { .. })
    }

    /// Returns its severity and text; `None` if another direction reports it better.
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
            Kind::Keyword(keyword) if view.breaks() => {
                is(format!("`{keyword}` of {} changed, with unknown effect", view.whole(&self.subject)))
            }
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

/// Joins the name of a property to the subject that contains it.
pub(super) fn join(subject: &str, name: &str) -> String {
    if subject.is_empty() { name.to_owned() } else { format!("{subject}.{name}") }
}

/// Formats types in words, in the plural.
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
