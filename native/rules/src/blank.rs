//! Rule `blank` (`blank.py`): white space without end.

use crate::characters::is_blank;
use crate::trip::{Approach, Finding, Rule};

const WRITTEN_BLANKS: [&str; 4] = ["\\n", "\\t", "\\r", "&nbsp;"];
const BEGINNINGS: [&str; 6] = ["&nbsp", "&nbs", "&nb", "&n", "&", "\\"];
const BLANK: u32 = b' ' as u32;

/// Reads a reply block by block and keeps where its last visible character stands.
pub struct Blank {
    limit: i64,
    pending: Vec<u32>,
    settled: Vec<u32>,
    visible_end: i64,
    longest: Option<i64>,
    share: f64,
    at_char: i64,
}

impl Blank {
    pub fn new(limit: i64) -> Self {
        Blank {
            limit,
            pending: Vec::new(),
            settled: Vec::new(),
            visible_end: 0,
            longest: None,
            share: 0.0,
            at_char: 0,
        }
    }

    /// Take the block that ends at character `end`; return the loop, if it is one by now.
    pub fn read(&mut self, block: &[u32], end: i64) -> Option<Finding> {
        let is_plain = |code: &u32| *code != u32::from(b'\\') && *code != u32::from(b'&');
        let run = if self.pending.is_empty() && block.iter().all(is_plain) {
            self.follow(block, end)
        } else {
            self.settle(block);
            let settled = std::mem::take(&mut self.settled);
            let run = self.follow(&settled, end - self.pending.len() as i64);
            self.settled = settled;
            run
        };
        if run as f64 > self.share * self.limit as f64 {
            self.longest = Some(run);
            self.share = run as f64 / self.limit as f64;
            self.at_char = end;
        }
        (run >= self.limit).then(|| Finding::at(self.visible_end))
    }

    /// The characters of white space at the end of `text`, which ends at character `end`, and before.
    fn follow(&mut self, text: &[u32], end: i64) -> i64 {
        if let Some(last) = text.iter().rposition(|&code| !is_blank(code)) {
            self.visible_end = end - (text.len() - last - 1) as i64;
        }
        end - self.visible_end
    }

    /// Put what waited and `block` into `settled`, written blanks as real ones; its undecided end waits.
    fn settle(&mut self, block: &[u32]) {
        self.settled.clear();
        self.settled.append(&mut self.pending);
        self.settled.extend_from_slice(block);
        let mut at = 0;
        while at < self.settled.len() {
            let rest = &self.settled[at..];
            let written = WRITTEN_BLANKS.iter().find(|written| starts_with(rest, written));
            let length = written.map_or(1, |written| written.len());
            if written.is_some() {
                self.settled[at..at + length].fill(BLANK);
            }
            at += length;
        }
        let size = self.settled.len();
        let undecided = BEGINNINGS
            .iter()
            .find(|beginning| {
                beginning.len() <= size && starts_with(&self.settled[size - beginning.len()..], beginning)
            })
            .map_or(0, |beginning| beginning.len());
        self.pending.extend(self.settled.drain(size - undecided..));
    }

    pub fn approach(&self) -> Approach {
        let detail = match self.longest {
            None => "no white space".to_owned(),
            Some(run) => format!("{run} characters of white space of {}", self.limit),
        };
        Approach { rule: Rule::Blank, share: self.share, at_char: self.at_char, detail }
    }
}

fn starts_with(text: &[u32], ascii: &str) -> bool {
    text.len() >= ascii.len() && text.iter().zip(ascii.bytes()).all(|(&code, byte)| code == u32::from(byte))
}
