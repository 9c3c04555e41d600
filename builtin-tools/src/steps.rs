//! Presentation of the tools in user interfaces.

use toolkit::views::{StepType, StepTypes};

/// The kinds of steps of this crate's tools, and of `delegate`.
///
/// ```
/// use toolkit::views::Steps;
///
/// let steps = Steps::new(builtin_tools::step_types());
/// ```
pub fn step_types() -> StepTypes {
    StepTypes::new()
        .tool("exec", StepType::Bash)
        .tool("read", StepType::Read)
        .tool("write", StepType::Write)
        .tool("edit", StepType::Edit)
        .tool("apply_patch", StepType::Edit)
        .tool("glob", StepType::Glob)
        .tool("grep", StepType::Grep)
        .tool("skill", StepType::Skill)
        .tool("delegate", StepType::Delegate)
}
