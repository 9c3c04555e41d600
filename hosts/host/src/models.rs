//! The models of the configuration: for agents, and the default one for the tools that ask one.

use std::sync::{Arc, Mutex, PoisonError};
use toolkit::{bootstrap::Bootstrap, config::Configuration};
use toolkit_models::{Meter, ModelError, Models};

/// The models of the agents of a host, which share the connections to them.
#[derive(Debug, Default)]
pub(crate) struct AgentModels(Mutex<Option<(Configuration, Arc<Models>)>>);

impl AgentModels {
    /// Returns the models of the configuration that is in effect.
    pub(crate) fn of(&self, configuration: &Configuration) -> Result<Arc<Models>, ModelError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, models)) = &*last
            && of.is_same_as(configuration)
        {
            return Ok(Arc::clone(models));
        }
        let models = Arc::new(Models::new(configuration)?);
        *last = Some((configuration.clone(), Arc::clone(&models)));
        Ok(models)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::config::LoadOptions;

    #[test]
    fn agents_share_models_until_the_configuration_changes() {
        let of = |url: &str| {
            let load = LoadOptions::new().set(format!("models.local.baseUrl=\"http://{url}/v1\""));
            Configuration::load(load).unwrap()
        };
        let models = AgentModels::default();
        let first = models.of(&of("127.0.0.1:1")).unwrap();
        assert!(Arc::ptr_eq(&first, &models.of(&of("127.0.0.1:1")).unwrap()));
        let changed = models.of(&of("127.0.0.1:2")).unwrap();
        assert!(!Arc::ptr_eq(&first, &changed));
        assert!(Arc::ptr_eq(&changed, &models.of(&of("127.0.0.1:2")).unwrap()));
    }
}
