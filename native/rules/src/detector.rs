//! Reads one reply as it arrives and says when it has become a loop (`detector.py`).

use crate::blank::Blank;
use crate::cycles::Cycles;
use crate::phrases::Phrases;
use crate::settings::Settings;
use crate::trip::{Approach, Finding, Rule, Trip};
use crate::words::{Character, WordCount, WordSaturation};

const BLOCK: i64 = 128;

/// One detector for one reply; inert after a trip.
///
/// What its Python twin lets wait until it can matter is read at once here: the verdicts are the same.
pub struct Detector {
    saturation: Option<WordSaturation>,
    cycles: Option<Cycles>,
    phrases: Option<Phrases>,
    blank: Option<Blank>,
    limit: i64,
    words: WordCount,
    block: Vec<u32>,
    chars: i64,
    trip: Option<Trip>,
}

impl Detector {
    pub fn new(settings: &Settings) -> Self {
        let rules = settings.rules;
        Detector {
            saturation: rules.words.then(|| WordSaturation::new(settings)),
            cycles: rules.cycle.then(|| Cycles::new(settings.cycle.clone())),
            phrases: rules.phrases.then(|| Phrases::new(settings.phrases.clone())),
            blank: rules.blank.then(|| Blank::new(settings.blank_chars)),
            limit: if rules.length { settings.max_response_chars } else { 0 },
            words: WordCount::default(),
            block: Vec::new(),
            chars: 0,
            trip: None,
        }
    }

    /// Read the next piece of the reply; answer with the trip once it has become a loop.
    pub fn push<C: Character>(&mut self, text: &[C]) -> Option<&Trip> {
        if self.trip.is_none() && !text.is_empty() {
            self.trip = self.read(text);
        }
        self.trip.as_ref()
    }

    /// Feed the rules up to each place where one of them must judge.
    fn read<C: Character>(&mut self, text: &[C]) -> Option<Trip> {
        let has_blocks = self.cycles.is_some() || self.phrases.is_some() || self.blank.is_some();
        let mut rest = text;
        while !rest.is_empty() {
            let stop = rest.len().min(usize::try_from(self.next_place() - self.chars).unwrap_or(usize::MAX));
            let (piece, behind) = rest.split_at(stop);
            rest = behind;
            if let Some(saturation) = &mut self.saturation {
                if let Some(stop) = saturation.read(piece) {
                    self.chars += stop as i64; // the rest of the piece is not read
                    let finding = Finding::at(saturation.saturated_from);
                    return Some(self.tripped(Rule::Words, Some(finding)));
                }
            } else {
                self.words.read(piece);
            }
            self.chars += stop as i64;
            if has_blocks {
                self.block.extend(piece.iter().map(|character| character.code()));
                if self.chars % BLOCK == 0 {
                    let block = std::mem::take(&mut self.block);
                    let found = self.read_block(&block);
                    self.block = block;
                    self.block.clear();
                    if let Some((rule, finding)) = found {
                        return Some(self.tripped(rule, Some(finding)));
                    }
                }
            }
            if self.saturation.is_none() && self.has_passed() {
                return Some(self.tripped(Rule::Length, None));
            }
        }
        // With the seed's rule the backstop is read as the seed has it: once a chunk, after the words.
        self.has_passed().then(|| self.tripped(Rule::Length, None))
    }

    /// Where something must be judged next.
    fn next_place(&self) -> i64 {
        let block_end = (self.chars / BLOCK + 1) * BLOCK;
        if self.limit > 0 && self.saturation.is_none() { block_end.min(self.limit + 1) } else { block_end }
    }

    fn has_passed(&self) -> bool {
        0 < self.limit && self.limit < self.chars
    }

    fn read_block(&mut self, block: &[u32]) -> Option<(Rule, Finding)> {
        if let Some(finding) = self.cycles.as_mut().and_then(|rule| rule.read(block, self.chars)) {
            return Some((Rule::Cycle, finding));
        }
        if let Some(finding) = self.phrases.as_mut().and_then(|rule| rule.read(block, self.chars)) {
            return Some((Rule::Phrases, finding));
        }
        let finding = self.blank.as_mut().and_then(|rule| rule.read(block, self.chars))?;
        Some((Rule::Blank, finding))
    }

    fn tripped(&self, rule: Rule, finding: Option<Finding>) -> Trip {
        let saturation = (rule == Rule::Words).then(|| (self.offenders(), self.saturated_run()));
        Trip { rule, words: self.words_seen(), chars: self.chars, finding, saturation }
    }

    pub fn trip(&self) -> Option<&Trip> {
        self.trip.as_ref()
    }

    pub fn chars_seen(&self) -> i64 {
        self.chars
    }

    pub fn words_seen(&self) -> i64 {
        self.saturation.as_ref().map_or(self.words.total, |seed| seed.words_seen)
    }

    /// The words of a reply that has ended, where all of it was read and they were counted on the way.
    pub fn words_ended(&self) -> Option<i64> {
        (self.trip.is_none() && self.saturation.is_none()).then(|| self.words.ended())
    }

    pub fn offenders(&self) -> i64 {
        self.saturation.as_ref().map_or(0, |seed| seed.offenders)
    }

    pub fn saturated_run(&self) -> i64 {
        self.saturation.as_ref().map_or(0, |seed| seed.saturated_run)
    }

    pub fn peak_saturated_run(&self) -> i64 {
        self.saturation.as_ref().map_or(0, |seed| seed.peak_saturated_run)
    }

    /// How near each rule has come to a trip, in the order of the rules.
    pub fn approaches(&self) -> Vec<Approach> {
        let mut near = Vec::new();
        near.extend(self.saturation.as_ref().map(WordSaturation::approach));
        near.extend(self.cycles.as_ref().map(Cycles::approach));
        near.extend(self.phrases.as_ref().map(Phrases::approach));
        near.extend(self.blank.as_ref().map(Blank::approach));
        if self.limit > 0 {
            near.push(Approach {
                rule: Rule::Length,
                share: (self.chars as f64 / self.limit as f64).min(1.0),
                at_char: self.chars,
                detail: format!("{} characters of {}", self.chars, self.limit),
            });
        }
        near
    }
}
