//! A text with each of its numbers as one `0` (`skeleton.py`), so that what counts on becomes periodic.

use std::collections::VecDeque;

use crate::lags::Tail;

const NUMBER_CAP: usize = 64;
const VALUE_DIGITS: usize = 15;
const STRIDES_KEPT: usize = 128;

/// One number of the reply: its value, whether it is a time stamp, where it ends.
#[derive(Clone, Copy)]
pub struct Number {
    /// A time stamp of fifteen digits an hour, in thousandths of a second, does not fit in 64 bits.
    pub value: i128,
    pub is_time: bool,
    pub skeleton_end: i64,
    pub end: i64,
}

/// A stretch of the reply and where it begins, in the reply and in the skeleton.
#[derive(Default)]
struct Stride {
    text: Vec<u32>,
    start: i64,
    skeleton_start: i64,
}

/// Grows with a reply; `tail` has its end.
#[derive(Default)]
pub struct Skeleton {
    pub tail: Tail,
    strides: VecDeque<Stride>,
    pending: Vec<u32>,
    is_cut: bool,
    read: i64,
    grown: Vec<u32>,
}

fn is_digit(code: u32) -> bool {
    (u32::from(b'0')..=u32::from(b'9')).contains(&code)
}

fn is_any_of(code: u32, marks: &[u8]) -> bool {
    marks.iter().any(|&mark| u32::from(mark) == code)
}

impl Skeleton {
    /// Add `block` and return by how much the skeleton has grown; a number still growing waits.
    pub fn append(&mut self, block: &[u32]) -> usize {
        let mut stride = self.next_stride();
        let mut text = std::mem::take(&mut stride.text);
        text.clear();
        let mut start = self.read - self.pending.len() as i64;
        text.append(&mut self.pending);
        text.extend_from_slice(block);
        self.read += block.len() as i64;
        if self.is_cut {
            let digits = text.iter().take_while(|&&code| is_digit(code)).count();
            text.drain(..digits);
            start += digits as i64;
            self.is_cut = text.is_empty();
        }
        self.hold_back(&mut text);
        stride = Stride { text, start, skeleton_start: self.tail.end };
        self.grown.clear();
        let mut copied = 0;
        let mut from = 0;
        while let Some((begin, stop)) = next_number(&stride.text, from) {
            self.grown.extend_from_slice(&stride.text[copied..begin]);
            self.grown.push(u32::from(b'0'));
            (copied, from) = (stop, stop);
        }
        self.grown.extend_from_slice(&stride.text[copied..]);
        self.strides.push_back(stride);
        self.tail.append(&self.grown);
        self.grown.len()
    }

    /// An old stride to be used again, once there are enough.
    fn next_stride(&mut self) -> Stride {
        let oldest = if self.strides.len() == STRIDES_KEPT { self.strides.pop_front() } else { None };
        oldest.unwrap_or_default()
    }

    /// Let a number at the end of `text` wait for the rest of it, up to a bound.
    fn hold_back(&mut self, text: &mut Vec<u32>) {
        let in_number = |code: u32| is_digit(code) || is_any_of(code, b":.,");
        let settled = text.iter().rposition(|&code| !in_number(code)).map_or(0, |last| last + 1);
        let marks = text[settled..].iter().take_while(|&&code| is_any_of(code, b":.,")).count();
        let begun = &text[settled + marks..];
        if begun.len() > NUMBER_CAP {
            self.is_cut = true;
        } else {
            self.pending.extend_from_slice(begun);
            text.truncate(settled + marks);
        }
    }

    /// The numbers that end after position `since` of the skeleton, the newest first, as far as kept.
    pub fn newest_first(&self, since: i64) -> impl Iterator<Item = Number> + '_ {
        let end = self.tail.end;
        let ends = self
            .strides
            .iter()
            .rev()
            .scan(end, |stop, stride| Some((stride, std::mem::replace(stop, stride.skeleton_start))));
        let near = ends.take_while(move |&(_, stop)| stop > since);
        near.flat_map(|(stride, _)| numbers(stride).into_iter().rev())
            .take_while(move |number| number.skeleton_end > since)
    }

    /// The numbers of the block that was appended last.
    pub fn newest(&self) -> Vec<Number> {
        self.strides.back().map(numbers).unwrap_or_default()
    }
}

/// Where the next number from index `from` on begins and ends: digits, and the parts of a time stamp.
fn next_number(text: &[u32], from: usize) -> Option<(usize, usize)> {
    let digit_at = |index: usize| text.get(index).is_some_and(|&code| is_digit(code));
    let begin = from + text[from..].iter().position(|&code| is_digit(code))?;
    let mut stop = begin + 1;
    while digit_at(stop) {
        stop += 1;
    }
    let mut parts = 0;
    while parts < 3 && text.get(stop) == Some(&u32::from(b':')) && digit_at(stop + 1) && digit_at(stop + 2) {
        stop += 3;
        parts += 1;
    }
    if parts > 0 && text.get(stop).is_some_and(|&code| is_any_of(code, b".,")) && digit_at(stop + 1) {
        stop += 2;
        while digit_at(stop) {
            stop += 1;
        }
    }
    Some((begin, stop))
}

fn numbers(stride: &Stride) -> Vec<Number> {
    let mut found = Vec::new();
    let (mut removed, mut from) = (0, 0);
    while let Some((begin, stop)) = next_number(&stride.text, from) {
        removed += (stop - begin - 1) as i64;
        let (value, is_time) = value(&stride.text[begin..stop]);
        let stop_chars = stop as i64;
        found.push(Number {
            value,
            is_time,
            skeleton_end: stride.skeleton_start + stop_chars - removed,
            end: stride.start + stop_chars,
        });
        from = stop;
    }
    found
}

/// What a number is worth, a time stamp in thousandths of a second.
fn value(number: &[u32]) -> (i128, bool) {
    let colon = u32::from(b':');
    if !number.contains(&colon) {
        return (whole(number, VALUE_DIGITS), false);
    }
    let point = number.iter().position(|&code| is_any_of(code, b".,")).unwrap_or(number.len());
    let seconds = number[..point]
        .split(|&code| code == colon)
        .fold(0, |sum, part| sum * 60 + whole(part, VALUE_DIGITS));
    let fraction = number.get(point + 1..).unwrap_or_default();
    let thousandths = (0..3).fold(0, |sum, place| {
        sum * 10 + fraction.get(place).map_or(0, |&code| i128::from(code - u32::from(b'0')))
    });
    (seconds * 1_000 + thousandths, true)
}

fn whole(digits: &[u32], most: usize) -> i128 {
    digits.iter().take(most).fold(0, |sum, &code| sum * 10 + i128::from(code - u32::from(b'0')))
}
