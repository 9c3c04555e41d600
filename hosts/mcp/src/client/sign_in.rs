//! The trait by which a person signs in to a server.

use std::fmt;
use std::pin::Pin;

/// Brings a person to where a server lets them sign in.
///
/// [`Loopback`](super::Loopback) is one for a person at this machine.
pub trait SignIn: fmt::Debug + Send + Sync {
    /// The address that the person's browser is sent back to. Servers hear of it beforehand.
    fn redirect_uri(&self) -> String;

    /// Lets the user open `url` to sign in to `server`, and returns the whole URL that the browser was redirected to.
    ///
    /// # Errors
    ///
    /// Returns the reason for which no user signed in, as text for people.
    fn sign_in<'a>(&'a self, server: &'a str, url: &'a str) -> SigningIn<'a>;
}

/// Future returned by [`SignIn::sign_in`].
pub type SigningIn<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;
