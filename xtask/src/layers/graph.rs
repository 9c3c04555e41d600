//! Which module of a crate imports which.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::layers::scan::{self, Scan};
use crate::source::SourceFile;

/// The imports between the modules at the root of one crate.
pub(super) struct Graph {
    /// For each module the modules that it imports, with the first import of each.
    modules: BTreeMap<String, BTreeMap<String, Place>>,
}

pub(super) struct Place {
    pub(super) path: String,
    /// Counted from 1.
    pub(super) line: usize,
}

impl Graph {
    /// Reads the sources of the crate in a folder.
    pub(super) fn of_crate(files: &[SourceFile], folder: &str) -> Self {
        let source = format!("{folder}/src/");
        let scanned: Vec<(&SourceFile, Vec<String>, Scan)> = files
            .iter()
            .filter(|file| file.is_rust())
            .filter_map(|file| {
                let module = module_path(file.path.strip_prefix(&source)?)?;
                let scan = scan::scan(&file.text, &module);
                Some((file, module, scan))
            })
            .collect();
        let for_tests: BTreeSet<&[String]> =
            scanned.iter().flat_map(|(_, _, scan)| scan.test_modules.iter().map(Vec::as_slice)).collect();
        let is_for_tests =
            |module: &[String]| (1..=module.len()).any(|length| for_tests.contains(&module[..length]));
        let mut modules: BTreeMap<String, BTreeMap<String, Place>> = scanned
            .iter()
            .filter(|(_, module, _)| !is_for_tests(module))
            .filter_map(|(_, module, _)| Some((module.first()?.clone(), BTreeMap::new())))
            .collect();
        let known: BTreeSet<String> = modules.keys().cloned().collect();
        let names = root_names(&scanned, &known);
        for (file, module, scan) in &scanned {
            let Some(from) = module.first().filter(|_| !is_for_tests(module)) else { continue };
            for import in &scan.imports {
                let target = import
                    .path
                    .first()
                    .and_then(|first| if known.contains(first) { Some(first) } else { names.get(first) });
                if let Some(to) = target.filter(|to| *to != from)
                    && let Some(imports) = modules.get_mut(from)
                {
                    let place = || Place { path: file.path.clone(), line: import.line };
                    imports.entry(to.clone()).or_insert_with(place);
                }
            }
        }
        Self { modules }
    }

    pub(super) fn has(&self, module: &str) -> bool {
        self.modules.contains_key(module)
    }

    /// Returns where one module first imports another.
    pub(super) fn import(&self, from: &str, to: &str) -> Option<&Place> {
        self.modules.get(from)?.get(to)
    }

    pub(super) fn imports(&self) -> impl Iterator<Item = (&str, &str, &Place)> {
        self.modules.iter().flat_map(|(from, imports)| {
            imports.iter().map(move |(to, place)| (from.as_str(), to.as_str(), place))
        })
    }

    /// Returns for each module in a cycle a shortest one, which begins and ends with it.
    pub(super) fn cycles(&self) -> Vec<Vec<&str>> {
        self.modules.keys().filter_map(|module| self.cycle_of(module)).collect()
    }

    fn cycle_of<'a>(&'a self, start: &'a str) -> Option<Vec<&'a str>> {
        let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(module) = queue.pop_front() {
            for next in self.modules.get(module).into_iter().flat_map(BTreeMap::keys) {
                if came_from.contains_key(next.as_str()) {
                    continue;
                }
                came_from.insert(next, module);
                if next == start {
                    let mut cycle = vec![start];
                    let mut at = module;
                    while at != start {
                        cycle.push(at);
                        at = came_from[at];
                    }
                    cycle.push(start);
                    cycle.reverse();
                    return Some(cycle);
                }
                queue.push_back(next);
            }
        }
        None
    }
}

/// The path of a file's module below its crate's root. A file of another program of the package has none.
fn module_path(file: &str) -> Option<Vec<String>> {
    let mut path: Vec<String> = file.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    match path.last().map(String::as_str) {
        Some("lib" | "main") if path.len() == 1 => path.clear(),
        Some("mod") => path.truncate(path.len() - 1),
        _ => {}
    }
    if path.first().is_some_and(|first| first == "bin") { None } else { Some(path) }
}

/// The names at the crate's root that are a module's, each with the module.
fn root_names(
    scanned: &[(&SourceFile, Vec<String>, Scan)],
    known: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    let roots = || scanned.iter().filter(|(_, module, _)| module.is_empty()).map(|(_, _, scan)| scan);
    let mut names: BTreeMap<String, String> = roots()
        .flat_map(|scan| scan.renamed.iter().cloned())
        .filter(|(_, file)| known.contains(file))
        .collect();
    for (name, path) in roots().flat_map(|scan| &scan.root_names) {
        if let Some(first) = path.first()
            && known.contains(first)
            && name != first
        {
            names.insert(name.clone(), first.clone());
        }
    }
    names
}
