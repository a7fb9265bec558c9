//! Part of rule `phrases` (`refrain.py`): the same words in the same order, whatever stands between them.

use std::collections::VecDeque;

use crate::characters::Span;
use crate::lags::{LagFinder, Tail};
use crate::units::{Kind, classify};

const COPIES: i64 = 4;
const REMEMBERED: usize = 128;
const BLANK: u32 = b' ' as u32;

/// Where a stretch of words stands: its place among the words' characters, and in the reply.
struct Said {
    words_end: i64,
    reply_end: i64,
}

/// Reads the words of a reply and says for how long they have been the same ones over and over.
pub struct Refrain {
    tail: Tail,
    finder: LagFinder,
    said: VecDeque<Said>,
    piece: Vec<u32>,
}

impl Refrain {
    pub fn new() -> Self {
        Refrain { tail: Tail::default(), finder: LagFinder::new(1), said: VecDeque::new(), piece: Vec::new() }
    }

    /// Take the words of `text`, which end by character `end`; return the onset once `needed` characters
    /// repeat.
    pub fn read(&mut self, text: &[u32], words: &[Span], end: i64, needed: i64) -> Option<i64> {
        self.piece.clear();
        for word in words {
            self.piece.extend_from_slice(word.of(text));
            self.piece.push(BLANK);
        }
        self.tail.append(&self.piece);
        self.finder.advance(&self.tail, self.piece.len());
        if self.said.len() == REMEMBERED {
            self.said.pop_front();
        }
        self.said.push_back(Said { words_end: self.tail.end, reply_end: end });
        let repetition = self.finder.repetitions().next()?;
        if repetition.length(&self.tail) < needed.max(COPIES * repetition.lag) {
            return None;
        }
        let lines: Vec<u32> = self.tail.last(repetition.lag).iter().map(|&code| line_end_for(code)).collect();
        if classify(&lines) != Kind::Text {
            return None;
        }
        // Roughly where in the reply the words at the onset stand.
        let known = self.said.iter().find(|said| said.words_end >= repetition.onset)?;
        Some((known.reply_end - (known.words_end - repetition.onset)).max(0))
    }
}

fn line_end_for(code: u32) -> u32 {
    if code == BLANK { u32::from(b'\n') } else { code }
}
