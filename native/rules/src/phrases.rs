//! Rule `phrases` (`phrases.py`): nothing new is said any more.

use std::collections::{HashSet, VecDeque};
use std::hash::{Hash, Hasher};

use crate::characters::{Span, is_clause_mark, parts_clauses, words_and_numbers};
use crate::checksum::Checksum;
use crate::refrain::Refrain;
use crate::settings::PhrasePatience;
use crate::trip::{Approach, Finding, Rule};

const STRIDE: i64 = 256;
const RECYCLED_AT: u64 = 3;
const CLAUSE_WORDS: usize = 16;
const TOKEN_CAP: usize = 64;
const TABLE_SLOTS: usize = 16_381;
const COUNT_BITS: u32 = 3;
const PLACE_BITS: u32 = 12;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
const MIX: u64 = 31;
const PAST_DIGITS: u32 = b':' as u32;
const LATIN: u32 = 0xdff;
const ALMOST: f64 = 0.99;
const ONSET_SHARE: usize = 10;
const BLANK: u32 = b' ' as u32;

/// What one stretch added: its words, how many of their phrases were new, where the recycled began.
#[derive(Default)]
struct Taken {
    text: Vec<u32>,
    words: Vec<Span>,
    checksums: Vec<u32>,
    new: i64,
    first_said: Vec<i64>,
}

/// A word by its checksum, so that to hash it costs nothing; equal only where the text is.
#[derive(PartialEq, Eq)]
struct Spelled<'a> {
    checksum: u32,
    text: &'a [u32],
}

impl Hash for Spelled<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.checksum.hash(state);
    }
}

/// A clause, a line or a list entry that has ended.
struct Ended {
    is_new: bool,
    words: i64,
}

/// The clause that is being read: its words with a blank between them.
#[derive(Default)]
struct Clause {
    checksum: Checksum,
    words: usize,
}

/// What came nearest to a trip: recycled, size, new, new clauses, for so many words.
type Nearest = (i64, i64, i64, i64, i64);

/// Reads a reply block by block and says when its recent words are nothing but recycled phrases.
pub struct Phrases {
    patience: PhrasePatience,
    text: Vec<u32>,
    unread: i64,
    fingerprints: Vec<u64>,
    clause_keys: Vec<u64>,
    last: [u64; 3],
    window: VecDeque<Taken>,
    spare: Vec<Taken>,
    size: i64,
    new: i64,
    recycled: i64,
    lasted: i64,
    recent_clauses: VecDeque<Ended>,
    clause: Clause,
    refrain: Option<Refrain>,
    nearest: Option<Nearest>,
    share: f64,
    at_char: i64,
}

impl Phrases {
    pub fn new(patience: PhrasePatience) -> Self {
        Phrases {
            patience,
            text: Vec::new(),
            unread: 0,
            fingerprints: vec![0; TABLE_SLOTS],
            clause_keys: vec![0; TABLE_SLOTS],
            last: [0; 3],
            window: VecDeque::new(),
            spare: Vec::new(),
            size: 0,
            new: 0,
            recycled: 0,
            lasted: 0,
            recent_clauses: VecDeque::new(),
            clause: Clause::default(),
            refrain: None,
            nearest: None,
            share: 0.0,
            at_char: 0,
        }
    }

