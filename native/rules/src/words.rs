//! Rule `words` (`words.py`): several words, each over-represented in the recent window, for long.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use crate::characters::{encoded, is_blank};
use crate::settings::Settings;
use crate::trip::{Approach, Rule};

/// Characters at which an unfinished word is cut.
pub const WORD_CAP: usize = 128;

/// A character as it lies in a text: a byte of ASCII, or a code point.
pub trait Character: Copy {
    fn code(self) -> u32;

    /// The text as UTF-8, where that is how it lies.
    fn as_bytes(text: &[Self]) -> Option<&[u8]>;
}

impl Character for u8 {
    #[inline]
    fn code(self) -> u32 {
        u32::from(self)
    }

    #[inline]
    fn as_bytes(text: &[Self]) -> Option<&[u8]> {
        Some(text)
    }
}

impl Character for u32 {
    #[inline]
    fn code(self) -> u32 {
        self
    }

    #[inline]
    fn as_bytes(_: &[Self]) -> Option<&[u8]> {
        None
    }
}

/// How many words have ended.
#[derive(Default)]
pub struct WordCount {
    pending: usize,
    pub total: i64,
}

impl WordCount {
    pub fn read<C: Character>(&mut self, text: &[C]) {
        let (mut pending, mut total) = (self.pending, self.total);
        for &character in text {
            if is_blank(character.code()) {
                total += i64::from(pending > 0);
                pending = 0;
            } else {
                pending += 1;
                if pending == WORD_CAP {
                    total += 1;
                    pending = 0;
                }
            }
        }
        (self.pending, self.total) = (pending, total);
    }

    /// The words of a reply that has ended, and its last word with it.
    pub fn ended(&self) -> i64 {
        self.total + i64::from(self.pending > 0)
    }
}

/// Keys that are keyed hashes already: nobody who writes a text can choose where they fall.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 << 8 | u64::from(byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// The window of word hashes, its offenders and the saturated run.
pub struct WordSaturation {
    size: usize,
    threshold: i64,
    min_offenders: i64,
    min_run: i64,
    keyed: RandomState,
    window: Vec<u64>,
    oldest: usize,
    counts: HashMap<u64, i64, BuildHasherDefault<AsItIs>>,
    pending: Vec<u8>,
    pending_chars: usize,
    chars: i64,
    pub words_seen: i64,
    pub offenders: i64,
    pub saturated_run: i64,
    pub saturated_from: i64,
    pub peak_saturated_run: i64,
}

impl WordSaturation {
    pub fn new(settings: &Settings) -> Self {
        WordSaturation {
            size: settings.window_words as usize,
            threshold: settings.repeat_threshold,
            min_offenders: settings.min_offenders,
            min_run: settings.min_saturated_run,
            keyed: RandomState::new(),
            window: Vec::new(),
            oldest: 0,
            counts: HashMap::default(),
            pending: Vec::new(),
            pending_chars: 0,
            chars: 0,
            words_seen: 0,
            offenders: 0,
            saturated_run: 0,
            saturated_from: 0,
            peak_saturated_run: 0,
        }
    }

    /// Count the words that end in `text`; at a trip stop, and return the offset past the last.
    pub fn read<C: Character>(&mut self, text: &[C]) -> Option<usize> {
        let mut at = 0;
        while at < text.len() {
            if self.pending_chars == 0 && is_blank(text[at].code()) {
                at += 1;
                continue;
            }
            let start = at;
            let capped = start + WORD_CAP - self.pending_chars;
            let most = capped.min(text.len());
            while at < most && !is_blank(text[at].code()) {
                at += 1;
            }
            if at == text.len() && at < capped {
                self.hold(&text[start..]);
                break;
            }
            let key = self.key(&text[start..at]);
            at += usize::from(at < capped); // the blank that ended it
            if self.count(key, at) {
                return Some(at);
            }
        }
        self.chars += text.len() as i64;
        None
    }

    /// Keep the beginning of a word that has not ended.
    fn hold<C: Character>(&mut self, begun: &[C]) {
        for character in begun {
            let (bytes, count) = encoded(character.code());
            self.pending.extend_from_slice(&bytes[..count]);
        }
        self.pending_chars += begun.len();
    }

    /// The keyed hash of the word that ends with `rest`, the same however its text lies and was cut.
    fn key<C: Character>(&mut self, rest: &[C]) -> u64 {
        let mut hasher = self.keyed.build_hasher();
        match C::as_bytes(rest) {
            Some(bytes) if self.pending.is_empty() => hasher.write(bytes),
            _ => {
                self.hold(rest);
                hasher.write(&self.pending);
                self.pending.clear();
                self.pending_chars = 0;
            }
        }
        hasher.finish()
    }

    /// Push, then evict, then judge: whether the word that ends at offset `stop` makes the reply a loop.
    fn count(&mut self, key: u64, stop: usize) -> bool {
        self.words_seen += 1;
        let count = self.counts.entry(key).or_insert(0);
        *count += 1;
        self.offenders += i64::from(*count == self.threshold + 1);
        if self.window.len() == self.size {
            let old = std::mem::replace(&mut self.window[self.oldest], key);
            self.oldest = if self.oldest + 1 < self.size { self.oldest + 1 } else { 0 };
            self.evict(old);
        } else {
            self.window.push(key);
        }
        if self.offenders < self.min_offenders {
            self.saturated_run = 0;
            return false;
        }
        self.saturated_run += 1;
        if self.saturated_run == 1 {
            self.saturated_from = self.chars + stop as i64;
        }
        self.peak_saturated_run = self.peak_saturated_run.max(self.saturated_run);
        self.window.len() == self.size && self.saturated_run >= self.min_run
    }

    fn evict(&mut self, old: u64) {
        if let std::collections::hash_map::Entry::Occupied(mut known) = self.counts.entry(old) {
            *known.get_mut() -= 1;
            let left = *known.get();
            if left == 0 {
                known.remove();
            }
            self.offenders -= i64::from(left == self.threshold);
        }
    }

    pub fn approach(&self) -> Approach {
        let share = match self.min_run {
            0 => 0.0,
            needed => (self.peak_saturated_run as f64 / needed as f64).min(1.0),
        };
        let detail = format!("{} saturated words in a row of {}", self.peak_saturated_run, self.min_run);
        Approach { rule: Rule::Words, share, at_char: self.saturated_from, detail }
    }
}
