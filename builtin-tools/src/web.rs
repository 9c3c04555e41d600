//! The web: fetched and searched through a guarded client.
//!
//! Every request goes through `toolkit_http`, which checks the address of each connection; its documentation lists the guarantees.
//! The content of a page is data for the model, not instructions: `web_fetch` encloses it in marks with a number that is random for
//! each call, so that a page cannot close them.

mod cache;
mod extract;
mod fetch;
mod reader;
mod search;

pub use extract::{ExtractedPage, extract_page};
pub use fetch::{PageDetails, PageFormat, PagePicture, PageText, web_fetch};
pub use reader::{PageQuestion, PageReader, Reading};
pub use search::{Freshness, ProviderState, SearchResult, SearchResults, search_providers, web_search};
