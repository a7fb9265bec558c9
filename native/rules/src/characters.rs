//! What counts as a blank, a letter and a word: the ranges of `characters.py`, to the character.
//!
//! They are written out there, so that neither the interpreter's Unicode version nor ours has a say;
//! a test of `tests/detect` compares every code point.

/// What a character is to the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Other,
    /// A letter of a script that puts blanks between words.
    Spaced,
    /// A letter of a script that puts none.
    Unspaced,
    /// Emoji and dingbats: each says as much as a word.
    Pictograph,
    Digit,
}

const SPACED: u8 = 1;
const UNSPACED: u8 = 2;
const PICTOGRAPH: u8 = 3;
const DIGIT: u8 = 4;
const CLASS: u8 = 0x0f;
const BLANK: u8 = 0x10;
const CLAUSE_MARK: u8 = 0x20;
const BEFORE_PARTING_BLANK: u8 = 0x40;

const BLANKS: [(u32, u32); 10] = [
    (0x09, 0x0d),
    (0x20, 0x20),
    (0x85, 0x85),
    (0xa0, 0xa0),
    (0x1680, 0x1680),
    (0x2000, 0x200a),
    (0x2028, 0x2029),
    (0x202f, 0x202f),
    (0x205f, 0x205f),
    (0x3000, 0x3000),
];

const SPACED_RANGES: [(u32, u32); 20] = [
    (0x41, 0x5a),
    (0x61, 0x7a),
    (0xaa, 0xaa),
    (0xb5, 0xb5),
    (0xba, 0xba),
    (0xc0, 0xd6),
    (0xd8, 0xf6),
    (0xf8, 0xdff),
    (0xf00, 0xfff),
    (0x10a0, 0x167f),
    (0x1681, 0x177f),
    (0x1800, 0x1fff),
    (0x2c00, 0x2dff),
    (0xa000, 0xa95f),
    (0xab00, 0xd7ff),
    (0xfb00, 0xfdff),
    (0xfe70, 0xfefe),
    (0xff21, 0xff3a),
    (0xff41, 0xff5a),
    (0x1_0000, 0x1_cfff),
];

const UNSPACED_RANGES: [(u32, u32); 9] = [
    (0xe00, 0xeff),
    (0x1000, 0x109f),
    (0x1780, 0x17ff),
    (0x3005, 0x3006),
    (0x3041, 0x30ff),
    (0x3400, 0x9fff),
    (0xf900, 0xfaff),
    (0xff66, 0xff9f),
    (0x2_0000, 0x3_ffff),
];

const PICTOGRAPH_RANGES: [(u32, u32); 2] = [(0x2600, 0x27bf), (0x1_f000, 0x1_faff)];

/// Scripts in which a blank parts clauses, not words.
const PARTING_RANGES: [(u32, u32); 3] = [(0xe00, 0xeff), (0x1000, 0x109f), (0x1780, 0x17ff)];

const CLAUSE_MARKS: [u32; 24] = [
    '.' as u32,
    '!' as u32,
    '?' as u32,
    ';' as u32,
    ':' as u32,
    ',' as u32,
    '|' as u32,
    '\n' as u32,
    0x3001,
    0x3002,
    0xff0c,
    0xff01,
    0xff1f,
    0xff1a,
    0xff1b,
    0x60c,
    0x61b,
    0x61f,
    0x6d4,
    0x964,
    0x965,
    0x104a,
    0x104b,
    0x17d4,
];
const LAST_CLAUSE_MARK: u32 = 0x17d5;

/// The characters below U+10000, looked up at once.
static TABLE: [u8; 0x1_0000] = {
    let mut table = [0_u8; 0x1_0000];
    table = mark(table, &SPACED_RANGES, SPACED);
    table = mark(table, &UNSPACED_RANGES, UNSPACED);
    table = mark(table, &PICTOGRAPH_RANGES, PICTOGRAPH);
    table = mark(table, &[('0' as u32, '9' as u32)], DIGIT);
    table = mark(table, &BLANKS, BLANK);
    table = mark(table, &PARTING_RANGES, BEFORE_PARTING_BLANK);
    let mut index = 0;
    while index < CLAUSE_MARKS.len() {
        table[CLAUSE_MARKS[index] as usize] |= CLAUSE_MARK;
        index += 1;
    }
    table[LAST_CLAUSE_MARK as usize] |= CLAUSE_MARK;
    table
};

const fn mark(mut table: [u8; 0x1_0000], ranges: &[(u32, u32)], bits: u8) -> [u8; 0x1_0000] {
    let mut index = 0;
    while index < ranges.len() {
        let (mut code, last) = ranges[index];
        while code <= last && code < 0x1_0000 {
            table[code as usize] |= bits;
            code += 1;
        }
        index += 1;
    }
    table
}