    /// Take the block that ends at character `end`; return the loop, if it is one by now.
    pub fn read(&mut self, block: &[u32], end: i64) -> Option<Finding> {
        self.text.extend_from_slice(block);
        self.unread += block.len() as i64;
        if self.unread < STRIDE {
            return None;
        }
        let mut taken = self.spare.pop().unwrap_or_default();
        std::mem::swap(&mut taken.text, &mut self.text);
        self.text.clear();
        taken.words.clear();
        taken.words.extend(words_and_numbers(&taken.text));
        if let Some(last) =
            taken.words.pop_if(|last| last.chars() < TOKEN_CAP && last.stop == taken.text.len())
        {
            self.text.extend_from_slice(last.of(&taken.text));
            taken.text.truncate(last.start);
        }
        self.look_up(&mut taken, end - self.unread);
        self.unread = 0;
        let words = taken.words.len() as f64;
        let is_word = |word: &&Span| taken.text[word.start] > PAST_DIGITS;
        let lexical = taken.words.iter().filter(is_word).count() as f64;
        if 2.0 * taken.new as f64 > words || lexical < self.patience.lexical * words {
            // Something is being said, or it is data: clauses and refrains can wait.
            self.clause = Clause::default();
            self.refrain = None;
            self.lasted /= 2;
            self.slide(taken);
            return None;
        }
        self.take_clauses(&taken.text);
        let refrain = self.refrain.get_or_insert_with(Refrain::new);
        let words_end = end - self.text.len() as i64;
        let onset = refrain.read(&taken.text, &taken.words, words_end, self.patience.refrain_chars);
        self.slide(taken);
        if let Some(onset) = onset {
            return Some(Finding::at(onset));
        }
        let is_full = 2 * self.recycled >= self.size && self.size >= self.patience.window;
        if is_full { self.judge(end) } else { None }
    }

    /// Look up the phrases that end in the words of a stretch, of which the first is near character `at`.
    fn look_up(&mut self, taken: &mut Taken, at: i64) {
        let place = ((at / STRIDE) as u64).min(PLACE_MASK);
        let fresh = place << COUNT_BITS | 1;
        taken.first_said.clear();
        taken.checksums.clear();
        taken.new = 0;
        let [mut one, mut two, mut three] = self.last;
        for word in &taken.words {
            let checksum = Checksum::of(word.of(&taken.text));
            taken.checksums.push(checksum);
            let four = u64::from(checksum);
            let phrase = ((one * MIX + two) * MIX + three) * MIX + four;
            let entry = &mut self.fingerprints[phrase as usize % TABLE_SLOTS];
            if *entry >> (PLACE_BITS + COUNT_BITS) == phrase {
                let times = *entry & COUNT_MASK;
                if times >= RECYCLED_AT {
                    taken.first_said.push((*entry >> COUNT_BITS & PLACE_MASK) as i64 * STRIDE);
                }
                *entry += u64::from(times < COUNT_MASK);
            } else {
                *entry = phrase << (PLACE_BITS + COUNT_BITS) | fresh;
                taken.new += 1;
            }
            (one, two, three) = (two, three, four);
        }
        self.last = [one, two, three];
    }

    /// Look up the clauses that end in `text`. Text full of new phrases is spared this.
    fn take_clauses(&mut self, text: &[u32]) {
        let mut start = 0;
        for (index, &code) in text.iter().enumerate() {
            let parts = code == BLANK && index > 0 && parts_clauses(text[index - 1]);
            if parts || is_clause_mark(code) {
                self.add_words(&text[start..index]);
                self.end_clause();
                start = index + 1;
            }
        }
        self.add_words(&text[start..]);
    }

    /// Add words to the clause; what is too long for one is cut.
    fn add_words(&mut self, piece: &[u32]) {
        for word in words_and_numbers(piece) {
            if self.clause.words == CLAUSE_WORDS {
                self.end_clause();
            }
            if self.clause.words > 0 {
                self.clause.checksum.add(&[BLANK]);
            }
            self.clause.checksum.add(word.of(piece));
            self.clause.words += 1;
        }
    }

    fn end_clause(&mut self) {
        if self.clause.words == 0 {
            return;
        }
        let key = u64::from(self.clause.checksum.value()) + 1;
        let entry = &mut self.clause_keys[key as usize % TABLE_SLOTS];
        if self.recent_clauses.len() as i64 == self.patience.clauses {
            self.recent_clauses.pop_front();
        }
        self.recent_clauses.push_back(Ended { is_new: *entry != key, words: self.clause.words as i64 });
        *entry = key;
        self.clause = Clause::default();
    }

