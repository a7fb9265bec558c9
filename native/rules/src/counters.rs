//! Part of rule `cycle` (`counters.py`): the tail is periodic but for one number that counts on and on.

use std::collections::HashSet;

use crate::characters::{count_letters, count_visible, lexical_words};
use crate::lags::{LagFinder, Repetition};
use crate::skeleton::{Number, Skeleton};

const STRIDE: usize = 256;
const UNIT_CHARS: i64 = 300;
const UNIT_NUMBERS: usize = 8;
const SENTENCE_CHARS: usize = 120;
const SENTENCE_WORDS: usize = 4;
const SENTENCE_LETTERS: f64 = 0.75;
const FORM_LINES: usize = 3;
const LINE_END: u32 = b'\n' as u32;

/// What is counted, in the order of `COUNTED_KINDS`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountedKind {
    Label,
    Line,
    Form,
}

pub const COUNTED_KINDS: [&str; 3] = ["counted_label", "counted_line", "counted_form"];

impl CountedKind {
    pub fn name(self) -> &'static str {
        COUNTED_KINDS[self as usize]
    }
}

/// A run of copies in which each number rises by its own constant amount.
pub struct Counting {
    pub onset: i64,
    pub copies: f64,
    pub kind: CountedKind,
}

/// A counting that goes on: how much each number of the unit rises, and the last unit's values.
struct Run {
    repetition: Repetition,
    onset: i64,
    kind: CountedKind,
    seen: usize,
    last: Vec<i128>,
    rises: Vec<i128>,
    place: usize, // of the number expected next
}

impl Run {
    fn new(repetition: Repetition, numbers: &[Number], per_unit: usize, unit: &[u32]) -> Self {
        let (before, last) = numbers[numbers.len() - 2 * per_unit..].split_at(per_unit);
        let moving: Vec<&Number> =
            last.iter().zip(before).filter(|(new, old)| new.value != old.value).map(|(new, _)| new).collect();
        // All time stamps together are one.
        let plain = moving.iter().filter(|number| !number.is_time).count();
        let moving = plain + usize::from(plain < moving.len());
        Run {
            repetition,
            onset: numbers[0].end - 1,
            kind: kind_of(unit, moving),
            seen: numbers.len(),
            last: last.iter().map(|number| number.value).collect(),
            rises: last.iter().zip(before).map(|(new, old)| new.value - old.value).collect(),
            place: 0,
        }
    }

    /// Count `numbers` in if they are what the run makes one expect.
    fn goes_on(&mut self, numbers: &[Number]) -> bool {
        for number in numbers {
            if number.value - self.last[self.place] != self.rises[self.place] {
                return false;
            }
            self.last[self.place] = number.value;
            self.place = (self.place + 1) % self.last.len();
            self.seen += 1;
        }
        true
    }
}

/// Reads a reply block by block and says how long it has been nothing but counting.
pub struct Counters {
    skeleton: Skeleton,
    finder: LagFinder,
    unread: Vec<u32>,
    run: Option<Run>,
    data: Option<Repetition>, // known to say nothing
}

impl Counters {
    pub fn new() -> Self {
        Counters {
            skeleton: Skeleton::default(),
            finder: LagFinder::new(1),
            unread: Vec::new(),
            run: None,
            data: None,
        }
    }

    /// Take the next block; return the counting that ends here, if there is one.
    pub fn read(&mut self, block: &[u32]) -> Option<Counting> {
        self.unread.extend_from_slice(block);
        if self.unread.len() < STRIDE {
            return None;
        }
        let grown = self.skeleton.append(&self.unread);
        self.unread.clear();
        self.finder.advance(&self.skeleton.tail, grown);
        let repetition = self.finder.repetitions().next();
        let goes_on = match &mut self.run {
            Some(run) => Some(run.repetition) == repetition && run.goes_on(&self.skeleton.newest()),
            None => false,
        };
        if !goes_on {
            self.run = repetition.and_then(|repetition| self.begin(repetition));
        }
        self.run.as_ref().map(|run| Counting {
            onset: run.onset,
            copies: run.seen as f64 / run.last.len() as f64,
            kind: run.kind,
        })
    }

