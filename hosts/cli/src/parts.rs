//! The model for the tools that ask one.

use toolkit::bootstrap::Bootstrap;

/// Adds the default model, if one is configured, to the tools that ask a model.
pub(crate) fn with_models(bootstrap: Bootstrap<'_>) -> Bootstrap<'_> {
    #[cfg(all(feature = "agent", feature = "web"))]
    let bootstrap = bootstrap.part(crate::page_reader::with);
    #[cfg(all(feature = "agent", feature = "media"))]
    let bootstrap = bootstrap.part(crate::picture_reader::with);
    #[cfg(all(feature = "agent", feature = "llm-task"))]
    let bootstrap = bootstrap.part(crate::task_model::with);
    bootstrap
}
