//! What it is that repeats (`units.py`): the class of a repeated unit decides how long is long enough.

use std::collections::HashSet;

use crate::characters::{count_letters, count_visible, is_blank, lexical_words};

/// The classes, in the order of `KINDS`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Text,
    Code,
    Phrase,
    Mark,
    Record,
    Markup,
    Token,
    Data,
    Fill,
    Grid,
}

pub const KINDS: [&str; 10] =
    ["text", "code", "phrase", "mark", "record", "markup", "token", "data", "fill", "grid"];

impl Kind {
    pub fn name(self) -> &'static str {
        KINDS[self as usize]
    }
}

const SAMPLED: usize = 2_000;
const TEXT_WORDS: usize = 4;
const LETTERS_PREVAIL: f64 = 0.65;
const SIGNS: &str = "<>{}[]();=\\_/|&\"";
const SIGNS_PREVAIL: f64 = 0.2;
const CELLS: usize = 4;
const CELL_WORDS: usize = 8;
const CELL_MARKS: &str = ",;|&\t<>\"'0123456789";
const FILL: &str = "A/=01fF";
const PACKED_PERIOD: usize = 8;

fn stands_in(code: u32, set: &str) -> bool {
    char::from_u32(code).is_some_and(|character| set.contains(character))
}

/// A letter or mark of Base64.
fn is_packed(code: u32) -> bool {
    char::from_u32(code).is_some_and(|one| one.is_ascii_alphanumeric() || "+/=".contains(one))
}

/// The class of `unit`, one period of a repetition, wherever in the period it was cut.
pub fn classify(unit: &[u32]) -> Kind {
    let unit = &unit[..unit.len().min(SAMPLED)];
    let has_lines = unit.contains(&u32::from(b'\n'));
    let endless = unit.repeat(3);
    let (mut words, mut distinct) = (0, HashSet::new());
    for word in lexical_words(&endless) {
        let begins_here = (unit.len()..2 * unit.len()).contains(&word.start);
        // A word that fills the period (letters with nothing between them) is none.
        if begins_here && word.chars() <= unit.len().max(2) {
            words += 1;
            distinct.insert(word.of(&endless));
        }
    }
    if words == 0 || (unit.len() <= PACKED_PERIOD && unit.iter().all(|&code| is_packed(code))) {
        return wordless(unit, has_lines);
    }
    by_words(unit, words, distinct.len(), has_lines)
}

fn by_words(unit: &[u32], words: usize, distinct: usize, has_lines: bool) -> Kind {
    if has_lines && distinct <= CELL_WORDS && words >= CELLS * distinct {
        return Kind::Grid;
    }
    if distinct == 1 {
        let in_cell = unit.iter().any(|&code| stands_in(code, CELL_MARKS));
        return if in_cell { Kind::Token } else { Kind::Phrase };
    }
    let visible = count_visible(unit) as f64;
    if count_letters(unit) as f64 >= LETTERS_PREVAIL * visible {
        let signs = || unit.iter().filter(|&&code| stands_in(code, SIGNS)).count() as f64;
        return match distinct {
            ..TEXT_WORDS => Kind::Phrase,
            _ if has_lines && signs() >= SIGNS_PREVAIL * visible => Kind::Code,
            _ => Kind::Text,
        };
    }
    if distinct >= TEXT_WORDS { Kind::Record } else { Kind::Markup }
}

/// One mark over and over is nothing that data is made of.
fn wordless(unit: &[u32], has_lines: bool) -> Kind {
    match unit {
        &[only] if !is_blank(only) => {
            if stands_in(only, FILL) {
                Kind::Fill
            } else {
                Kind::Mark
            }
        }
        _ if has_lines => Kind::Grid,
        _ => Kind::Data,
    }
}