    /// The run that ends here, followed back to where it began.
    fn begin(&mut self, repetition: Repetition) -> Option<Run> {
        let lag = repetition.lag;
        if lag > UNIT_CHARS || self.data == Some(repetition) {
            return None;
        }
        let unit = self.skeleton.tail.last(lag);
        if lexical_words(&unit.repeat(2)).next().is_none() {
            self.data = Some(repetition);
            return None;
        }
        let start = self.skeleton.tail.end - lag;
        let newest: Vec<Number> = self.skeleton.newest_first(start - 2 * lag).collect();
        let per_unit = newest.iter().filter(|number| number.skeleton_end > start).count();
        if !(1..=UNIT_NUMBERS).contains(&per_unit) || newest.len() < 2 * per_unit {
            return None;
        }
        let rises: Vec<i128> =
            (0..per_unit).map(|place| newest[place].value - newest[place + per_unit].value).collect();
        let cuts: Vec<i64> = (0..lag)
            .filter(|&index| unit[index as usize] == LINE_END)
            .map(|index| start + index + 1)
            .collect();
        if rises.iter().any(|&rise| rise < 0) || !is_one_series(&newest, &rises, &cuts) {
            return None;
        }
        let counted = steady(self.skeleton.newest_first(repetition.onset), &rises);
        (counted.len() >= 2 * per_unit).then(|| Run::new(repetition, &counted, per_unit, unit))
    }
}

/// Whether what moves in a unit is one counter; where units are lines, of a unit cut there.
fn is_one_series(newest: &[Number], rises: &[i128], cuts: &[i64]) -> bool {
    let per_unit = rises.len();
    let begun = |cut: &i64| newest[..per_unit].iter().filter(|number| number.skeleton_end > *cut).count();
    let firsts: Vec<usize> =
        if cuts.is_empty() { (0..per_unit).collect() } else { cuts.iter().map(begun).collect() };
    firsts.into_iter().any(|first| {
        let places = first..(first + per_unit).min(newest.len());
        let shown: Vec<i128> = places
            .filter(|&place| rises[place % per_unit] != 0 && !newest[place].is_time)
            .map(|place| newest[place].value)
            .collect();
        let steps: HashSet<i128> = shown.windows(2).map(|pair| pair[0] - pair[1]).collect();
        let only = match steps.len() {
            0 => return true,
            1 => *steps.iter().next().unwrap_or(&0),
            _ => return false,
        };
        only == 0 || is_quotient(only, rises[0], shown.len() as i128)
    })
}

/// Whether `number` is what Python's `dividend / divisor` gives: a float, rounded correctly at any size.
fn is_quotient(number: i128, dividend: i128, divisor: i128) -> bool {
    let scaled = dividend << 40; // below 2**78 before
    let sticky = i128::from(scaled % divisor != 0);
    let quotient = ((scaled / divisor) | sticky) as f64 / (1_u64 << 40) as f64;
    quotient.fract() == 0.0 && quotient as i128 == number
}

/// The numbers, oldest first, from where on each rises as its place of the last unit did.
fn steady(newest_first: impl Iterator<Item = Number>, rises: &[i128]) -> Vec<Number> {
    let per_unit = rises.len();
    let mut steady: Vec<Number> = Vec::new();
    for (place, number) in newest_first.enumerate() {
        if place >= per_unit && steady[place - per_unit].value - number.value != rises[place % per_unit] {
            break;
        }
        steady.push(number);
    }
    steady.reverse();
    steady
}

/// What is counted: a sentence under one moving number, a line or two of anything else, or a form.
fn kind_of(unit: &[u32], moving: usize) -> CountedKind {
    let twice = unit.repeat(2);
    let is_filled = |line: &[u32]| line.iter().any(|&code| code != u32::from(b' '));
    if twice.split(|&code| code == LINE_END).filter(|line| is_filled(line)).count() >= 2 * FORM_LINES {
        return CountedKind::Form;
    }
    let words: HashSet<&[u32]> = lexical_words(&twice).map(|word| word.of(&twice)).collect();
    let is_labelled = moving == 1
        && has_label(&twice)
        && unit.len() <= SENTENCE_CHARS
        && words.len() >= SENTENCE_WORDS
        && count_letters(unit) as f64 >= SENTENCE_LETTERS * count_visible(unit) as f64;
    if is_labelled { CountedKind::Label } else { CountedKind::Line }
}

/// Whether a number is a label of what follows (`8:`, `12.`, `[3]`) and no part of what is said.
fn has_label(text: &[u32]) -> bool {
    let is_space = |code: u32| matches!(code, 0x20 | 0x09 | 0x0a);
    let closes = |code: u32| matches!(code, 0x2e | 0x3a | 0x29 | 0x5d | 0xff1a | 0x3001 | 0xff09);
    (0..text.len()).filter(|&zero| text[zero] == u32::from(b'0')).any(|zero| {
        let rest = &text[zero + 1..];
        let between = rest.iter().take(2).take_while(|&&code| !is_space(code)).count();
        (0..=between).any(|skipped| {
            rest.get(skipped).is_some_and(|&code| closes(code))
                && rest.get(skipped + 1).is_some_and(|&code| is_space(code) || code > 0x7f)
        })
    })
}
