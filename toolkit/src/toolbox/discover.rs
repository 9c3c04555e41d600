//! Selects the tools that a toolbox shows, and searches the others.

use super::own::Own;
use super::{Scope, Toolbox};
use crate::discovery::{Discovery, SearchHit, Showing, ToolSearch, ToolsFound};
use crate::search::Searched;
use crate::tool::Tool;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use toolkit_core::definition::Definition;
use toolkit_core::diagnostic::{Diagnostic, Level};

/// The shown tools of one toolbox, if its toolkit hides some.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The index of the search tool.
    search: Option<usize>,
    /// The indices of tools that are not shown from the beginning, in order.
    deferred: Vec<usize>,
}

impl Toolbox {
    /// Selects the tools to show. Tools that the session was shown before stay.
    pub(super) fn disclose(&mut self) {
        let Some(discovery) = &self.0.toolkit.discovery else { return };
        let shown = self.0.shown(discovery);
        if let Some(scope) = Arc::get_mut(&mut self.0) {
            scope.tell(shown);
        }
    }

    /// Returns the tools that match a query best, at most `limit`, the best first; of equally good ones, the first by
    /// name. It searches names, titles, groups, descriptions and parameters, tolerates misspellings, and knows plurals
    /// and synonyms. A tool whose exact name or alias is in the query comes before all others.
    ///
    /// Only tools of this toolbox are found, and other tools do not influence the result. The first search of a toolkit
    /// indexes its tools, which takes about a tenth of a second for 10,000 tools. Only the first 1,024 bytes and 32
    /// words of a query count.
    ///
    /// ```
    /// use toolkit::prelude::*;
    ///
    /// /// Deletes a file.
    /// #[tool]
    /// async fn delete_file(/** Path of the file. */ path: &str) {}
    ///
    /// /// Sends a message.
    /// #[tool]
    /// async fn send_message(/** The text. */ text: &str) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolkit = Toolkit::empty()
    ///     .tool(toolkit::tool_ref!(delete_file))
    ///     .tool(toolkit::tool_ref!(send_message))
    ///     .build()?;
    /// let toolbox = toolkit.toolbox(&Caller::new()).await;
    /// assert_eq!(toolbox.search("removing documents", 5)[0].tool.name(), "delete_file");
    /// # Ok(()) }
    /// ```
    pub fn search(&self, query: &str, limit: usize) -> Vec<SearchHit<'_>> {
        self.0.search(query, limit)
    }

    /// Answers a search of a model as `tool_search` does, and shows what it found in the session from now on: for hosts that answer it
    /// themselves. Tools for which `may_be_used` is false are neither found nor named.
    pub fn answer_search(&self, search: &ToolSearch, may_be_used: impl Fn(&Tool) -> bool) -> ToolsFound<'_> {
        let hits = self.search(&search.query, self.0.tools.len()).into_iter().map(|hit| hit.tool);
        let found: Vec<&Tool> = hits.filter(|tool| may_be_used(tool)).take(search.most()).collect();
        self.reveal(found.iter().map(|tool| tool.name()));
        ToolsFound::new(found, || self.tools().filter(|tool| may_be_used(tool)).collect())
    }

    /// Shows tools of this toolbox in the session from now on, like found tools in [`definitions`](Self::definitions):
    /// for hosts with their own search. Returns those that were not shown before. A session remembers 256.
    pub fn reveal<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        self.0.reveal(names)
    }

    /// Returns how a tool's definition reaches a model now; `None` if there is no tool of this name or alias.
    pub fn showing(&self, name: &str) -> Option<Showing> {
        let place = self.0.tools.place(name).filter(|place| self.0.is_allowed(*place))?;
        Some(self.0.showing(place))
    }

    /// Returns true if some tools are not shown from the beginning.
    pub fn defers(&self) -> bool {
        self.0.shown.as_ref().is_some_and(|shown| !shown.deferred.is_empty())
    }

    /// Returns the tools whose definitions a model gets now, in the order of [`definitions`](Self::definitions).
    pub fn shown(&self) -> Vec<&Tool> {
        let tools = &self.0.tools;
        if self.0.shown.is_none() {
            return self.tools().collect();
        }
        let mut shown = Vec::new();
        self.0.session.listed.each(|name, _| {
            let place = tools.place(name).filter(|place| tools[*place].name() == name);
            shown.extend(place.filter(|place| self.0.is_allowed(*place)).map(|place| &tools[place]));
        });
        shown
    }

    /// Returns every definition, with how it reaches a model: those of [`definitions`](Self::definitions), in its
    /// order, then those that are not shown, by name. For providers that defer definitions themselves: see
    /// [`Showing::is_deferred_natively`].
    pub fn all_definitions(&self) -> Vec<(Definition, Showing)> {
        let deferred = self.0.shown.as_ref().map_or(&[][..], |shown| &shown.deferred);
        let left = deferred.iter().filter(|place| self.0.showing(**place) == Showing::Deferred);
        let left = left.map(|place| &self.0.tools[*place]);
        let place = |tool: &Tool| self.0.tools.place(tool.name());
        self.shown()
            .into_iter()
            .chain(left)
            .filter_map(|tool| Some((tool.definition().ok()?, self.0.showing(place(tool)?))))
            .collect()
    }
}

impl Shown {
    fn defers(&self, place: usize) -> bool {
        self.deferred.binary_search(&place).is_ok()
    }
}

