//! Which model a caller is, and what configuration names it by.

use super::entry::{folded, matches};
use crate::caller::Caller;

/// The model of a caller, as configuration may name it. Every part in lower case.
///
/// A host may say `openai` and `gpt-5`, or `openai/gpt-5` in one; both are the same model.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    provider: Option<String>,
    name: Option<String>,
}

impl Model {
    pub(super) fn of(caller: &Caller) -> Self {
        let known = |text: &Option<String>| text.as_deref().map(folded).filter(|text| !text.is_empty());
        let (provider, name) = (known(&caller.provider), known(&caller.model));
        match (provider, name) {
            (None, Some(name)) => match name.split_once('/') {
                Some((provider, name)) => {
                    Self { provider: Some(provider.to_owned()), name: Some(name.to_owned()) }
                }
                None => Self { provider: None, name: Some(name) },
            },
            (Some(provider), Some(name)) => {
                let own = name.strip_prefix(&provider).and_then(|rest| rest.strip_prefix('/'));
                Self { name: Some(own.map_or_else(|| name.clone(), str::to_owned)), provider: Some(provider) }
            }
            (provider, None) => Self { provider, name: None },
        }
    }
}

/// What configuration names a provider or a model by, in lower case.
#[derive(Debug)]
pub(super) struct ModelKey {
    provider: Option<String>,
    name: Option<String>,
}

impl ModelKey {
    /// A provider, or `provider/model`.
    pub(super) fn of_provider(key: &str) -> Self {
        match key.split_once('/') {
            Some((provider, name)) => Self { provider: Some(folded(provider)), name: Some(folded(name)) },
            None => Self { provider: Some(folded(key)), name: None },
        }
    }

    /// A model, or `provider/model`.
    pub(super) fn of_model(key: &str) -> Self {
        match key.split_once('/') {
            Some((provider, name)) => Self { provider: Some(folded(provider)), name: Some(folded(name)) },
            None => Self { provider: None, name: Some(folded(key)) },
        }
    }

    /// Whether it names the model. What is not known of a model is not what the key demands.
    pub(super) fn names(&self, model: &Model) -> bool {
        let fits = |key: &Option<String>, known: &Option<String>| match (key, known) {
            (None, _) => true,
            (Some(key), Some(known)) => matches(key, known),
            (Some(_), None) => false,
        };
        fits(&self.provider, &model.provider) && fits(&self.name, &model.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(provider: &str, model: &str) -> Caller {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let mut caller = Caller::new();
        (caller.provider, caller.model) = (some(provider), some(model));
        caller
    }

    #[test]
    fn what_names_a_model() {
        for (key, provider, model, by_provider, by_model) in [
            ("openai", "openai", "gpt-5", true, false),
            ("openai", "", "openai/gpt-5", true, false),
            ("OpenAI ", " openai", "", true, false),
            ("openai", "", "gpt-5", false, false),
            ("openai", "", "", false, false),
            ("*", "openai", "", true, false),
            ("*", "", "", false, false),
            ("*", "", "gpt-5", false, true),
            ("openai/gpt-5", "openai", "GPT-5", true, true),
            ("openai/gpt-5", "openai", "openai/gpt-5", true, true),
            ("openai/gpt-5", "", "openai/gpt-5", true, true),
            ("openai/gpt-5", "azure", "gpt-5", false, false),
            ("openai/gpt-5", "openai", "", false, false),
            ("openai/gpt-5", "openai", "gpt-5-mini", false, false),
            ("openai/gpt-5*", "openai", "gpt-5-mini", true, true),
            ("openai/*", "openai", "gpt-5", true, true),
            ("openai/*", "openai", "", false, false),
            ("*/gpt-5", "azure", "gpt-5", true, true),
            ("gpt-5", "openai", "gpt-5", false, true),
            ("gpt-5", "", "openai/gpt-5", false, true),
            ("router/meta/llama", "router", "meta/llama", true, true),
            ("router/meta/llama", "", "router/meta/llama", true, true),
            ("router/meta/llama", "router", "llama", false, false),
            ("", "openai", "gpt-5", false, false),
            ("/", "openai", "gpt-5", false, false),
        ] {
            let of = Model::of(&caller(provider, model));
            let named = (ModelKey::of_provider(key).names(&of), ModelKey::of_model(key).names(&of));
            assert_eq!(named, (by_provider, by_model), "{key:?} for {provider:?} and {model:?}");
        }
    }
}
