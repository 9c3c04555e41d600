//! The rights of people in calls of tools, as the host knows them.

use toolkit::Tool;
use toolkit_serve::Problem;

use crate::Person;

/// Finds the rights of a person in calls of tools.
pub trait PersonsTools: Send + Sync {
    /// Returns the caller of tools in the name of a person, with an agent that they may use, or the one that they have. Blocks.
    ///
    /// # Errors
    ///
    /// A problem for the person.
    fn caller(&self, person: &Person, agent: Option<&str>) -> Result<toolkit::Caller, Problem>;

    /// Returns true if people other than the owner may use a tool.
    fn is_for_others(&self, tool: &Tool) -> bool;
}
