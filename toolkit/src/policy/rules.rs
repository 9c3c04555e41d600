//! The rules of one layer of a policy.

use super::data::Registered;
use super::entry::normalised;
use super::lists::{Kind, ListId, Lists, Marks, Place};
use super::settings::{ProfileRules, ToolRules};
use super::verdict::PolicyVerdict;
use std::collections::{BTreeMap, HashMap};
use toolkit_core::name::nearest;
use toolkit_core::pointer::escape;

/// The layers, in the order in which they are checked.
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

/// The rules of one layer, with its lists in the index.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) layer: Layer,
    /// Its title: "the rules of agent `kid`".
    pub(super) title: String,
    /// Its pointer in the configuration.
    pub(super) pointer: String,
    pub(super) profile: Option<Chosen>,
    pub(super) also_allow: Option<ListId>,
    pub(super) allow: Option<ListId>,
    pub(super) deny: Option<ListId>,
}

/// The profile that a layer starts from.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The name as it was written.
    pub(super) name: String,
    /// The profiles of this name, all of which apply. Empty if there is no such profile.
    pub(super) profiles: Vec<Profile>,
    /// The nearest existing name, if there is no such profile.
    pub(super) near: Option<String>,
}

/// A profile, with its lists in the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Profile {
    /// The allowed tools; `None` for every tool.
    pub(super) allow: Option<ListId>,
    pub(super) deny: Option<ListId>,
}

/// The reason for a layer's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// There is no rule.
    NoRule,
    /// An entry of the deny list matches.
    Denied(ListId),
    /// An entry of the profile's deny list matches.
    ProfileDenies(ListId),
    NoSuchProfile,
    /// No entry of the profile or of `alsoAllow` matches.
    NotInProfile,
    /// No entry of the allow list matches.
    NotAllowed(ListId),
    /// An entry of the allow list matches.
    Allowed(ListId),
    /// An entry of the profile matches.
    InProfile(ListId),
    /// An entry of `alsoAllow` matches.
    AlsoAllowed(ListId),
    /// The profile has every tool.
    InFullProfile,
    /// No entry of the deny list matches, and there is no other list.
    NotDenied(ListId),
}

impl Rules {
    /// Returns the layer's verdict on the marked tool.
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

    /// Returns every list of the layer.
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

/// Compiles layers, and adds their lists to the index.
pub(super) struct Compiler<'a> {
    pub(super) lists: Lists,
    pub(super) registered: &'a Registered,
    /// Profiles by name: all profiles of one name apply.
    profiles: HashMap<String, Vec<Profile>>,
    /// The number of missing profiles for which the nearest name was searched.
    looked_for: usize,
}

/// The maximum number of missing profiles for which the nearest name is searched; each search looks at all profiles.
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

    /// Adds the profiles of a configuration. A profile with the name of an existing one only narrows it.
    pub(super) fn add_profiles(&mut self, profiles: &BTreeMap<String, ProfileRules>) {
        for (name, rules) in profiles {
            let place = |list| Place::At(format!("/tools/profiles/{}/{list}", escape(name)));
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

    /// Compiles a layer.
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
