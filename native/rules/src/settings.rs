//! The figures of `settings.py`, as they come from there: none of them is written out a second time.

use crate::counters::CountedKind;
use crate::units::Kind;

/// How many characters a passage may go on repeating itself, by the class of what repeats.
#[derive(Clone, Debug)]
pub struct CyclePatience {
    /// In the order of `units::KINDS`.
    pub kinds: [i64; 10],
    /// In the order of `counters::COUNTED_KINDS`.
    pub counted: [i64; 3],
    pub copies: i64,
    pub long_copies: i64,
    pub long_unit: i64,
}

impl CyclePatience {
    /// No repetition at `period` shorter than this can be a loop, whatever repeats.
    pub fn least(&self, period: i64) -> i64 {
        let shortest = self.kinds.iter().copied().min().unwrap_or(i64::MAX);
        shortest.max(self.copies(period).saturating_mul(period))
    }

    /// Characters, the first copy included, at which a repetition of `kind` at `period` is a loop.
    pub fn needed(&self, kind: Kind, period: i64) -> i64 {
        self.kinds[kind as usize].max(self.copies(period).saturating_mul(period))
    }

    pub fn counted_chars(&self, kind: CountedKind) -> i64 {
        self.counted[kind as usize]
    }

    fn copies(&self, period: i64) -> i64 {
        if period <= self.long_unit { self.copies } else { self.long_copies }
    }
}

/// When the recent words are nothing but phrases already said; `settings.py` says what each is.
#[derive(Clone, Debug)]
pub struct PhrasePatience {
    pub window: i64,
    pub recycled: f64,
    pub new_phrases: f64,
    pub lasting: i64,
    pub clauses: i64,
    pub new_clauses: f64,
    pub refrain_chars: i64,
    pub lexical: f64,
    pub distinct: i64,
    pub clause_words: f64,
}

/// The rules that run.
#[allow(clippy::struct_excessive_bools)] // each is a switch of its own
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    pub words: bool,
    pub cycle: bool,
    pub phrases: bool,
    pub blank: bool,
    pub length: bool,
}

/// All that a detector runs on.
#[derive(Clone, Debug)]
pub struct Settings {
    pub rules: Rules,
    pub window_words: i64,
    pub repeat_threshold: i64,
    pub min_offenders: i64,
    pub min_saturated_run: i64,
    pub max_response_chars: i64,
    pub blank_chars: i64,
    pub cycle: CyclePatience,
    pub phrases: PhrasePatience,
}
