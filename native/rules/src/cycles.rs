//! Rule `cycle` (`cycles.py`): the tail of the reply is periodic, and has been for too long.

use crate::counters::{CountedKind, Counters, Counting};
use crate::lags::{LagFinder, Repetition, Tail};
use crate::settings::CyclePatience;
use crate::stutter::{Stutter, is_near_copies};
use crate::trip::{Approach, Finding, Rule, SAMPLE_CHARS};
use crate::units::{Kind, classify};

const SLIPS_READ: i64 = 4_096;
const REMEMBERED: usize = 8;

/// What came nearest to a trip.
#[derive(Clone, Copy)]
enum Nearest {
    Nothing,
    Exact(Kind, i64),
    Slips(i64),
    Counting(CountedKind, f64),
}

/// Follows the repetitions at the tail of a reply until one has gone on for too long.
pub struct Cycles {
    patience: CyclePatience,
    tail: Tail,
    finder: LagFinder,
    counters: Counters,
    stutter: Stutter,
    kinds: Vec<(Repetition, Kind)>,
    nearest: Nearest,
    share: f64,
    at_char: i64,
    length: i64,
    needed: i64,
}

impl Cycles {
    pub fn new(patience: CyclePatience) -> Self {
        Cycles {
            patience,
            tail: Tail::default(),
            finder: LagFinder::new(3),
            counters: Counters::new(),
            stutter: Stutter::default(),
            kinds: Vec::new(),
            nearest: Nearest::Nothing,
            share: 0.0,
            at_char: 0,
            length: 0,
            needed: 0,
        }
    }

    /// Take the block that ends at character `end`; return the loop, if it is one by now.
    pub fn read(&mut self, block: &[u32], end: i64) -> Option<Finding> {
        self.tail.append(block);
        let before = self.finder.found;
        self.finder.advance(&self.tail, block.len());
        let after = self.finder.found;
        for repetition in after.into_iter().flatten() {
            if repetition.length(&self.tail) >= self.patience.least(repetition.lag) {
                let finding = self.judge(repetition, end);
                if finding.is_some() {
                    return finding;
                }
            }
        }
        for ended in before.into_iter().flatten() {
            if !after.contains(&Some(ended)) {
                let finding = self.judge_slips(ended, end - block.len() as i64);
                if finding.is_some() {
                    return finding;
                }
            }
        }
        let counting = self.counters.read(block)?;
        self.judge_counting(&counting, end)
    }

    fn judge(&mut self, repetition: Repetition, end: i64) -> Option<Finding> {
        let kind = self.kind(repetition);
        let length = repetition.length(&self.tail);
        let needed = self.patience.needed(kind, repetition.lag);
        self.note(Nearest::Exact(kind, repetition.lag), end, length, needed);
        if length < needed {
            return None;
        }
        let unit = self.tail.last(repetition.lag);
        let begin = (-length).rem_euclid(repetition.lag) as usize; // where the copies begin in it
        Some(Finding {
            onset: repetition.onset,
            period: Some(repetition.lag),
            repeats: Some(length as f64 / repetition.lag as f64),
            sample: unit[begin..].iter().chain(&unit[..begin]).take(SAMPLE_CHARS).copied().collect(),
        })
    }

    /// Judge a repetition that ended with the block before, together with the like of it before.
    fn judge_slips(&mut self, ended: Repetition, until: i64) -> Option<Finding> {
        let slips = self.stutter.add(ended, until)?;
        let needed = self.patience.needed(Kind::Text, ended.lag);
        let is_enough = slips.repeated >= needed;
        let since = self.tail.last((self.tail.end - slips.onset).min(SLIPS_READ));
        let unit = &self.tail.last(self.tail.end - ended.onset)[..ended.lag as usize];
        let is_prose = || matches!(classify(unit), Kind::Text | Kind::Code);
        if is_enough && !(is_prose() && is_near_copies(unit, since)) {
            return None;
        }
        let sample = unit.iter().take(SAMPLE_CHARS).copied().collect();
        self.note(Nearest::Slips(ended.lag), until, slips.repeated, needed);
        is_enough.then(|| Finding {
            onset: slips.onset,
            period: Some(ended.lag),
            repeats: Some(slips.repeated as f64 / ended.lag as f64),
            sample,
        })
    }

    fn judge_counting(&mut self, counting: &Counting, end: i64) -> Option<Finding> {
        let length = end - counting.onset;
        let needed = self.patience.counted_chars(counting.kind);
        self.note(Nearest::Counting(counting.kind, counting.copies), end, length, needed);
        (length >= needed).then(|| Finding {
            onset: counting.onset,
            period: Some((length as f64 / counting.copies).round_ties_even() as i64),
            repeats: Some(counting.copies),
            sample: self.tail.last(length.min(SAMPLE_CHARS as i64)).to_vec(),
        })
    }

    /// The class of what repeats, looked at once a repetition.
    fn kind(&mut self, repetition: Repetition) -> Kind {
        if let Some(&(_, kind)) = self.kinds.iter().find(|(known, _)| *known == repetition) {
            return kind;
        }
        if self.kinds.len() >= REMEMBERED {
            self.kinds.clear();
        }
        let kind = classify(self.tail.last(repetition.lag));
        self.kinds.push((repetition, kind));
        kind
    }

    fn note(&mut self, what: Nearest, at_char: i64, length: i64, needed: i64) {
        let share = length as f64 / needed as f64;
        if share > self.share {
            (self.nearest, self.share, self.at_char) = (what, share, at_char);
            (self.length, self.needed) = (length, needed);
        }
    }

    pub fn approach(&self) -> Approach {
        let what = match self.nearest {
            Nearest::Nothing => None,
            Nearest::Exact(kind, lag) => Some(format!("{} of {lag} characters for", kind.name())),
            Nearest::Slips(lag) => Some(format!("text of {lag} characters, with slips, for")),
            Nearest::Counting(kind, copies) => Some(format!("{} in {copies:.0} copies for", kind.name())),
        };
        let detail = what.map_or_else(
            || "nothing repeated itself".to_owned(),
            |what| format!("{what} {} characters of {}", self.length, self.needed),
        );
        Approach { rule: Rule::Cycle, share: self.share, at_char: self.at_char, detail }
    }
}
