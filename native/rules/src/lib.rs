//! Is this reply a loop, and where did it begin? The rules of `loopwatch.detect` once more, verdict for
//! verdict, for archives and dense proxies. The Python modules of the same names are the meaning: what
//! a rule is for, and the reason of each figure, stand there.

mod blank;
mod characters;
mod checksum;
mod counters;
mod cycles;
mod detector;
mod lags;
mod phrases;
mod refrain;
mod reply;
mod settings;
mod skeleton;
mod stutter;
mod trip;
mod units;
mod words;

pub use characters::{Class, class, is_blank, is_clause_mark, parts_clauses};
pub use counters::COUNTED_KINDS;
pub use detector::Detector;
pub use reply::{Judged, Text, caught, judge, judge_all};
pub use settings::{CyclePatience, PhrasePatience, Rules, Settings};
pub use trip::{Approach, Finding, Rule, Trip};
pub use units::KINDS;
