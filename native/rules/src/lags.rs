//! Finding the lag at which a growing text repeats itself (`lags.py`).

/// Look every `step` characters for the last `anchor` ones within the last `reach`.
pub struct Level {
    pub step: i64,
    pub anchor: usize,
    pub reach: usize,
}

pub static LEVELS: [Level; 3] = [
    Level { step: 64, anchor: 24, reach: 1_024 },
    Level { step: 512, anchor: 192, reach: 8_192 },
    Level { step: 4_096, anchor: 1_024, reach: 40_960 },
];

const SHORT_ANCHOR: usize = 32;
const NEAR: usize = 12_288;
const FAR: usize = 36_864;
/// Forgotten characters that may lie about until they are cleared away.
const SLACK: usize = 32_768;

/// Lags looked at together.
const TOGETHER: usize = 64;
/// Candidates compared in vain before a search goes over to an algorithm without a bad case, which by
/// then would have cost about as much.
const PATIENCE: usize = 160;
/// Places of an anchor at which a candidate is looked at first.
const MARKS: usize = 3;
/// Of a long anchor so many characters are searched for rare ones.
const LOOKED_THROUGH: usize = 256;

/// The last characters of a text; `end` counts all that it ever had.
///
/// `near` and `far` are what the Python twin keeps in two strings: how much it remembers shows in the
/// onset of a repetition that has been going on for longer.
#[derive(Default)]
pub struct Tail {
    text: Vec<u32>,
    /// A byte of each character: equal characters have equal bytes, and sixteen are compared at once.
    bytes: Vec<u8>,
    /// How often each byte came, to know the rare ones.
    came: Vec<u64>,
    near: usize,
    far: usize,
    pub end: i64,
}

impl Tail {
    pub fn append(&mut self, piece: &[u32]) {
        self.text.extend_from_slice(piece);
        self.bytes.extend(piece.iter().map(|&code| (code ^ code >> 8 ^ code >> 16) as u8));
        self.came.resize(256, 0);
        for &byte in &self.bytes[self.bytes.len() - piece.len()..] {
            self.came[usize::from(byte)] += 1;
        }
        self.end += piece.len() as i64;
        self.near += piece.len();
        if self.near > NEAR {
            let kept = NEAR * 2 / 3;
            self.far = (self.far + self.near - kept).min(FAR);
            self.near = kept;
        }
        let forgotten = self.text.len() - self.near - self.far;
        if forgotten > SLACK {
            self.text.drain(..forgotten);
            self.bytes.drain(..forgotten);
        }
    }

    /// The last `count` characters, or all that are kept where they are fewer.
    pub fn last(&self, count: i64) -> &[u32] {
        let kept = self.near + self.far;
        let count = usize::try_from(count).unwrap_or(0).min(kept);
        &self.text[self.text.len() - count..]
    }

    /// Whether each of the last `grown` characters equals the one `lag` before it.
    pub fn goes_on(&self, lag: usize, grown: usize) -> bool {
        let size = self.text.len();
        grown == 0
            || (self.near + self.far >= lag + grown
                && self.text[size - lag - grown..size - lag] == self.text[size - grown..])
    }

    /// How far before the last `anchor` characters the same ones stand nearest, within `reach`.
    pub fn nearest_lag(&self, anchor: usize, reach: usize) -> Option<usize> {
        let kept = if anchor <= SHORT_ANCHOR { self.near } else { self.near + self.far };
        let farthest = kept.min(reach).checked_sub(anchor)?;
        let size = self.text.len();
        let wanted = &self.text[size - anchor..];
        let marks = self.rarest(anchor);
        let mut tried = 0;
        let mut lag = 1;
        while lag <= farthest {
            let count = TOGETHER.min(farthest + 1 - lag);
            let first = size - anchor - (lag + count - 1); // where the farthest of these lags begins
            if farthest < TOGETHER || self.any_may_begin(first, marks) {
                for lag in lag..lag + count {
                    let start = size - anchor - lag;
                    if marks.iter().all(|&(place, byte)| self.bytes[start + place] == byte) {
                        if &self.text[start..start + anchor] == wanted {
                            return Some(lag);
                        }
                        tried += 1;
                    }
                }
            }
            lag += count;
            if tried > PATIENCE {
                let nearest = next_match(&self.text[size - anchor - farthest..], anchor, lag);
                return nearest.filter(|&lag| lag <= farthest);
            }
        }
        None
    }

    /// Where in the last `anchor` characters the rarest bytes stand, and those bytes: the q, not the e, and
    /// of a map not its commas.
    fn rarest(&self, anchor: usize) -> [(usize, u8); MARKS] {
        let mut best = [(u64::MAX, 0, 0); MARKS];
        for (place, &byte) in self.bytes[self.bytes.len() - anchor..].iter().take(LOOKED_THROUGH).enumerate()
        {
            let candidate = (self.came[usize::from(byte)], place, byte);
            if candidate.0 < best[MARKS - 1].0 {
                let above = best.iter().filter(|kept| kept.0 <= candidate.0).count();
                best[above..].rotate_right(1);
                best[above] = candidate;
            }
        }
        best.map(|(_, place, byte)| (place, byte))
    }

