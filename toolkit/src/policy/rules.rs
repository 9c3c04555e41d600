//! One layer of a policy: what it says of a tool.

use super::data::Registered;
use super::entry::normalised;
use super::lists::{Kind, ListId, Lists, Marks, Place, escaped};
use super::settings::{ProfileRules, ToolRules};
use super::verdict::PolicyVerdict;
use crate::name::nearest;
use std::collections::{BTreeMap, HashMap};

/// The layers, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    Profile,
    Provider,
    Global,
    Agent,
    Channel,
    Group,
    Sender,
    Sandbox,
    Subagents,
}

impl Layer {
    pub(super) const ALL: [Self; 9] = [
        Self::Profile,
        Self::Provider,
        Self::Global,
        Self::Agent,
        Self::Channel,
        Self::Group,
        Self::Sender,
        Self::Sandbox,
        Self::Subagents,
    ];
}

/// What one layer says of tools, with its lists in the index.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) layer: Layer,
    /// What it is called: "the rules of agent `kid`".
    pub(super) title: String,
    /// Where it stands in the configuration.
    pub(super) pointer: String,
    pub(super) profile: Option<Chosen>,
    pub(super) also_allow: Option<ListId>,
    pub(super) allow: Option<ListId>,
    pub(super) deny: Option<ListId>,
}

/// The profile that a layer begins with.
#[derive(Debug)]
pub(super) struct Chosen {
    /// As it was written.
    pub(super) name: String,
    /// What it stands for: all of them hold. Empty where there is no such profile.
    pub(super) profiles: Vec<Profile>,
    /// The nearest name that there is, for one that isn't.
    pub(super) near: Option<String>,
}

/// A profile, with its lists in the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Profile {
    /// Every tool where `None`.
    pub(super) allow: Option<ListId>,
    pub(super) deny: Option<ListId>,
}

/// Why a layer says what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// There is no rule at all.
    NoRule,
    /// An entry of the deny list.
    Denied(ListId),
    /// An entry of the profile's deny list.
    ProfileDenies(ListId),
    NoSuchProfile,
    /// No entry of the profile, nor of `alsoAllow`.
    NotInProfile,
    /// No entry of the allow list.
    NotAllowed(ListId),
    /// An entry of the allow list.
    Allowed(ListId),
    /// An entry of the profile.
    InProfile(ListId),
    /// An entry of `alsoAllow`.
    AlsoAllowed(ListId),
    /// The profile has every tool.
    InFullProfile,
    /// No entry of the deny list, and there is no other list.
    NotDenied(ListId),
}

impl Rules {
    /// What the layer says of the tool that the marks are of.
    pub(super) fn judge(&self, marks: &Marks) -> (PolicyVerdict, Why) {
        let has = |list: &Option<ListId>| list.filter(|list| marks.has(*list));
        if let Some(list) = has(&self.deny) {
            return (PolicyVerdict::Denies, Why::Denied(list));
        }
        let mut why = self.deny.map_or((PolicyVerdict::Silent, Why::NoRule), |list| {
            (PolicyVerdict::Allows, Why::NotDenied(list))
        });
        if let Some(chosen) = &self.profile {
            if let Some(list) = chosen.profiles.iter().find_map(|profile| has(&profile.deny)) {
                return (PolicyVerdict::Denies, Why::ProfileDenies(list));
            }
            why = (
                PolicyVerdict::Allows,
                match (chosen.admits(marks), has(&self.also_allow)) {
                    (Some(why), _) => why,
                    (None, Some(list)) => Why::AlsoAllowed(list),
                    (None, None) if chosen.profiles.is_empty() => {
                        return (PolicyVerdict::Denies, Why::NoSuchProfile);
                    }
                    (None, None) => return (PolicyVerdict::Denies, Why::NotInProfile),
                },
            );
        }
        match self.allow {
            Some(list) if marks.has(list) => (PolicyVerdict::Allows, Why::Allowed(list)),
            Some(list) => (PolicyVerdict::Denies, Why::NotAllowed(list)),
            None => why,
        }
    }