#[inline]
fn bits(code: u32) -> u8 {
    match TABLE.get(code as usize) {
        Some(&found) => found,
        None => beyond(code),
    }
}

/// Of the characters from U+10000 on.
fn beyond(code: u32) -> u8 {
    let within = |ranges: &[(u32, u32)]| ranges.iter().any(|&(first, last)| (first..=last).contains(&code));
    if within(&SPACED_RANGES) {
        SPACED
    } else if within(&UNSPACED_RANGES) {
        UNSPACED
    } else if within(&PICTOGRAPH_RANGES) {
        PICTOGRAPH
    } else {
        0
    }
}

#[inline]
pub fn class(code: u32) -> Class {
    match bits(code) & CLASS {
        SPACED => Class::Spaced,
        UNSPACED => Class::Unspaced,
        PICTOGRAPH => Class::Pictograph,
        DIGIT => Class::Digit,
        _ => Class::Other,
    }
}

/// One of the 25 characters with the Unicode property `White_Space`.
#[inline]
pub fn is_blank(code: u32) -> bool {
    bits(code) & BLANK != 0
}

/// A letter of any script, or a pictograph.
#[inline]
pub fn is_letter(code: u32) -> bool {
    matches!(bits(code) & CLASS, SPACED | UNSPACED | PICTOGRAPH)
}

/// What ends a clause, a line, a list entry or a cell.
#[inline]
pub fn is_clause_mark(code: u32) -> bool {
    bits(code) & CLAUSE_MARK != 0
}

/// Whether a blank behind this letter parts clauses.
#[inline]
pub fn parts_clauses(code: u32) -> bool {
    bits(code) & BEFORE_PARTING_BLANK != 0
}

/// How many characters are no blanks.
pub fn count_visible(text: &[u32]) -> usize {
    text.iter().filter(|&&code| !is_blank(code)).count()
}

/// How many characters are letters.
pub fn count_letters(text: &[u32]) -> usize {
    text.iter().filter(|&&code| is_letter(code)).count()
}

/// A piece of a text, from its first character up to, but not including, `stop`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    pub start: usize,
    pub stop: usize,
}

impl Span {
    pub fn of<T>(self, text: &[T]) -> &[T] {
        &text[self.start..self.stop]
    }

    pub fn chars(self) -> usize {
        self.stop - self.start
    }
}

/// The words of a text that say something: two letters or more, so that the `x` of a map is none.
pub fn lexical_words(text: &[u32]) -> impl Iterator<Item = Span> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            at = match class(text[start]) {
                Class::Spaced => run_end(text, start, usize::MAX),
                Class::Unspaced => run_end(text, start, 2),
                Class::Pictograph => start + 1,
                Class::Digit | Class::Other => {
                    at += 1;
                    continue;
                }
            };
            if at - start > 1 || class(text[start]) != Class::Spaced {
                return Some(Span { start, stop: at });
            }
        }
        None
    })
}

/// Words and numbers: unspaced scripts in pairs from the last mark, so that a sentence said again falls
/// into the same pairs.
pub fn words_and_numbers(text: &[u32]) -> impl Iterator<Item = Span> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            let kind = class(text[start]);
            let most = match kind {
                Class::Unspaced => 2,
                Class::Spaced | Class::Digit => usize::MAX,
                Class::Pictograph | Class::Other => {
                    at += 1;
                    continue;
                }
            };
            at = run_end(text, start, most);
            return Some(Span { start, stop: at });
        }
        None
    })
}

/// Where the run of characters of one class ends that begins at `start`, after `most` at the latest.
fn run_end(text: &[u32], start: usize, most: usize) -> usize {
    let kind = bits(text[start]) & CLASS;
    let rest = text[start + 1..].iter().take(most - 1);
    start + 1 + rest.take_while(|&&code| bits(code) & CLASS == kind).count()
}

/// A character as UTF-8 has it, and how many bytes those are; a lone surrogate, which Python's strings may
/// hold, alike.
#[inline]
pub fn encoded(code: u32) -> ([u8; 4], usize) {
    let tail = |shift: u32| 0x80 | (code >> shift & 0x3f) as u8;
    match code {
        0..0x80 => ([code as u8, 0, 0, 0], 1),
        0x80..0x800 => ([0xc0 | (code >> 6) as u8, tail(0), 0, 0], 2),
        0x800..0x1_0000 => ([0xe0 | (code >> 12) as u8, tail(6), tail(0), 0], 3),
        _ => ([0xf0 | (code >> 18) as u8, tail(12), tail(6), tail(0)], 4),
    }
}
