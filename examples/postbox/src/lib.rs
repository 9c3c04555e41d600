//! Postbox as a chat channel.

mod account;
mod events;
mod requests;
mod settings;

pub use settings::PostboxSettings;

// The clients of `reqwest` have no provider of cryptography of their own.
toolkit::at_start!(toolkit_http::install_provider);

toolkit_channel::channel! {
    platform: "postbox",
    settings: PostboxSettings,
    open: settings::open,
}
