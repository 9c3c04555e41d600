//! The configuration `plugins.whatsapp`.

use toolkit::config::Secret;

/// Settings of WhatsApp (`plugins.whatsapp`).
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct WhatsAppSettings {
    /// The access token of the business.
    pub token: Option<Secret>,
    /// The id of the sending business phone number; not the number itself.
    #[arg(pattern = "^[0-9]{1,32}$")]
    pub phone_number_id: Option<String>,
    /// The version of the Graph API.
    #[arg(default = "v25.0", pattern = "^v[0-9]{1,3}\\.[0-9]{1,2}$")]
    pub api_version: String,
    /// The base URL of the Graph API.
    #[arg(default = "https://graph.facebook.com", pattern = "^https?://[^?#]+$")]
    pub base_url: String,
    /// The timeout of a request, in seconds.
    #[arg(default = 30, range(1..=300))]
    pub timeout_seconds: u64,
}
