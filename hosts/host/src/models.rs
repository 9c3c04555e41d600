//! The default model, for the tools that ask one.

use toolkit::bootstrap::Bootstrap;
#[cfg(feature = "agent")]
use toolkit_models::Models;

/// Adds the default model, if one is configured, to the tools that ask a model.
#[cfg(feature = "agent")]
pub(crate) fn with_models(bootstrap: Bootstrap<'_>) -> Bootstrap<'_> {
    bootstrap.part(|toolkit, configuration| {
        // Whatever is wrong with the models is a diagnostic, and each of the tools says that there is none.
        let Ok(model) = Models::new(configuration).and_then(|models| models.get(None)) else {
            return toolkit;
        };
        #[cfg(feature = "web")]
        let toolkit = crate::page_reader::with(toolkit, model.clone());
        #[cfg(feature = "media")]
        let toolkit = crate::picture_reader::with(toolkit, model.clone());
        #[cfg(feature = "llm-task")]
        let toolkit = crate::task_model::with(toolkit, model.clone());
        drop(model);
        toolkit
    })
}

/// Adds nothing: without the agent there is no model.
#[cfg(not(feature = "agent"))]
pub(crate) fn with_models(bootstrap: Bootstrap<'_>) -> Bootstrap<'_> {
    bootstrap
}
