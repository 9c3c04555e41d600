//! What a toolkit is to the services that are made for it.

use super::Inner;
use crate::config::Configuration;
use crate::redact::Redactor;
use crate::service::ServiceHost;
use crate::state::Services;

impl ServiceHost for Inner {
    fn services(&self) -> &Services {
        &self.services
    }

    fn configuration(&self) -> &Configuration {
        &self.settings.configuration
    }

    fn redactor(&self) -> &Redactor {
        &self.settings.redactor
    }
}
