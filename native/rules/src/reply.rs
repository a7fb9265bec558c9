//! Whole replies: how one is read to its end, and many of them on several cores.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::detector::Detector;
use crate::settings::Settings;
use crate::trip::{Approach, Trip};
use crate::words::{Character, WordCount};

/// Characters decoded at a time, a whole number of pieces.
const DECODED: usize = 4_096;

/// The text of a reply: UTF-8, or code points where it holds what UTF-8 cannot (a lone surrogate).
pub enum Text<'a> {
    Utf8(&'a str),
    Codes(&'a [u32]),
}

/// What is to be said of a reply that has ended.
pub struct Judged {
    pub chars: i64,
    pub words: i64,
    pub trip: Option<Trip>,
    pub approaches: Vec<Approach>,
}

/// Hand a text to `take` in slices, bytes where all of it is ASCII.
fn in_slices(text: &Text<'_>, mut take: impl FnMut(Slice<'_>)) {
    match text {
        Text::Utf8(text) if text.is_ascii() => take(Slice::Ascii(text.as_bytes())),
        Text::Codes(codes) => take(Slice::Codes(codes)),
        Text::Utf8(text) => {
            let mut decoded = Vec::with_capacity(text.len().min(DECODED));
            for character in text.chars() {
                decoded.push(u32::from(character));
                if decoded.len() == DECODED {
                    take(Slice::Codes(&decoded));
                    decoded.clear();
                }
            }
            take(Slice::Codes(&decoded));
        }
    }
}

/// A piece of a text, in one of the two forms that the rules read.
enum Slice<'a> {
    Ascii(&'a [u8]),
    Codes(&'a [u32]),
}

/// Judge a reply as if it had come in pieces of `piece` characters, a divisor of `DECODED`.
pub fn judge(text: &Text<'_>, settings: &Settings, piece: usize, explain: bool) -> Judged {
    // Only the seed's backstop, read once a chunk, can tell how a reply was cut.
    let cut_shows = settings.rules.words && settings.rules.length && settings.max_response_chars > 0;
    let piece = if cut_shows { piece } else { usize::MAX };
    let mut detector = Detector::new(settings);
    let mut chars = 0;
    in_slices(text, |slice| match slice {
        Slice::Ascii(bytes) => chars += read(&mut detector, bytes, piece),
        Slice::Codes(codes) => chars += read(&mut detector, codes, piece),
    });
    Judged {
        chars,
        words: detector.words_ended().unwrap_or_else(|| count_words(text)),
        trip: detector.trip().cloned(),
        approaches: if explain { detector.approaches() } else { Vec::new() },
    }
}

/// Let the detector read `text` until it trips; return how long it was in any case.
fn read<C: Character>(detector: &mut Detector, text: &[C], piece: usize) -> i64 {
    if detector.trip().is_none() {
        let _tripped = text.chunks(piece).any(|piece| detector.push(piece).is_some());
    }
    text.len() as i64
}

fn count_words(text: &Text<'_>) -> i64 {
    let mut words = WordCount::default();
    in_slices(text, |slice| match slice {
        Slice::Ascii(bytes) => words.read(bytes),
        Slice::Codes(codes) => words.read(codes),
    });
    words.ended()
}

/// Judge many replies on up to `threads` threads; the answers are in the order of the texts.
///
/// A panic of the rules, a fault of ours, becomes the error's text.
pub fn judge_all(
    texts: &[Text<'_>],
    settings: &Settings,
    piece: usize,
    explain: bool,
    threads: usize,
) -> Result<Vec<Judged>, String> {
    let next = AtomicUsize::new(0);
    let judged = Mutex::new(Vec::with_capacity(texts.len()));
    let work = || {
        caught(|| {
            while let Some((index, text)) = {
                let index = next.fetch_add(1, Ordering::Relaxed);
                texts.get(index).map(|text| (index, text))
            } {
                let one = judge(text, settings, piece, explain);
                judged.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, one));
            }
        })
    };
    let helpers = threads.min(texts.len()).saturating_sub(1);
    thread::scope(|scope| {
        // Where no thread can be started (a limit of the system), the rest do its work.
        let started: Vec<_> =
            (0..helpers).map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        started.into_iter().fold(work(), |so_far, helper| {
            let done = helper.join().unwrap_or_else(|panic| Err(said(&*panic)));
            so_far.and(done)
        })
    })?;
    let mut judged = judged.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    judged.sort_unstable_by_key(|&(index, _)| index);
    Ok(judged.into_iter().map(|(_, one)| one).collect())
}

/// Run `work`; a panic becomes an error that says what it said.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| said(&*panic))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it did not say why").to_owned()
}
