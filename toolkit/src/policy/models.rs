//! Matches a caller's model with the names used in a configuration.

use super::entry::{folded, matches};
use toolkit_core::caller::Caller;

/// The names that a configuration may use for a caller's model, with every part in lower case.
///
/// A host may give `openai` and `gpt-5` separately, or `openai/gpt-5` as one; both are the same model.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    provider: Option<String>,
    name: Option<String>,
    /// All names that a deny rule may use.
    texts: Vec<String>,
    /// The name as the host gives it, if no provider is known.
    alone: Option<String>,
}

impl Model {
    pub(super) fn of(caller: &Caller) -> Self {
        let known = |text: &Option<String>| text.as_deref().map(folded).filter(|text| !text.is_empty());
        let (said_provider, said_name) = (known(&caller.provider), known(&caller.model));
        let (provider, name) = match (said_provider.clone(), said_name.clone()) {
            (None, Some(name)) => match name.split_once('/') {
                Some((provider, name)) => (Some(provider.to_owned()), Some(name.to_owned())),
                None => (None, Some(name)),
            },
            (Some(provider), Some(name)) => {
                let own = name.strip_prefix(&provider).and_then(|rest| rest.strip_prefix('/'));
                let own = own.map(str::to_owned);
                (Some(provider), Some(own.unwrap_or(name)))
            }
            (provider, None) => (provider, None),
        };
        let mut texts = Vec::new();
        // Without a model name, `openai/*` matches and `openai/gpt-5` does not.
        texts.extend(provider.as_ref().map(|own| format!("{own}/{}", name.as_deref().unwrap_or_default())));
        texts.extend(provider.iter().cloned());
        // A router's model names contain a slash, and people often know only the last part.
        for name in said_name.iter().chain(&name) {
            let ends = name.match_indices('/').map(|(at, _)| &name[at + 1..]);
            texts.extend(ends.chain([name.as_str()]).map(str::to_owned));
        }
        let alone = said_name.filter(|_| said_provider.is_none());
        Self { provider, name, texts, alone }
    }
}

/// A key of deny rules: a provider, a model, or `provider/model`, in lower case.
///
/// It matches too much rather than too little: a denied model must not get the tool, however the host writes its name.
#[derive(Debug)]
pub(super) struct ProviderKey(String);

impl ProviderKey {
    pub(super) fn new(key: &str) -> Self {
        Self(folded(key))
    }

    /// Returns true if the key matches the model. If the provider is unknown, the name alone decides.
    pub(super) fn names(&self, model: &Model) -> bool {
        let Self(key) = self;
        if !key.is_empty() && key.bytes().all(|byte| byte == b'*') {
            return true;
        }
        let of_any_provider = || {
            let ((_, of_key), name) = (key.split_once('/')?, model.alone.as_deref()?);
            // A name that contains a slash most probably begins with its provider.
            Some(matches(of_key, name) && (of_key.contains('/') || !name.contains('/')))
        };
        model.texts.iter().any(|text| matches(key, text)) || of_any_provider() == Some(true)
    }
}

/// A key that enables a tool: a model, or `provider/model`, in lower case.
#[derive(Debug)]
pub(super) struct ModelKey {
    provider: Option<String>,
    name: Option<String>,
}

impl ModelKey {
    pub(super) fn new(key: &str) -> Self {
        match key.split_once('/') {
            Some((provider, name)) => Self { provider: Some(folded(provider)), name: Some(folded(name)) },
            None => Self { provider: None, name: Some(folded(key)) },
        }
    }

    /// Returns true if the key matches the model. An unknown part of the model does not match.
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
            ("*", "", "", true, false),
            ("*", "", "gpt-5", true, true),
            ("openai/gpt-5", "openai", "GPT-5", true, true),
            ("openai/gpt-5", "openai", "openai/gpt-5", true, true),
            ("openai/gpt-5", "", "openai/gpt-5", true, true),
            ("openai/gpt-5", "azure", "gpt-5", false, false),
            ("openai/gpt-5", "openai", "", false, false),
            ("openai/gpt-5", "openai", "gpt-5-mini", false, false),
            ("openai/gpt-5*", "openai", "gpt-5-mini", true, true),
            ("openai/*", "openai", "gpt-5", true, true),
            ("openai/*", "openai", "", true, false),
            ("*/gpt-5", "azure", "gpt-5", true, true),
            ("gpt-5", "openai", "gpt-5", true, true),
            ("gpt-5", "", "gpt-5", true, true),
            ("gpt-5", "", "openai/gpt-5", true, true),
            ("gpt-5", "router", "openai/gpt-5", true, false),
            ("gpt-*", "openai", "gpt-5", true, true),
            ("gpt-5", "openai", "", false, false),
            ("openai/gpt-5", "", "gpt-5", true, false),
            ("openai/gpt-*", "", "gpt-5", true, false),
            ("openai/gpt-4", "", "gpt-5", false, false),
            ("openai/gpt-5", "router", "openai/gpt-5", true, false),
            ("azure/gpt-5", "", "openai/gpt-5", false, false),
            ("azure/*", "", "openai/gpt-5", false, false),
            ("router/openai/gpt-5", "", "openai/gpt-5", true, false),
            ("router/meta/llama", "router", "meta/llama", true, true),
            ("router/meta/llama", "", "router/meta/llama", true, true),
            ("llama", "router", "meta/llama", true, false),
            ("router/meta/llama", "router", "llama", false, false),
            ("", "openai", "gpt-5", false, false),
            ("/", "openai", "gpt-5", false, false),
        ] {
            let of = Model::of(&caller(provider, model));
            let named = (ProviderKey::new(key).names(&of), ModelKey::new(key).names(&of));
            assert_eq!(named, (by_provider, by_model), "{key:?} for {provider:?} and {model:?}");
        }
    }
}
