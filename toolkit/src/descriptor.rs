//! The description of a tool: its parameters, annotations, source and place, and how it is made.

pub use crate::tool::def::{BoxFuture, FormatError, Run, ServiceDef, ToolDef};
pub use crate::tool::prepare::{Preparation, PrepareFn, Preparing};
pub use crate::tool::{DynamicArgs, InvalidTool};
pub use toolkit_core::{
    Annotations, Definition, Input, LengthArg, Literal, Location, ParameterDef, PatternArg, Plugin,
    PluginDef, RangeArg, Rule, SchemaFn, Shown, Source, ToolArg,
};
