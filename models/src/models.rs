//! The configured models.

use crate::client::Client;
use crate::error::ModelError;
use crate::fallback::Fallback;
use crate::json_calls::JsonToolCalls;
use crate::model::Model;
use crate::settings::{ModelSettings, ModelsSettings, ToolCalling};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use toolkit::{config::Configuration, text::nearest};

/// An example of a configuration, for errors.
const EXAMPLE: &str = "for a local server add `models: { local: { baseUrl: \"http://127.0.0.1:8080/v1\" } }` to toolkit.json5 \
    (llama.cpp; Ollama: `baseUrl: \"http://127.0.0.1:11434/v1\", model: \"qwen3\"`), for a provider for example `models: { claude: { \
    provider: \"anthropic\", model: \"claude-sonnet-4-6\", apiKey: \"${env:ANTHROPIC_API_KEY}\" } }`";

/// The models of a configuration, by name. Connections are made by the first request.
///
/// ```
/// use toolkit::config::{Configuration, LoadOptions};
/// use toolkit_models::Models;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let configuration = Configuration::load(LoadOptions::new().set("models.local.baseUrl=\"http://127.0.0.1:8080/v1\""))?;
/// let models = Models::new(&configuration)?;
/// assert_eq!(models.get(None)?.name(), "local");
/// # Ok(()) }
/// ```
pub struct Models {
    default: Option<String>,
    settings: BTreeMap<String, ModelSettings>,
    /// Models that name a variable or a file that is not there, and why they cannot be used.
    unavailable: BTreeMap<String, String>,
    /// The models of agents, by the agent's id.
    of_agents: BTreeMap<String, String>,
    made: Mutex<HashMap<String, Arc<dyn Model>>>,
}

impl Models {
    /// Reads the section `models`, and the models of agents.
    ///
    /// # Errors
    ///
    /// The section cannot be read, or it names models that it does not have.
    pub fn new(configuration: &Configuration) -> Result<Self, ModelError> {
        let section = configuration.section_members::<ModelsSettings>("models");
        let (settings, unavailable) =
            section.map_err(|error| ModelError::Configuration { message: error.to_string() })?;
        let agents = configuration.agents().into_iter();
        let of_agents = agents.filter_map(|id| Some((id.clone(), configuration.agent(&id).model?))).collect();
        Self::of(settings, unavailable, of_agents)
    }

    /// Returns the models of settings that a host has itself.
    ///
    /// # Errors
    ///
    /// The settings name models that they do not have.
    pub fn from_settings(settings: ModelsSettings) -> Result<Self, ModelError> {
        Self::of(settings, BTreeMap::new(), BTreeMap::new())
    }

    fn of(
        settings: ModelsSettings,
        unavailable: BTreeMap<String, String>,
        of_agents: BTreeMap<String, String>,
    ) -> Result<Self, ModelError> {
        let ModelsSettings { default, models: settings } = settings;
        let models = Self { default, settings, unavailable, of_agents, made: Mutex::default() };
        let fallbacks = models.settings.iter().flat_map(|(name, model)| {
            model.fallback.iter().map(move |other| (format!("models.{name}.fallback"), other))
        });
        let default = models.default.iter().map(|name| ("models.default".to_owned(), name));
        let of_agents = models.of_agents.iter().map(|(id, name)| (format!("agents.{id}.model"), name));
        for (place, name) in default.chain(fallbacks).chain(of_agents) {
            if !models.has(name) {
                let why = models.unknown(name);
                return Err(ModelError::Configuration {
                    message: format!("`{place}` cannot be used: {why}"),
                });
            }
        }
        Ok(models)
    }

    /// Returns the names of the models, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.settings.keys().chain(self.unavailable.keys()).map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// Returns the name of the model that is used if none is named: `models.default`, else the only one.
    pub fn default_name(&self) -> Option<&str> {
        match (&self.default, self.names().as_slice()) {
            (Some(name), _) => Some(name),
            (None, [only]) => self
                .settings
                .get_key_value(*only)
                .map(|(name, _)| name.as_str())
                .or_else(|| self.unavailable.get_key_value(*only).map(|(name, _)| name.as_str())),
            _ => None,
        }
    }

    /// Returns the model of this name, with those of its `fallback`; without a name, the default.
    ///
    /// # Errors
    ///
    /// There is no such model, or it cannot be used. The message says what to configure.
    pub fn get(&self, name: Option<&str>) -> Result<Arc<dyn Model>, ModelError> {
        let wrong = |message: String| ModelError::Configuration { message };
        let name = match name.or_else(|| self.default_name()) {
            Some(name) => name,
            None if self.names().is_empty() => {
                return Err(wrong(format!("no model is configured: `models` is empty; {EXAMPLE}")));
            }
            None => {
                let names = self.names().join("`, `");
                return Err(wrong(format!(
                    "no model is chosen: there are `{names}`, and `models.default` names none of them; set `models.default`"
                )));
            }
        };
        if !self.has(name) {
            return Err(wrong(self.unknown(name)));
        }
        let first = self.single(name)?;
        let others = self.settings.get(name).map(|model| model.fallback.as_slice()).unwrap_or_default();
        // One that cannot be used does not make the first one unusable.
        let others: Vec<Arc<dyn Model>> = others
            .iter()
            .filter(|other| *other != name)
            .filter_map(|other| self.single(other).ok())
            .collect();
        Ok(if others.is_empty() { first } else { Arc::new(Fallback::new(first, others)) })
    }

    /// Returns the model of an agent, by the agent's id: `agents.<id>.model`, else the default.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn for_agent(&self, agent: &str) -> Result<Arc<dyn Model>, ModelError> {
        self.get(self.of_agents.get(agent).map(String::as_str))
    }

    fn has(&self, name: &str) -> bool {
        self.settings.contains_key(name) || self.unavailable.contains_key(name)
    }

    fn single(&self, name: &str) -> Result<Arc<dyn Model>, ModelError> {
        if let Some(reason) = self.unavailable.get(name) {
            return Err(ModelError::Configuration {
                message: format!("model `{name}` cannot be used: {reason}"),
            });
        }
        let settings = self
            .settings
            .get(name)
            .ok_or_else(|| ModelError::Configuration { message: self.unknown(name) })?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = made.get(name) {
            return Ok(Arc::clone(model));
        }
        let client = Arc::new(Client::new(name, settings)?);
        let model: Arc<dyn Model> = match settings.tool_calls {
            ToolCalling::Native => client,
            ToolCalling::Json => Arc::new(JsonToolCalls::new(client)),
        };
        made.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    fn unknown(&self, name: &str) -> String {
        let shown = toolkit::text::escape_line(name);
        let names = self.names();
        if names.is_empty() {
            return format!("there is no model `{shown}`, since `models` is empty; {EXAMPLE}");
        }
        let near = nearest(name, names.iter().copied());
        let near = near.first().map_or_else(
            || format!("use one of `{}`", names.join("`, `")),
            |near| format!("did you mean `{near}`?"),
        );
        format!("there is no model `{shown}` in `models`; {near}")
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models")
            .field("names", &self.names())
            .field("default", &self.default)
            .finish_non_exhaustive()
    }
}