impl Scope {
    pub(super) fn search(&self, query: &str, limit: usize) -> Vec<SearchHit<'_>> {
        let Scope { toolkit, tools, searched, .. } = self;
        let may_be_found = |place: usize| self.is_allowed(place) && self.search_place() != Some(place);
        let searched =
            searched.get_or_init(|| Searched::new(&toolkit.search, &toolkit.tools(), tools, may_be_found));
        let mut hits = self.named_in(query, may_be_found);
        let rest = searched.search(query, tools, limit.saturating_add(hits.len()));
        let best = rest.first().map_or(0.0, |(_, score)| *score);
        let mut named: Vec<(usize, f32)> = Vec::with_capacity(hits.len());
        for place in hits.drain(..) {
            let score = rest.iter().find(|(other, _)| *other == place).map_or(0.0, |(_, score)| *score);
            named.push((place, best + score + 1.0));
        }
        let others = rest.into_iter().filter(|(place, _)| named.iter().all(|(other, _)| other != place));
        let hits = named.iter().copied().chain(others).take(limit);
        hits.map(|(place, score)| SearchHit { tool: &tools[place], score }).collect::<Vec<_>>()
    }

    pub(super) fn reveal<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let Some(shown) = &self.shown else { return Vec::new() };
        let is_deferred = |name: &&str| {
            let place = self.tools.place(name);
            place.is_some_and(|place| self.tools[place].name() == *name && shown.defers(place))
        };
        self.session.listed.find(names.into_iter().filter(is_deferred))
    }

    /// Selects the tools to show, and returns a message about the selection, if there is one.
    fn shown(&self, discovery: &Discovery) -> (Shown, Option<String>) {
        let search = self.search_tool();
        let places =
            || (0..self.tools.len()).filter(|place| self.is_allowed(*place) && Some(*place) != search);
        let tools = &self.tools;
        let everything = |why| {
            self.session.listed.show(places().map(|place| tools[place].name()));
            (Shown { search, deferred: Vec::new() }, why)
        };
        if !discovery.exceeds(places().map(|place| &tools[place])) {
            return everything(None);
        }
        let Some(search) = search.filter(|place| self.is_allowed(*place)) else {
            let name = &discovery.name;
            return everything(Some(format!(
                "every definition is shown, though there are more than {}: `{name}`, which finds hidden tools, is not \
                 available to this caller; allow it with `tools.alsoAllow: [\"{name}\"]`",
                discovery.budget()
            )));
        };
        let is_core = discovery.shows();
        let is_shown = |place: &usize| *place == search || is_core(&tools[*place]);
        let all = (0..tools.len()).filter(|place| self.is_allowed(*place));
        let (shown, deferred): (Vec<usize>, Vec<usize>) = all.partition(is_shown);
        let listed = &self.session.listed;
        listed.show(shown.iter().map(|place| tools[*place].name()));
        let mut always = HashSet::new();
        listed.each(|name, found| {
            if !found {
                always.insert(Box::<str>::from(name));
            }
        });
        // Tools that were shown when there were fewer stay shown.
        let deferred: Vec<usize> =
            deferred.into_iter().filter(|place| !always.contains(tools[*place].name())).collect();
        let many =
            discovery.exceeds(shown.iter().filter(|place| **place != search).map(|place| &tools[*place]));
        let why = many.then(|| {
            format!(
                "the always-shown definitions alone are more than {}; list the ones to show in `tools.discovery.show`",
                discovery.budget()
            )
        });
        (Shown { search: Some(search), deferred }, why)
    }

    fn tell(&mut self, (shown, why): (Shown, Option<String>)) {
        self.shown = Some(Box::new(shown));
        if let Some(why) = why {
            let diagnostic = Diagnostic::new(Level::Warning, "discovery", why);
            self.own.get_or_insert_with(|| Box::new(Own::default())).note(diagnostic);
        }
    }

    /// Returns the index of the search tool, if it is the toolkit's own.
    fn search_tool(&self) -> Option<usize> {
        let own = self.toolkit.search_tool.as_ref()?;
        self.tools.place(own.name()).filter(|place| own.is_same(&self.tools[*place]))
    }

    fn search_place(&self) -> Option<usize> {
        self.shown.as_ref()?.search
    }

    fn showing(&self, place: usize) -> Showing {
        match &self.shown {
            None => Showing::Always,
            Some(shown) if shown.search == Some(place) => Showing::Search,
            Some(shown) if !shown.defers(place) => Showing::Always,
            Some(_) if self.session.listed.shows(self.tools[place].name()) => Showing::Found,
            Some(_) => Showing::Deferred,
        }
    }

    /// Records that a tool was called: the model knows it, so it is shown from now on.
    pub(super) fn note_called(&self, place: usize) {
        if let Some(shown) = &self.shown
            && shown.defers(place)
        {
            self.session.listed.find([self.tools[place].name()]);
        }
    }

    /// Returns the indices of the tools whose exact names or aliases are in a query.
    fn named_in(&self, query: &str, may_be_found: impl Fn(usize) -> bool) -> Vec<usize> {
        let query = &query[..query.floor_char_boundary(MAX_BYTES)];
        let words = query
            .split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
            .filter(|word| !word.is_empty());
        let joined = query.split_whitespace().collect::<Vec<_>>().join("_").to_ascii_lowercase();
        let mut places = Vec::new();
        for word in std::iter::once(&*joined).chain(words.filter(|word| word.contains('_'))) {
            let place = self.tools.place(word).filter(|place| may_be_found(*place));
            places.extend(place.filter(|place| !places.contains(place)));
        }
        places
    }
}

/// The maximum length of a query that is searched for names.
const MAX_BYTES: usize = 1_024;

/// The index that is built at the first search of a toolbox.
pub(super) type OnceSearched = OnceLock<Searched>;
