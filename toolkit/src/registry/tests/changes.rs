//! Tests that no reader sees half a change of the tools, or waits for a change.

use crate::registry::RegisterError;
use crate::registry::index::Index;
use crate::registry::origins::Origins;
use crate::registry::register::Registry;
use crate::registry::tools::{FIRST, Tools};
use crate::tool::Tool;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// A list of tools that many threads change and read.
trait Board: Sync {
    /// Adds or removes the two tools of a thread, atomically.
    fn switch(&self, thread: usize, on: bool);
    fn look(&self) -> Look;
}

/// The state that a reader saw at one moment.
struct Look {
    names: Vec<String>,
    /// The targets of each name, and of its alias, in the index.
    found: Vec<(Option<usize>, Option<usize>)>,
}

impl Look {
    fn of(tools: &[Tool], index: impl Fn(&str) -> Option<usize>) -> Self {
        let names: Vec<String> = tools.iter().map(|tool| tool.name().to_owned()).collect();
        let found = tools.iter().map(|tool| (index(tool.name()), tool.aliases().next().and_then(&index)));
        Self { found: found.collect(), names }
    }

    /// Returns the inconsistency of the state, if there is one.
    fn tear(&self) -> Option<String> {
        if !self.names.is_sorted() {
            return Some(format!("not by name: {:?}", self.names));
        }
        for (place, name) in self.names.iter().enumerate() {
            if self.found[place] != (Some(place), Some(place)) {
                return Some(format!("`{name}` at {place} is found at {:?}", self.found[place]));
            }
            let other = match name.strip_suffix("_one") {
                Some(of) => format!("{of}_two"),
                None => format!("{}_one", name.trim_end_matches("_two")),
            };
            if !self.names.contains(&other) {
                return Some(format!("`{name}` is there without `{other}`"));
            }
        }
        None
    }
}

fn pair(thread: usize) -> [Tool; 2] {
    ["one", "two"].map(|which| {
        Tool::builder(format!("tool_{thread}_{which}"))
            .alias(format!("alias_{thread}_{which}"))
            .build(|_, _| async {})
            .expect("a tool")
    })
}

struct Sound {
    registry: Registry,
    origins: Origins,
}

impl Board for Sound {
    fn switch(&self, thread: usize, on: bool) {
        let done: Result<(), RegisterError> = self.registry.change(|edit, _| {
            for tool in pair(thread) {
                match edit.place(tool.name()) {
                    Some(place) if !on => drop(edit.remove(place)),
                    None if on => edit.insert(tool, FIRST, &self.origins)?,
                    there => panic!("it is there or not: {there:?}"),
                }
            }
            Ok(())
        });
        done.expect("nobody else has these names");
    }

    fn look(&self) -> Look {
        let tools = self.registry.snapshot();
        Look::of(&tools, |name| tools.place(name))
    }
}

/// The bug that the test must detect: the list and its index are changed one after the other.
#[derive(Default)]
struct Torn {
    tools: Mutex<Vec<Tool>>,
    index: Mutex<Index>,
    writing: Mutex<()>,
    looks: AtomicUsize,
}

impl Board for Torn {
    fn switch(&self, thread: usize, on: bool) {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tools = self.tools.lock().expect("no panic").clone();
        let of_pair = pair(thread);
        tools.retain(|tool| of_pair.iter().all(|other| other.name() != tool.name()));
        if on {
            tools.extend(of_pair);
            tools.sort_by(|one, other| one.name().cmp(other.name()));
        }
        let mut index = Index::default();
        for (place, tool) in tools.iter().enumerate() {
            index.insert(tool.name(), place, 0);
            index.insert(tool.aliases().next().expect("it has one"), place, 1);
        }
        *self.tools.lock().expect("no panic") = tools;
        // A second reader starts after the first one ended.
        let looks = self.looks.load(Ordering::SeqCst);
        while self.looks.load(Ordering::SeqCst) < looks + 2 {
            thread::yield_now();
        }
        *self.index.lock().expect("no panic") = index;
    }

    fn look(&self) -> Look {
        let tools = self.tools.lock().expect("no panic").clone();
        let index = self.index.lock().expect("no panic").clone();
        // An index beyond the end counts as missing.
        let look = Look::of(&tools, |name| {
            catch_unwind(AssertUnwindSafe(|| index.get(name, &tools))).ok().flatten()
        });
        self.looks.fetch_add(1, Ordering::SeqCst);
        look
    }
}

/// Lets eight threads change a board `changes` times each, while two read it. Returns the first inconsistency seen.
fn first_tear(board: &impl Board, changes: usize) -> Option<String> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let over = &over;
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    let mut tear = None;
                    while !over.load(Ordering::SeqCst) {
                        tear = tear.or(board.look().tear());
                    }
                    tear.or(board.look().tear())
                })
            })
            .collect();
        let writers: Vec<_> = (0..8)
            .map(|thread| {
                scope.spawn(move || (0..changes).for_each(|change| board.switch(thread, change % 2 == 0)))
            })
            .collect();
        let written = writers.into_iter().map(|writer| writer.join().is_ok()).collect::<Vec<_>>();
        over.store(true, Ordering::SeqCst);
        let seen = readers.into_iter().find_map(|reader| reader.join().expect("it only looks"));
        assert!(written.into_iter().all(|ok| ok), "a writer stopped");
        seen
    })
}