    /// Whether at one of `TOGETHER` places from `first` on the rarest two marks stand where they would
    /// have to; without a branch, so that the compiler compares sixteen places at once.
    fn any_may_begin(&self, first: usize, marks: [(usize, u8); MARKS]) -> bool {
        let [(one, one_byte), (other, other_byte), _] = marks;
        let ones = self.bytes[first + one..].first_chunk::<TOGETHER>();
        let others = self.bytes[first + other..].first_chunk::<TOGETHER>();
        let (Some(ones), Some(others)) = (ones, others) else { return true };
        let mut any = 0;
        for lane in 0..TOGETHER {
            any |= u8::from(ones[lane] == one_byte) & u8::from(others[lane] == other_byte);
        }
        any != 0
    }

    /// How many of the last characters each equal the one `lag` before it.
    fn periodic_for(&self, lag: usize) -> usize {
        let kept = self.last(i64::MAX);
        let pairs = kept[lag..].iter().rev().zip(kept[..kept.len() - lag].iter().rev());
        pairs.take_while(|(one, other)| one == other).count()
    }
}

/// The nearest lag from `from` on at which the last `anchor` characters of `text` stand once more: Knuth,
/// Morris and Pratt, read backwards.
fn next_match(text: &[u32], anchor: usize, from: usize) -> Option<usize> {
    let back = |index: usize| text[text.len() - 1 - index];
    let mut borders = vec![0; anchor];
    let mut matched = 0;
    for index in 1..anchor {
        while matched > 0 && back(index) != back(matched) {
            matched = borders[matched - 1];
        }
        matched += usize::from(back(index) == back(matched));
        borders[index] = matched;
    }
    matched = 0;
    for index in from..text.len() {
        if matched == anchor {
            matched = borders[matched - 1];
        }
        while matched > 0 && back(index) != back(matched) {
            matched = borders[matched - 1];
        }
        matched += usize::from(back(index) == back(matched));
        if matched == anchor {
            return Some(index + 1 - anchor);
        }
    }
    None
}

/// A stretch of text in which every character equals the one `lag` before it, still going on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repetition {
    pub lag: i64,
    pub onset: i64,
}

impl Repetition {
    pub fn length(&self, tail: &Tail) -> i64 {
        tail.end - self.onset
    }
}

/// The repetitions that end where the tail ends, at most one a level.
pub struct LagFinder {
    levels: &'static [Level],
    pub found: [Option<Repetition>; 3],
    due: [i64; 3],
}

impl LagFinder {
    /// Look at the first `count` levels.
    pub fn new(count: usize) -> Self {
        LagFinder { levels: &LEVELS[..count], found: [None; 3], due: [64, 512, 4_096] }
    }

    /// The repetitions, those of lower levels first.
    pub fn repetitions(&self) -> impl Iterator<Item = Repetition> + '_ {
        self.found.iter().copied().flatten()
    }

    /// Follow the tail after it has grown by `grown` characters.
    pub fn advance(&mut self, tail: &Tail, grown: usize) {
        for found in &mut self.found {
            if found.is_some_and(|one| !tail.goes_on(one.lag as usize, grown)) {
                *found = None;
            }
        }
        for index in 0..self.levels.len() {
            if tail.end < self.due[index] {
                break; // a higher level is never due before a lower one
            }
            let step = self.levels[index].step;
            self.due[index] = (tail.end / step + 1) * step;
            if self.found[index].is_none() {
                self.found[index] = self.look(tail, index);
            }
        }
    }

    fn look(&self, tail: &Tail, index: usize) -> Option<Repetition> {
        let level = &self.levels[index];
        let lag = tail.nearest_lag(level.anchor, level.reach)?;
        let lag_chars = lag as i64;
        if self.repetitions().any(|known| known.lag == lag_chars) {
            return None;
        }
        Some(Repetition { lag: lag_chars, onset: tail.end - tail.periodic_for(lag) as i64 - lag_chars })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nearest(text: &[u32], anchor: usize, reach: usize) -> Option<usize> {
        let farthest = text.len().min(reach).checked_sub(anchor)?;
        let size = text.len();
        (1..=farthest).find(|lag| text[size - anchor - lag..size - lag] == text[size - anchor..])
    }

    proptest! {
        #[test]
        fn the_nearest_lag_is_the_nearest(
            text in prop::collection::vec(prop::sample::select(vec![97_u32, 98, 0x6161]), 0..1_500),
            copies in 1_usize..4,
            anchor in MARKS..40,
        ) {
            let text = text.repeat(copies);
            let mut tail = Tail::default();
            tail.append(&text);
            prop_assert_eq!(tail.nearest_lag(anchor, 1_024), nearest(tail.last(8_192), anchor, 1_024));
        }

        #[test]
        fn text_made_against_the_search_is_searched_as_well(
            runs in prop::collection::vec((1_usize..200, 97_u32..99), 1..30),
            anchor in 8_usize..190,
        ) {
            let text: Vec<u32> = runs.iter().flat_map(|&(count, code)| vec![code; count]).collect();
            let mut tail = Tail::default();
            tail.append(&text);
            let expected = nearest(&text, anchor, 8_192);
            prop_assert_eq!(tail.nearest_lag(anchor, 8_192), expected);
            if text.len() >= anchor {
                prop_assert_eq!(next_match(&text, anchor, 1), expected);
            }
        }
    }
}
