//! The toolkit as the host of its services.

use super::Inner;
use crate::config::Configuration;
use crate::service::ServiceHost;
use toolkit_core::redact::Redactor;
use toolkit_core::state::Services;

impl ServiceHost for Inner {
    fn services(&self) -> &Services {
        &self.services
    }

    fn configuration(&self) -> Configuration {
        self.rules.get().configuration.clone()
    }

    fn redactor(&self) -> &Redactor {
        &self.settings.redactor
    }
}
