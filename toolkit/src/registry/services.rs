//! The toolkit as the host of its services.

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
