//! An index from names and aliases to tools: a hash table that owns no text and hashes cheaply. Only authors of tools
//! choose its keys, so it needs no protection against chosen collisions.

use crate::tool::Tool;

/// An index from names to tools.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// At most half of the slots are used.
    slots: Vec<Entry>,
    taken: usize,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u32,
    /// The tool's index; `NOWHERE` in a free slot. Not an `Option`, because a branch on a free slot is unpredictable
    /// for a processor.
    place: u32,
    /// The number of the tool's alias, from 1; 0 for its name.
    alias: u32,
}

const NOWHERE: u32 = u32::MAX;

const FREE: Entry = Entry { hash: 0, place: NOWHERE, alias: 0 };

impl Index {
    /// Creates an index with room for this many names.
    pub(super) fn with_capacity(names: usize) -> Self {
        Self { slots: vec![FREE; names * 2], taken: 0 }
    }

    /// Returns the index of the tool of this name or alias.
    pub(crate) fn get(&self, name: &str, tools: &[Tool]) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let hash = hash(name);
        let mut at = slot(hash, self.slots.len());
        // Half of the slots are free, so this ends.
        loop {
            let entry = self.slots[at];
            if entry.is_free() {
                return None;
            }
            if entry.hash == hash && entry.name(tools) == Some(name) {
                return Some(entry.place as usize);
            }
            at = self.after(at);
        }
    }

    /// Adds the name of the tool at `place`, or its alias of the number `alias`, from 1. The name must not be in the
    /// index yet.
    pub(super) fn insert(&mut self, name: &str, place: usize, alias: usize) {
        if self.slots.len() < (self.taken + 1) * 2 {
            let mut larger = Self::with_capacity((self.taken + 1) * 2);
            self.slots.iter().filter(|entry| !entry.is_free()).for_each(|entry| larger.put(*entry));
            *self = larger;
        }
        self.put(Entry { hash: hash(name), place: small(place), alias: small(alias) });
    }

    /// Adjusts the indices for a tool that is inserted at `place`.
    pub(super) fn shift_up(&mut self, place: usize) {
        let place = small(place);
        for entry in &mut self.slots {
            entry.place += u32::from((entry.place >= place) & !entry.is_free());
        }
    }

    /// Removes all names of the tool at `place`, which is removed.
    pub(super) fn remove_place(&mut self, place: usize, tool: &Tool) {
        for (alias, name) in std::iter::once(tool.name()).chain(tool.aliases()).enumerate() {
            self.remove(name, place, alias);
        }
        let place = small(place);
        for entry in &mut self.slots {
            entry.place -= u32::from((entry.place > place) & !entry.is_free());
        }
    }

    /// Removes a name if it leads to this tool: an alias may lead to another one.
    fn remove(&mut self, name: &str, place: usize, alias: usize) {
        if self.slots.is_empty() {
            return;
        }
        let hash = hash(name);
        let is_it =
            |entry: Entry| (entry.hash, entry.place as usize, entry.alias as usize) == (hash, place, alias);
        let mut free = slot(hash, self.slots.len());
        while !is_it(self.slots[free]) {
            if self.slots[free].is_free() {
                return;
            }
            free = self.after(free);
        }
        self.taken -= 1;
        // Entries behind it move up as far as possible, because a search ends at the first free slot.
        let mut at = self.after(free);
        while !self.slots[at].is_free() {
            let entry = self.slots[at];
            let home = slot(entry.hash, self.slots.len());
            if self.distance(home, at) >= self.distance(free, at) {
                self.slots[free] = entry;
                free = at;
            }
            at = self.after(at);
        }
        self.slots[free] = FREE;
    }

    /// Returns the number of steps from one slot to another, wrapping around.
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.slots.len() - from }
    }

    fn put(&mut self, entry: Entry) {
        let mut at = slot(entry.hash, self.slots.len());
        while !self.slots[at].is_free() {
            at = self.after(at);
        }
        self.slots[at] = entry;
        self.taken += 1;
    }

    /// Returns the next slot, wrapping around.
    fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.slots.len() { 0 } else { slot + 1 }
    }
}

impl Entry {
    fn is_free(self) -> bool {
        self.place == NOWHERE
    }

    fn name<'a>(&self, tools: &'a [Tool]) -> Option<&'a str> {
        let tool = &tools[self.place as usize];
        match self.alias {
            0 => Some(tool.name()),
            alias => tool.aliases().nth(alias as usize - 1),
        }
    }
}

fn small(count: usize) -> u32 {
    let small = u32::try_from(count).ok().filter(|small| *small != NOWHERE);
    small.expect("a program has fewer than 2^32 - 1 tools")
}

/// Returns the slot of a hash: its upper bits, which depend on all bytes of a name.
fn slot(hash: u32, slots: usize) -> usize {
    ((u64::from(hash) * slots as u64) >> 32) as usize
}

fn hash(name: &str) -> u32 {
    // Like the hash tables of rustc: a rotation, an exclusive or and a product for each eight bytes.
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (words, rest) = name.as_bytes().as_chunks::<8>();
    let hash = words.iter().fold(name.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |rest, byte| rest << 8 | u64::from(*byte));
    let [.., a, b, c, d] = mix(hash, rest).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_no_other() {
        let tools: Vec<Tool> =
            (0..3_000).map(|number| Tool::nameless().named(format!("a_tool_{number}"))).collect();
        let mut index = Index::default();
        assert_eq!(index.get("a_tool_0", &tools), None);
        for (place, tool) in tools.iter().enumerate() {
            assert_eq!(index.get(tool.name(), &tools), None);
            index.insert(tool.name(), place, 0);
        }
        for (place, tool) in tools.iter().enumerate() {
            assert_eq!(index.get(tool.name(), &tools), Some(place));
        }
        for name in ["", "a_tool_", "a_tool_3000", "A_tool_1"] {
            assert_eq!(index.get(name, &tools), None, "{name}");
        }
    }

    #[test]
    fn what_is_taken_out_is_gone_and_the_rest_is_found() {
        // Few slots, so that names collide.
        let mut tools: Vec<Tool> = Vec::new();
        let mut index = Index::default();
        let mut random = 1_u64;
        for step in 0..4_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (random >> 33) as usize % (tools.len() + 1);
            if tools.len() < 40 && random >> 63 == 0 || tools.is_empty() {
                let tool = Tool::nameless().named(format!("tool_{step}"));
                index.shift_up(at);
                tools.insert(at, tool);
                index.insert(tools[at].name(), at, 0);
            } else {
                let at = at % tools.len();
                index.remove_place(at, &tools[at]);
                let gone = tools.remove(at);
                assert_eq!(index.get(gone.name(), &tools), None);
            }
            assert_eq!(index.taken, tools.len());
            for (place, tool) in tools.iter().enumerate() {
                assert_eq!(index.get(tool.name(), &tools), Some(place), "after {step} steps");
            }
        }
    }

    #[test]
    fn similar_names_do_not_pile_up() {
        let hashes = |names: &dyn Fn(usize) -> String| {
            let mut slots: Vec<usize> = (0..1_000).map(|number| slot(hash(&names(number)), 2_048)).collect();
            slots.sort_unstable();
            slots.dedup();
            slots.len()
        };
        // In 1,000 random draws of 2,048 slots, about 791 distinct slots are drawn.
        assert!(hashes(&|number| format!("tool_{number}")) > 600);
        assert!(hashes(&|number| format!("{number}_of_a_longer_name")) > 600);
        assert!(hashes(&|number| format!("{number:08}")) > 600);
    }
}