#[test]
fn nobody_sees_half_a_change() {
    let board = Sound { registry: Registry::default(), origins: Origins::default() };
    assert_eq!(first_tear(&board, 2_500), None);
    assert_eq!(board.registry.version(), 20_000);
    assert_eq!(board.registry.snapshot().len(), 0);
}

/// The list that is changed next is the one before the current one, updated, or a copy if a reader holds that one: the
/// result is the same, and a held list does not change.
#[test]
fn a_spare_list_is_as_good_as_a_copy() {
    let (spared, copied) = (Registry::default(), Registry::default());
    let origins = Origins::default();
    let mut random = 1_u64;
    let mut held: Vec<(Tools, Vec<String>)> = Vec::new();
    for step in 0..2_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (pick, other) = ((random >> 33) as usize % 30, (random >> 45) as usize % 30);
        // Some changes fail before, or after, they have changed something.
        let steps = [pick, other, pick].into_iter().take(1 + step % 3);
        let steps: Vec<(usize, bool)> = steps.map(|number| (number, step % 7 == 0)).collect();
        let apply = |registry: &Registry| {
            registry.change(|edit, last| {
                for (number, fails) in &steps {
                    let tool = Tool::builder(format!("tool_{number}")).alias(format!("alias_{number}"));
                    match edit.place(&format!("tool_{number}")) {
                        Some(_) if *fails => return Err(()),
                        Some(place) => drop(edit.remove(place)),
                        None => {
                            *last += 1;
                            let tool = tool.build(|_, _| async {}).expect("a tool");
                            edit.insert(tool, *last, &origins).map_err(|_| ())?;
                        }
                    }
                }
                Ok(())
            })
        };
        let before = copied.snapshot();
        let look = |registry: &Registry| {
            let tools = registry.snapshot();
            let look = Look::of(&tools, |name| tools.place(name));
            let still = before.iter().enumerate().map(|(place, _)| before.is_still_in(place, &tools));
            (look.names, look.found, tools.version(), still.collect::<Vec<_>>())
        };
        // A reader always holds the current list of one toolkit, so that its lists are never reused.
        assert_eq!(apply(&spared), apply(&copied));
        let (one, two) = (look(&spared), look(&copied));
        assert_eq!(one, two, "after {step} steps");
        assert!(
            one.1.iter().enumerate().all(|(place, found)| *found == (Some(place), Some(place))),
            "{one:?}"
        );
        if step % 50 == 0 {
            held.push((spared.snapshot(), one.0));
        }
    }
    for (tools, names) in held {
        assert!(
            tools.iter().map(Tool::name).eq(names.iter().map(String::as_str)),
            "it has changed: {tools:?}"
        );
    }
}

#[test]
fn what_was_taken_out_is_let_go() {
    let registry = Registry::default();
    let state = std::sync::Arc::new(());
    let tool = Tool::nameless().named("tool").with_shared_state(std::sync::Arc::clone(&state));
    let origins = Origins::default();
    registry.change(|edit, _| edit.insert(tool, FIRST, &origins)).expect("it is free");
    registry
        .change(|edit, _| edit.insert(Tool::nameless().named("other"), FIRST, &origins))
        .expect("it is free");
    let place = registry.snapshot().place("tool").expect("it is there");
    let removed: Result<(), ()> = registry.change(|edit, _| {
        drop(edit.remove(place));
        Ok(())
    });
    removed.expect("it was there");
    assert_eq!(std::sync::Arc::strong_count(&state), 1, "nothing holds it any more");
}

#[test]
fn a_list_changed_before_its_index_is_noticed() {
    let tear = first_tear(&Torn::default(), 4);
    assert!(tear.is_some());
}

#[test]
fn readers_go_on_while_a_change_is_made() {
    let registry = Registry::default();
    let (began, begins) = mpsc::channel();
    let (looked, looks) = mpsc::channel();
    thread::scope(|scope| {
        let registry = &registry;
        scope.spawn(move || {
            begins.recv().expect("a change");
            for _ in 0..1_000 {
                assert_eq!((registry.snapshot().len(), registry.version()), (0, 0));
            }
            looked.send(()).expect("it waits");
        });
        let done = registry.change(|edit, _| {
            began.send(()).expect("it waits");
            // The test measures nothing; without the readers it would never end.
            looks.recv_timeout(Duration::from_mins(1)).map_err(|error| error.to_string())?;
            edit.insert(Tool::nameless().named("late"), FIRST, &Origins::default())
                .map_err(|error| error.to_string())
        });
        assert_eq!(done, Ok(()));
    });
    assert_eq!((registry.snapshot().len(), registry.version()), (1, 1));
}
