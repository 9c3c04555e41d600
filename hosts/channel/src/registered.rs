//! The platforms whose crates are linked into this program.

use std::fmt;
use std::sync::Arc;

use toolkit::config::Configuration;

use crate::channel::Channel;

/// Why an account cannot be opened: what is wrong, where, and what to do. It names no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(pub String);

/// An account that a configuration names.
#[derive(Clone)]
pub struct Account {
    /// The name of the channel: its key in the section `channels`, which is the name of the platform.
    pub channel: String,
    /// Its id, which is part of the keys of sessions.
    pub id: String,
    /// The account.
    pub account: Arc<dyn Channel>,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("channel", &self.channel)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The accounts of one channel, each with its id.
pub type Accounts = Vec<(String, Arc<dyn Channel>)>;

/// A platform. Created by [`channel!`](crate::channel!).
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// The name of the platform, which is the key of its settings: `channels.<name>.<platform>`.
    pub platform: &'static str,
    /// Opens the accounts that a configuration names. Nothing is sent.
    #[doc(hidden)]
    pub open: fn(&Configuration) -> Result<Vec<Account>, OpenError>,
}

impl Registered {
    /// Opens the accounts that a configuration names. Nothing is sent.
    ///
    /// # Errors
    ///
    /// Settings are wrong, such as a token that is none.
    pub fn open(&self, configuration: &Configuration) -> Result<Vec<Account>, OpenError> {
        (self.open)(configuration)
    }
}

toolkit::__private::inventory::collect!(Registered);

/// The platforms that are linked, by their names.
pub fn registered() -> Vec<&'static Registered> {
    let mut all: Vec<_> = toolkit::__private::inventory::iter::<Registered>().collect();
    all.sort_by_key(|registered| registered.platform);
    all
}

/// Opens the accounts of each channel with settings of a platform.
#[doc(hidden)]
pub fn open_each<T: toolkit::ToolArg>(
    configuration: &Configuration,
    platform: &str,
    open: fn(&T) -> Result<Accounts, OpenError>,
) -> Result<Vec<Account>, OpenError> {
    let mut accounts = Vec::new();
    for (channel, settings) in configuration.each_section::<T>("channels", platform) {
        let at = |reason: String| OpenError(format!("channels.{channel}.{platform}: {reason}"));
        if channel != platform {
            return Err(at(format!(
                "the accounts of a platform stand under its own name: move this to `channels.{platform}.{platform}`"
            )));
        }
        let settings = settings.map_err(|error| at(error.to_string()))?;
        let opened = open(&settings).map_err(|error| at(error.0))?;
        accounts.extend(opened.into_iter().map(|(id, account)| Account {
            channel: channel.clone(),
            id,
            account,
        }));
    }
    Ok(accounts)
}

/// Adds a platform to every program that this crate is linked into: its name, the type of its settings (`#[toolkit::args]`), and a
/// function that opens the accounts which these name: `fn(&Settings) -> Result<Accounts, OpenError>`.
///
/// The settings stand under `channels.<platform>.<platform>`; the function gets them as they are valid by the type's schema.
#[macro_export]
macro_rules! channel {
    (platform: $platform:literal, settings: $settings:ty, open: $open:path $(,)?) => {
        $crate::toolkit::config_section!($crate::toolkit::config::ConfigSection::of_channels::<$settings>(
            $platform
        ));
        $crate::toolkit::__private::inventory::submit! {
            $crate::Registered {
                platform: $platform,
                open: |configuration| $crate::open_each::<$settings>(configuration, $platform, $open),
            }
        }
    };
}
