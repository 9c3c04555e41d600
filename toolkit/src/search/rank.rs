//! Ranks tools by relevance: BM25 over fields of different weight (Robertson, Zaragoza and Taylor, 2004).

use super::query::Wanted;
use super::scope::{NOWHERE, Scope};

/// The saturation of repeated words; a usual value.
const SATURATION: f32 = 1.2;
/// The share of a tool's score that does not depend on how much of the query it matches; the rest is scaled by the
/// matched share.
const KEPT: f32 = 0.4;

/// Returns the scores of the tools by their indices in the toolbox, without those that have none.
pub(super) fn ranked(wanted: &[Wanted], scope: &Scope<'_>, places: usize) -> Vec<(u32, f32)> {
    let mut total = vec![0.0_f32; places];
    let mut share = vec![0.0_f32; places];
    let mut best = vec![0.0_f32; places];
    let mut touched: Vec<u32> = Vec::new();
    let mut whole = 0.0;
    for word in wanted {
        let own =
            word.readings.iter().find(|(_, weight)| *weight >= 1.0).map(|(word, _)| rarity(word, scope));
        let mut most = 0.0_f32;
        for (reading, weight) in &word.readings {
            // A rare synonym of a common word counts no more than the word.
            let rarity = own.map_or_else(|| rarity(reading, scope), |own| own.min(rarity(reading, scope)));
            most = most.max(weight * rarity);
            for part in scope.parts {
                let Some(number) = part.segment.number_of(reading) else { continue };
                for posting in part.segment.postings(number) {
                    let place = part.places[posting.document as usize];
                    if place == NOWHERE {
                        continue;
                    }
                    let fit =
                        weight * rarity * posting.weight * (SATURATION + 1.0) / (posting.weight + SATURATION);
                    let best = &mut best[place as usize];
                    if *best == 0.0 {
                        touched.push(place);
                    }
                    *best = best.max(fit);
                }
            }
        }
        whole += most;
        for place in touched.drain(..) {
            let place = place as usize;
            total[place] += best[place];
            // The share of the word that the tool has, by any of its meanings.
            share[place] += most.min(best[place]);
            best[place] = 0.0;
        }
    }
    let fit = |place: usize| total[place] * (KEPT + (1.0 - KEPT) * share[place] / whole);
    (0_u32..)
        .zip(0..places)
        .filter(|(_, place)| total[*place] > 0.0)
        .map(|(place, at)| (place, fit(at)))
        .collect()
}

/// Returns the rarity of a word: the fewer tools have it, the higher.
#[expect(clippy::cast_precision_loss, reason = "nobody has sixteen million tools")]
fn rarity(word: &str, scope: &Scope<'_>) -> f32 {
    let (count, tools) = (scope.count(word) as f32, scope.tools as f32);
    (1.0 + (tools - count + 0.5) / (count + 0.5)).ln()
}
