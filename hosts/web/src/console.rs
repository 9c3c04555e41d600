//! The web console: a page on which a person sees tools, fills their arguments in, and runs them.

mod assets;
mod codes;
mod pages;
mod smaller;

pub use pages::ConsolePages;

use crate::service::{Serving, Tokens};
use crate::web::Web;
use crate::{Asking, WebOptions};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use toolkit::{CancellationToken, Toolkit};
use toolkit_serve::{AsListener, new_token};

/// A console over the tools of a toolkit.
///
/// It listens on this machine, and has one token, which lives as long as it does. A person gets the token with a code that counts once, for a
/// minute: [`open`](Self::open) makes an address with one.
///
/// ```no_run
/// use toolkit::prelude::*;
/// use toolkit_web::Console;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let console = Console::new(Toolkit::builder().build()?)?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// println!("{}", console.open(listener.local_addr()?)?);
/// console.serve(listener).await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Console {
    web: Web,
    token: Arc<str>,
    pages: ConsolePages<()>,
}

impl std::fmt::Debug for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Console").finish_non_exhaustive()
    }
}

impl Console {
    /// Creates a console. The person who opens it answers the questions of calls, and is told paths on this machine.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the system has no random numbers.
    pub fn new(toolkit: Toolkit) -> io::Result<Self> {
        let mut options = WebOptions::new().asking(Asking::Served);
        options.is_owner = true;
        Self::with(Web::new(toolkit, options))
    }

    /// Creates a console over a service with options of its own.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with(web: Web) -> io::Result<Self> {
        let token: Arc<str> = new_token()?.into();
        let given = Arc::clone(&token);
        let pages = ConsolePages::new(move |()| std::future::ready(Ok(given.to_string())));
        Ok(Self { web, token, pages })
    }

    /// Returns the address of the page, with a new code. The page exchanges it for the token; it counts once, within 60 seconds.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn open(&self, address: SocketAddr) -> io::Result<String> {
        Ok(format!("http://{address}/#code={}", self.pages.code(())?))
    }

    /// Serves the console and all routes of [`Web::serve`] until the shutdown of the options.
    ///
    /// # Errors
    ///
    /// As [`Web::serve`].
    pub fn serve(&self, listener: impl AsListener) -> Serving {
        let pages = self.pages.routes();
        self.web.serve_within(Tokens::shared(&*self.token), listener, |inner| pages.fallback_service(inner))
    }

    /// Returns the token that ends the service.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.web.options().shutdown
    }
}
