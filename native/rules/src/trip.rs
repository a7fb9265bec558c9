//! What a rule says to the detector, and the detector to its caller.

/// The rules, in the order in which one place is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    Words,
    Cycle,
    Phrases,
    Blank,
    Length,
}

impl Rule {
    pub fn name(self) -> &'static str {
        match self {
            Rule::Words => "words",
            Rule::Cycle => "cycle",
            Rule::Phrases => "phrases",
            Rule::Blank => "blank",
            Rule::Length => "length",
        }
    }
}

/// Longest sample of a loop that a trip carries.
pub const SAMPLE_CHARS: usize = 200;

/// Where the loop began, its period and copies where the rule knows them, and a piece of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Finding {
    pub onset: i64,
    pub period: Option<i64>,
    pub repeats: Option<f64>,
    pub sample: Vec<u32>,
}

impl Finding {
    /// A rule that knows the onset alone.
    pub fn at(onset: i64) -> Self {
        Finding { onset, ..Finding::default() }
    }
}

/// Why and where a reply was abandoned; `offenders` and `saturated_run` of the rule `words` alone.
#[derive(Clone, PartialEq, Debug)]
pub struct Trip {
    pub rule: Rule,
    pub words: i64,
    pub chars: i64,
    pub finding: Option<Finding>,
    pub saturation: Option<(i64, i64)>,
}

/// How near a rule came to a trip: the share of what it takes, where, and in words.
#[derive(Clone, PartialEq, Debug)]
pub struct Approach {
    pub rule: Rule,
    pub share: f64,
    pub at_char: i64,
    pub detail: String,
}
