//! The form of parts, and parts.

use super::markup::Markup;
use super::unit::Unit;

/// The form of the parts of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// The markup of the platform.
    pub markup: Markup,
    /// The unit in which the platform counts.
    pub unit: Unit,
    /// The most units of a part. The text is counted, as it is after the platform has parsed the markup. Less than 4, the longest character
    /// in any unit, is taken as 4.
    pub max: usize,
}

/// A part of an answer. It has at least one visible character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The text without markup.
    pub plain: String,
    /// The same text in the platform's markup. `None` if the platform has none.
    pub markup: Option<String>,
}
