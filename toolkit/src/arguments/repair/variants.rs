//! Variants: the one that is meant, or the only one that a value can be made to fit.

use super::super::pointer::Pointer;
use super::super::variant::{is_anything, meant_option, shared_tag};
use super::Repair;
use super::mend::{Mender, Wrapping};
use super::spelling::only_match;
use serde_json::Value;

impl<'a> Mender<'a> {
    /// The variant that is meant, or else the only one that the value can be made to fit.
    pub(super) fn mend_variant(
        &mut self,
        value: &mut Value,
        options: &'a [Value],
        at: Pointer<'_>,
        wrapping: Wrapping,
    ) {
        let root = &self.compiled.annotated;
        // What a flattened type may be absent for says nothing of the value.
        let telling = || options.iter().filter(|option| !is_anything(option));
        if telling().any(|option| self.fits(value, option)) {
            return;
        }
        self.spell_tag(value, options, at);
        if let Some(option) = meant_option(value, options, root) {
            self.mend(value, option, at.same(), wrapping);
            return;
        }
        let before = self.repairs.len();
        let mut found: Option<(Value, Vec<Repair>)> = None;
        for option in telling() {
            let mut trial = value.clone();
            let fits = self.mend(&mut trial, option, at.same(), wrapping);
            let made = self.repairs.split_off(before);
            match &found {
                _ if !fits => {}
                None => found = Some((trial, made)),
                Some((other, _)) if *other == trial => {}
                Some(_) => return,
            }
        }
        // Out of steps, another variant may have fitted too.
        if let Some((mended, made)) = found.filter(|_| self.left > 0) {
            *value = mended;
            self.repairs.extend(made);
        }
    }

    /// The tag of a variant, in another case style.
    fn spell_tag(&mut self, value: &mut Value, options: &'a [Value], at: Pointer<'_>) {
        let Value::Object(members) = value else { return };
        let Some((tag, values)) = shared_tag(options, &self.compiled.annotated) else { return };
        let Some(given) = members.get_mut(tag) else { return };
        let Some(text) = given.as_str() else { return };
        let spelled = only_match(text, values.iter().filter_map(|value| value.as_str()));
        if let Some(spelled) = spelled.filter(|spelled| *spelled != text).map(str::to_owned) {
            self.spell(given, spelled, at.member(tag));
        }
    }
}
