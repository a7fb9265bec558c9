//! Part of rule `cycle` (`stutter.py`): a passage repeated with slips.

use std::collections::HashSet;

use crate::characters::lexical_words;
use crate::lags::Repetition;

const SHARE: f64 = 0.2;
const GAP_COPIES: i64 = 12;
const UNIT_WORDS: usize = 8;
const OWN_WORDS: f64 = 0.85;
const LAGS: usize = 8;

/// Runs at one lag, close to each other: where the first began, what they repeat, where the last ended.
#[derive(Clone, Copy)]
pub struct Slips {
    pub onset: i64,
    pub repeated: i64,
    until: i64,
}

/// Adds up the runs of repetition that have ended, by their lag; the one not seen for longest first.
#[derive(Default)]
pub struct Stutter {
    by_lag: Vec<(i64, Slips)>,
}

impl Stutter {
    /// Count a repetition of text that ended at character `until`; return the sum for its lag.
    pub fn add(&mut self, ended: Repetition, until: i64) -> Option<Slips> {
        let repeated = until - ended.onset - ended.lag;
        if repeated < ended.lag {
            return None;
        }
        let place = self.by_lag.iter().position(|&(lag, _)| lag == ended.lag);
        let known = place
            .map(|place| self.by_lag.remove(place).1)
            .filter(|known| ended.onset - known.until <= GAP_COPIES * ended.lag);
        let (onset, before) = known.map_or((ended.onset, 0), |known| (known.onset, known.repeated));
        let slips = Slips { onset, repeated: before + repeated, until };
        self.by_lag.push((ended.lag, slips));
        if self.by_lag.len() > LAGS {
            self.by_lag.remove(0);
        }
        (slips.repeated as f64 >= SHARE * (until - slips.onset) as f64).then_some(slips)
    }
}

/// Whether `text` is little else than `unit`, a sentence, with slips.
pub fn is_near_copies(unit: &[u32], text: &[u32]) -> bool {
    let own: HashSet<&[u32]> = lexical_words(unit).map(|word| word.of(unit)).collect();
    let (mut words, mut owned) = (0_usize, 0_usize);
    for word in lexical_words(text) {
        words += 1;
        owned += usize::from(own.contains(word.of(text)));
    }
    own.len() >= UNIT_WORDS && owned as f64 >= OWN_WORDS * words as f64
}
