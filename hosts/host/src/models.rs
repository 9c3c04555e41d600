//! The default model, for the tools that ask one.

use toolkit::bootstrap::Bootstrap;
use toolkit_models::{Meter, Models};

/// Adds the default model, if one is configured, to the tools that ask a model, and the meter to those that ask an endpoint.
pub(crate) fn with_models<'a>(bootstrap: Bootstrap<'a>, meter: &'a Meter) -> Bootstrap<'a> {
    bootstrap.part(move |toolkit, configuration| {
        let toolkit = crate::endpoint_meter::with(toolkit, meter);
        // Whatever is wrong with the models is a diagnostic, and each of the tools says that there is none.
        let Ok(model) = Models::new(configuration).and_then(|models| models.get(None)) else {
            return toolkit;
        };
        #[cfg(any(feature = "llm-task", feature = "media", feature = "web"))]
        let asked = |part| crate::asked_model::AskedModel::new(model.clone(), meter, part);
        #[cfg(feature = "web")]
        let toolkit = crate::page_reader::with(toolkit, asked("page_reader"));
        #[cfg(feature = "media")]
        let toolkit = crate::picture_reader::with(toolkit, asked("picture_reader"));
        #[cfg(feature = "llm-task")]
        let toolkit = crate::task_model::with(toolkit, asked("llm_task"));
        let _ = &model;
        toolkit
    })
}