    /// Put a stretch into the window, which holds as few stretches as have the words it needs.
    fn slide(&mut self, taken: Taken) {
        if taken.words.is_empty() {
            self.spare.push(taken); // marks alone neither say nor repeat anything
            return;
        }
        self.size += taken.words.len() as i64;
        self.new += taken.new;
        self.recycled += taken.first_said.len() as i64;
        self.window.push_back(taken);
        while let Some(oldest) = self.window.front() {
            let without = self.size - oldest.words.len() as i64;
            if without < self.patience.window {
                break;
            }
            let Some(gone) = self.window.pop_front() else { break };
            self.size = without;
            self.new -= gone.new;
            self.recycled -= gone.first_said.len() as i64;
            self.spare.push(gone);
        }
    }

    fn judge(&mut self, end: i64) -> Option<Finding> {
        let patience = &self.patience;
        if (self.recent_clauses.len() as i64) < patience.clauses {
            return None;
        }
        let size = self.size as f64;
        let new_clauses = self.recent_clauses.iter().filter(|clause| clause.is_new).count() as i64;
        let mut share = (self.recycled as f64 / (patience.recycled * size))
            .min(within(self.new, patience.new_phrases * size))
            .min(within(new_clauses, patience.new_clauses * patience.clauses as f64));
        let holds = share >= 1.0 && !self.is_data();
        let newest = self.window.back().map_or(0, |taken| taken.words.len() as i64);
        self.lasted = if holds { self.lasted + newest } else { self.lasted / 2 };
        if holds {
            share = self.lasted as f64 / self.patience.lasting.max(self.lasted) as f64;
        } else if share >= 1.0 {
            share = ALMOST;
        }
        if share > self.share {
            self.nearest = Some((self.recycled, self.size, self.new, new_clauses, self.lasted));
            (self.share, self.at_char) = (share, end);
        }
        (holds && self.lasted >= self.patience.lasting).then(|| Finding::at(self.onset()))
    }

    /// Whether the recent words are numbers, single letters or cells rather than clauses.
    fn is_data(&self) -> bool {
        let mut distinct = HashSet::new();
        let mut lexical = 0;
        for taken in &self.window {
            for (word, &checksum) in taken.words.iter().zip(&taken.checksums) {
                let text = word.of(&taken.text);
                if text[0] > PAST_DIGITS && (text.len() > 1 || text[0] > LATIN) {
                    lexical += 1;
                    if (distinct.len() as i64) < self.patience.distinct {
                        distinct.insert(Spelled { checksum, text });
                    }
                }
            }
        }
        let clause_words: i64 = self.recent_clauses.iter().map(|clause| clause.words).sum();
        f64::from(lexical) < self.patience.lexical * self.size as f64
            || (distinct.len() as i64) < self.patience.distinct
            || (clause_words as f64) < self.patience.clause_words * self.recent_clauses.len() as f64
    }

    /// Where the first tenth of the recycled phrases had been said for the first time.
    fn onset(&self) -> i64 {
        let mut said: Vec<i64> = self.window.iter().flat_map(|taken| &taken.first_said).copied().collect();
        said.sort_unstable();
        said.get(said.len() / ONSET_SHARE).copied().unwrap_or(0)
    }

    pub fn approach(&self) -> Approach {
        let detail = match self.nearest {
            None => "no phrase came back".to_owned(),
            Some((recycled, size, new, new_clauses, lasted)) => format!(
                "{recycled} of {size} phrases said before, {new} new, {new_clauses} new clauses, for {lasted} words"
            ),
        };
        Approach { rule: Rule::Phrases, share: self.share, at_char: self.at_char, detail }
    }
}

/// 1 where `count` keeps to `limit`, less the further it is above.
fn within(count: i64, limit: f64) -> f64 {
    if count as f64 <= limit { 1.0 } else { limit / count as f64 }
}
