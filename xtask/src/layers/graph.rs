//! Which module of a crate imports which.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::layers::scan::{self, Import, Scan};
use crate::source::SourceFile;

/// The most names that a path is followed through.
const MAX_NAMES: usize = 16;

/// A module's path below its crate's root.
type Path = Vec<String>;

/// The modules of one crate and what they import; code for tests is left out.
pub(super) struct Modules {
    imports: Vec<(Path, Import, String)>,
    known: BTreeSet<Path>,
    /// Where each name of a module comes from.
    names: BTreeMap<(Path, String), Path>,
}

/// The imports between the modules of one parent.
pub(super) struct Graph {
    /// For each module the modules that it imports, with the first import of each.
    modules: BTreeMap<String, BTreeMap<String, Place>>,
}

pub(super) struct Place {
    pub(super) path: String,
    /// Counted from 1.
    pub(super) line: usize,
}

impl Modules {
    /// Reads the sources of the crate in a folder.
    pub(super) fn of_crate(files: &[SourceFile], folder: &str) -> Self {
        let source = format!("{folder}/src/");
        let mut scanned: Vec<(&SourceFile, Path, Scan)> = files
            .iter()
            .filter(|file| file.is_rust())
            .filter_map(|file| {
                let module = module_path(file.path.strip_prefix(&source)?)?;
                let scan = scan::scan(&file.text, &module);
                Some((file, module, scan))
            })
            .collect();
        let for_tests: BTreeSet<Path> =
            scanned.iter().flat_map(|(_, _, scan)| scan.test_modules.iter().cloned()).collect();
        scanned
            .retain(|(_, module, _)| !(1..=module.len()).any(|length| for_tests.contains(&module[..length])));
        let known: BTreeSet<Path> = scanned.iter().flat_map(|(_, module, _)| prefixes(module)).collect();
        let names = names(&scanned, &known);
        let imports = scanned
            .into_iter()
            .flat_map(|(file, module, scan)| {
                let of_file = move |import| (module.clone(), import, file.path.clone());
                scan.imports.into_iter().map(of_file)
            })
            .collect();
        Self { imports, known, names }
    }

    /// Returns the modules that have others below them, the root (an empty path) first.
    pub(super) fn parents(&self) -> BTreeSet<&[String]> {
        self.known.iter().filter_map(|module| Some(module.split_last()?.1)).collect()
    }

    /// Returns the imports between the modules directly below one.
    pub(super) fn below(&self, parent: &[String]) -> Graph {
        let mut modules: BTreeMap<String, BTreeMap<String, Place>> = self
            .known
            .iter()
            .filter_map(|module| Some((child_of(parent, module)?.to_owned(), BTreeMap::new())))
            .collect();
        for (module, import, path) in &self.imports {
            let Some(from) = child_of(parent, module) else { continue };
            let target = self.resolve(&import.path);
            if let Some(to) = child_of(parent, &target).filter(|to| *to != from)
                && modules.contains_key(to)
                && let Some(imports) = modules.get_mut(from)
            {
                let place = || Place { path: path.clone(), line: import.line };
                imports.entry(to.to_owned()).or_insert_with(place);
            }
        }
        Graph { modules }
    }

    /// Follows the names in a path to the modules that have what it names.
    fn resolve(&self, path: &[String]) -> Path {
        let mut path = path.to_vec();
        for _ in 0..MAX_NAMES {
            // The first segment that is a name of its module and no module itself.
            let named = (0..path.len())
                .take_while(|at| *at == 0 || self.known.contains(&path[..*at]))
                .filter(|at| !self.known.contains(&path[..=*at]))
                .find_map(|at| Some((at, self.names.get(&(path[..at].to_vec(), path[at].clone()))?)));
            let Some((at, target)) = named else { break };
            let rest = path.split_off(at + 1);
            path.clone_from(target);
            path.extend(rest);
        }
        path
    }
}

impl Graph {
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

/// A module and all that it is in, without the crate's root.
fn prefixes(module: &[String]) -> impl Iterator<Item = Path> {
    (1..=module.len()).map(|length| module[..length].to_vec())
}

/// The module directly below a parent that a path leads into.
fn child_of<'a>(parent: &[String], path: &'a [String]) -> Option<&'a str> {
    path.strip_prefix(parent)?.first().map(String::as_str)
}

/// The path of a file's module below its crate's root. A file of another program of the package has none.
fn module_path(file: &str) -> Option<Path> {
    let mut path: Path = file.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    match path.last().map(String::as_str) {
        Some("lib" | "main") if path.len() == 1 => path.clear(),
        Some("mod") => path.truncate(path.len() - 1),
        _ => {}
    }
    if path.first().is_some_and(|first| first == "bin") { None } else { Some(path) }
}

/// The names of modules that stand for parts of the crate, each with the place from the root.
fn names(scanned: &[(&SourceFile, Path, Scan)], known: &BTreeSet<Path>) -> BTreeMap<(Path, String), Path> {
    let mut names = BTreeMap::new();
    for name in scanned.iter().flat_map(|(_, _, scan)| &scan.names) {
        let path = if name.from_root {
            name.path.clone()
        } else {
            let Some(first) = name.path.first() else { continue };
            let below = [&name.module[..], std::slice::from_ref(first)].concat();
            // A crate of that name is meant.
            if !known.contains(&below) {
                continue;
            }
            [&name.module[..], &name.path[..]].concat()
        };
        let own = [&name.module[..], std::slice::from_ref(&name.local)].concat();
        if path != own {
            names.insert((name.module.clone(), name.local.clone()), path);
        }
    }
    names
}
