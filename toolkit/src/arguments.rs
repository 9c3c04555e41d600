//! The arguments of a call: parsing, repairs, and the problems that are reported to the model.

pub use toolkit_core::{
    Arguments, CallArguments, IntoCallArguments, InvalidArguments, Problem, Repair, RepairKind,
};
