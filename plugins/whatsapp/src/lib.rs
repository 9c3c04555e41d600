//! Tools for conversations on WhatsApp, by its
//! [Cloud API](https://developers.facebook.com/documentation/business-messaging/whatsapp).
//!
//! `whatsapp_send_contact` sends contact cards, `whatsapp_send_location` a place. They are available only in sessions of the channel
//! `whatsapp`. A host needs `toolkit::link!(toolkit_whatsapp)`, an access token and the ID of a business phone number:
//!
//! ```json5
//! {
//!   plugins: {
//!     whatsapp: {
//!       token: "${env:WHATSAPP_TOKEN}", // or { file: "whatsapp-token" }
//!       phoneNumberId: "106540352242922",
//!     },
//!   },
//!   permission: { message: [{ match: "whatsapp:+16505551234", do: "allow" }] }, // asked for otherwise
//! }
//! ```
//!
//! # Whom they reach
//!
//! The recipient is the caller's conversation (`Caller::conversation_id`), a phone number, unless the call names another by `to`. Either
//! way it needs approval, under the kind `message` with the pattern `whatsapp:+<number>`. Numbers are in E.164 format; one without a plus
//! gets it, since WhatsApp would otherwise prepend the sender's country code. In Mexico, Argentina and Brazil a mobile number has two
//! forms, with a digit more or less, that reach the same person: there both need approval, so that denying one denies the other, and both
//! must be allowed.
//!
//! # What fails, and whether to try again
//!
//! The Graph API's description of a failure is returned, by its code, with the time to wait if a limit was exceeded. A request that was
//! refused or never arrived was not sent, nor was one that a proxy rejected as too much (HTTP status 429, or 503 with `Retry-After`). One
//! whose answer is missing may have been: then no error advises to send it again.
//!
//! # Limits
//!
//! A message has 257 contacts at most, as documented; texts have bounds of this plugin's own. A request waits for 30 seconds
//! (`timeoutSeconds`); an answer has 1 MiB at most.

mod contact;
mod fault;
mod graph;
mod location;
mod recipient;
mod settings;

pub use graph::CloudApi;
pub use settings::WhatsAppSettings;

// Its clients have no provider of cryptography of their own, nor has then any other client of the program.
toolkit::at_start!(toolkit_http::install_provider);

toolkit::plugin! {
    id: "whatsapp",
    title: "WhatsApp",
    description: "Contacts and places in conversations on WhatsApp.",
    channel: "whatsapp",
}