    /// Every list that it looks at.
    pub(super) fn lists(&self) -> impl Iterator<Item = ListId> {
        let profiles = self.profile.iter().flat_map(|chosen| &chosen.profiles);
        let of_profiles = profiles.flat_map(|profile| [profile.allow, profile.deny]);
        [self.also_allow, self.allow, self.deny].into_iter().chain(of_profiles).flatten()
    }
}

impl Chosen {
    fn admits(&self, marks: &Marks) -> Option<Why> {
        let mut why = None;
        for profile in &self.profiles {
            match profile.allow {
                None => why = why.or(Some(Why::InFullProfile)),
                Some(list) if marks.has(list) => why = Some(Why::InProfile(list)),
                Some(_) => return None,
            }
        }
        why
    }
}

/// Makes layers, and their lists in the index.
pub(super) struct Compiler<'a> {
    pub(super) lists: Lists,
    pub(super) registered: &'a Registered,
    /// Profiles by name: all of one name hold.
    profiles: HashMap<String, Vec<Profile>>,
    /// How many profiles that there aren't had their nearest name looked for.
    looked_for: usize,
}

/// How many profiles that there aren't are told the nearest name: each costs a look at all.
const MAX_LOOKED_FOR: usize = 20;

impl<'a> Compiler<'a> {
    pub(super) fn new(registered: &'a Registered) -> Self {
        let mut compiler =
            Self { lists: Lists::new(registered), registered, profiles: HashMap::new(), looked_for: 0 };
        for (name, rules) in &registered.profiles {
            for rules in rules {
                compiler.add_profile(name, rules, Kind::Profile, |_| Place::Code);
            }
        }
        compiler
    }

    /// Adds the profiles of a configuration. One that has the name of another only narrows it.
    pub(super) fn add_profiles(&mut self, profiles: &BTreeMap<String, ProfileRules>) {
        for (name, rules) in profiles {
            let place = |list| Place::At(format!("/tools/profiles/{}/{list}", escaped(name)));
            self.add_profile(&normalised(name), rules, Kind::Allow, place);
        }
    }

    fn add_profile(
        &mut self,
        name: &str,
        rules: &ProfileRules,
        kind: Kind,
        place: impl Fn(&'static str) -> Place,
    ) {
        let allow = rules.allow.as_ref().map(|allow| self.list(kind, place("allow"), allow));
        let deny = (!rules.deny.is_empty()).then(|| self.list(Kind::Deny, place("deny"), &rules.deny));
        self.profiles.entry(name.to_owned()).or_default().push(Profile { allow, deny });
    }

    pub(super) fn list(&mut self, kind: Kind, place: Place, entries: &[String]) -> ListId {
        self.lists.add(kind, place, entries.iter().map(String::as_str), self.registered)
    }

    /// A layer from its rules.
    pub(super) fn rules(&mut self, layer: Layer, title: String, pointer: String, rules: &ToolRules) -> Rules {
        let ToolRules { profile, allow, also_allow, deny } = rules;
        let place = |list: &str| Place::At(format!("{pointer}/{list}"));
        let profile = profile.as_ref().map(|name| self.chosen(name));
        let also_allow =
            (!also_allow.is_empty()).then(|| self.list(Kind::Allow, place("alsoAllow"), also_allow));
        let allow = allow.as_ref().map(|allow| self.list(Kind::Allow, place("allow"), allow));
        let deny = (!deny.is_empty()).then(|| self.list(Kind::Deny, place("deny"), deny));
        Rules { layer, title, pointer, profile, also_allow, allow, deny }
    }

    fn chosen(&mut self, name: &str) -> Chosen {
        let profiles = self.profiles.get(&normalised(name)).cloned().unwrap_or_default();
        let mut near = None;
        if profiles.is_empty() && self.looked_for < MAX_LOOKED_FOR {
            self.looked_for += 1;
            let names = self.profiles.keys().map(String::as_str);
            near = nearest(name, names).first().map(|near| (*near).to_owned());
        }
        Chosen { name: name.to_owned(), profiles, near }
    }
}
