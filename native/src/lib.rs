//! The Python face of the rules: `Figures` are settings, `Detector` reads one reply, `judge_all` many.
//!
//! Text is read where `CPython` keeps its UTF-8, which for ASCII is the string itself: nothing is copied.

use std::sync::Arc;
use std::thread;

use loopwatch_rules as rules;
use pyo3::exceptions::{PyOverflowError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyString};
use rules::{Approach, CyclePatience, PhrasePatience, Text};

/// More characters than any reply has: no larger figure is ever reached either.
const MOST: u64 = 1 << 53;

/// A rule's name, share, place and detail: the fields of Python's `Approach`.
type Near = (&'static str, f64, i64, String);

/// The fields of Python's `Trip`, in its order.
type Fields<'py> = (
    &'static str,
    i64,
    i64,
    Option<i64>,
    Option<i64>,
    Option<f64>,
    Option<i64>,
    Option<i64>,
    Bound<'py, PyAny>,
);

/// A reply's characters, words, trip and approaches.
type Judged<'py> = (i64, i64, Option<Fields<'py>>, Vec<Near>);

/// The figures of a `LoopDetection`, read once and shared by the detectors that run on them.
#[pyclass(frozen, module = "loopwatch_native")]
struct Figures(Arc<rules::Settings>);

#[pymethods]
impl Figures {
    #[new]
    fn new(settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let names: Vec<String> = if settings.getattr("enabled")?.extract()? {
            settings.getattr("rules")?.extract()?
        } else {
            Vec::new()
        };
        let runs = |rule: &str| names.iter().any(|name| name == rule);
        Ok(Figures(Arc::new(rules::Settings {
            rules: rules::Rules {
                words: runs("words"),
                cycle: runs("cycle"),
                phrases: runs("phrases"),
                blank: runs("blank"),
                length: runs("length"),
            },
            window_words: whole(settings, "window_words")?,
            repeat_threshold: whole(settings, "repeat_threshold")?,
            min_offenders: whole(settings, "min_offenders")?,
            min_saturated_run: whole(settings, "min_saturated_run")?,
            max_response_chars: whole(settings, "max_response_chars")?,
            blank_chars: whole(settings, "blank_chars")?,
            cycle: cycle_patience(&settings.getattr("cycle")?)?,
            phrases: phrase_patience(&settings.getattr("phrases")?)?,
        })))
    }
}

fn cycle_patience(patience: &Bound<'_, PyAny>) -> PyResult<CyclePatience> {
    let mut kinds = [0; rules::KINDS.len()];
    for (figure, name) in kinds.iter_mut().zip(rules::KINDS) {
        *figure = whole(patience, name)?;
    }
    let mut counted = [0; rules::COUNTED_KINDS.len()];
    for (figure, name) in counted.iter_mut().zip(rules::COUNTED_KINDS) {
        *figure = whole(patience, name)?;
    }
    Ok(CyclePatience {
        kinds,
        counted,
        copies: whole(patience, "copies")?,
        long_copies: whole(patience, "long_copies")?,
        long_unit: whole(patience, "long_unit")?,
    })
}

fn phrase_patience(patience: &Bound<'_, PyAny>) -> PyResult<PhrasePatience> {
    let share = |name: &str| patience.getattr(name)?.extract();
    Ok(PhrasePatience {
        window: whole(patience, "window")?,
        recycled: share("recycled")?,
        new_phrases: share("new_phrases")?,
        lasting: whole(patience, "lasting")?,
        clauses: whole(patience, "clauses")?,
        new_clauses: share("new_clauses")?,
        refrain_chars: whole(patience, "refrain_chars")?,
        lexical: share("lexical")?,
        distinct: whole(patience, "distinct")?,
        clause_words: share("clause_words")?,
    })
}

/// A whole number of any size, as far as one can matter.
fn whole(settings: &Bound<'_, PyAny>, name: &str) -> PyResult<i64> {
    let figure = match settings.getattr(name)?.extract::<u64>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(settings.py()) => MOST,
        figure => figure?.min(MOST),
    };
    Ok(figure as i64)
}

/// One detector for one reply: what `loopwatch.detect.native` makes a `LoopDetector` of.
#[pyclass(subclass, module = "loopwatch_native")]
struct Detector {
    rules: rules::Detector,
    make_trip: Py<PyAny>,
    trip: Option<Py<PyAny>>,
}

#[pymethods]
impl Detector {
    /// `make_trip` is called with the fields of a trip, once.
    #[new]
    fn new(figures: &Figures, make_trip: Py<PyAny>) -> Self {
        Detector { rules: rules::Detector::new(&figures.0), make_trip, trip: None }
    }

    /// Read the next piece of the reply; answer with the trip once it has become a loop, else None.
    fn push(&mut self, text: &Bound<'_, PyString>) -> PyResult<Option<Py<PyAny>>> {
        let py = text.py();
        if self.trip.is_none() {
            let read = match text.to_str() {
                Ok(text) => read(&mut self.rules, &Text::Utf8(text)),
                Err(_) => read(&mut self.rules, &Text::Codes(&code_points(text)?)),
            };
            if let Some(trip) = read.map_err(|panic| fault(&panic))? {
                self.trip = Some(self.make_trip.call1(py, fields(py, &trip)?)?);
            }
        }
        Ok(self.trip.as_ref().map(|trip| trip.clone_ref(py)))
    }

    /// The verdict, once there is one.
    #[getter]
    fn trip(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.trip.as_ref().map(|trip| trip.clone_ref(py))
    }

    #[getter]
    fn chars_seen(&self) -> i64 {
        self.rules.chars_seen()
    }

    #[getter]
    fn words_seen(&self) -> i64 {
        self.rules.words_seen()
    }

    #[getter]
    fn offenders(&self) -> i64 {
        self.rules.offenders()
    }

    #[getter]
    fn saturated_run(&self) -> i64 {
        self.rules.saturated_run()
    }

    #[getter]
    fn peak_saturated_run(&self) -> i64 {
        self.rules.peak_saturated_run()
    }

    /// How near each rule has come to a trip, in the order of the rules.
    fn near(&self) -> Vec<Near> {
        self.rules.approaches().into_iter().map(near).collect()
    }
}

/// Let the rules read one push, which is one chunk wherever that shows.
fn read(detector: &mut rules::Detector, text: &Text<'_>) -> Result<Option<rules::Trip>, String> {
    rules::caught(|| match *text {
        Text::Utf8(text) if text.is_ascii() => detector.push(text.as_bytes()).cloned(),
        Text::Utf8(text) => detector.push(&text.chars().map(u32::from).collect::<Vec<_>>()).cloned(),
        Text::Codes(codes) => detector.push(codes).cloned(),
    })
}

/// Judge whole replies as if each had come in pieces of `piece` characters, on up to `threads` threads
/// and no more than there are cores, without the interpreter's lock.
#[pyfunction]
fn judge_all<'py>(
    py: Python<'py>,
    figures: &Figures,
    texts: Vec<Bound<'py, PyString>>,
    piece: usize,
    explain: bool,
    threads: usize,
) -> PyResult<Vec<Judged<'py>>> {
    let held: Vec<Held> = texts.into_iter().map(|text| hold(&text)).collect::<PyResult<_>>()?;
    let settings = Arc::clone(&figures.0);
    let judged = py.detach(|| {
        let texts: Vec<Text<'_>> = held.iter().map(Held::text).collect();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        rules::judge_all(&texts, &settings, piece.max(1), explain, threads.min(cores))
    });
    judged
        .map_err(|panic| fault(&panic))?
        .into_iter()
        .map(|one| {
            let trip = one.trip.map(|trip| fields(py, &trip)).transpose()?;
            Ok((one.chars, one.words, trip, one.approaches.into_iter().map(near).collect()))
        })
        .collect()
}

/// A text that stays where it is while no interpreter looks after it.
enum Held {
    Utf8(PyBackedStr),
    Codes(Vec<u32>),
}

impl Held {
    fn text(&self) -> Text<'_> {
        match self {
            Held::Utf8(text) => Text::Utf8(text),
            Held::Codes(codes) => Text::Codes(codes),
        }
    }
}

fn hold(text: &Bound<'_, PyString>) -> PyResult<Held> {
    match PyBackedStr::try_from(text.clone()) {
        Ok(text) => Ok(Held::Utf8(text)),
        Err(_) => Ok(Held::Codes(code_points(text)?)),
    }
}

/// The code points of a string that has no UTF-8, since it holds lone surrogates.
fn code_points(text: &Bound<'_, PyString>) -> PyResult<Vec<u32>> {
    let encoded = text.call_method1("encode", ("utf-32-le", "surrogatepass"))?;
    let bytes = encoded.cast::<PyBytes>()?.as_bytes();
    Ok(bytes.chunks_exact(4).map(|code| u32::from_le_bytes([code[0], code[1], code[2], code[3]])).collect())
}

/// A string of code points, lone surrogates included.
fn string<'py>(py: Python<'py>, codes: &[u32]) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
    PyBytes::new(py, &bytes).call_method1("decode", ("utf-32-le", "surrogatepass"))
}

fn fields<'py>(py: Python<'py>, trip: &rules::Trip) -> PyResult<Fields<'py>> {
    let finding = trip.finding.as_ref();
    Ok((
        trip.rule.name(),
        trip.words,
        trip.chars,
        finding.map(|finding| finding.onset),
        finding.and_then(|finding| finding.period),
        finding.and_then(|finding| finding.repeats),
        trip.saturation.map(|(offenders, _)| offenders),
        trip.saturation.map(|(_, run)| run),
        string(py, finding.map_or(&[], |finding| &finding.sample))?,
    ))
}

fn near(approach: Approach) -> Near {
    (approach.rule.name(), approach.share, approach.at_char, approach.detail)
}

/// A panic of the rules as an error that `except Exception` catches.
fn fault(panic: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "loopwatch-native failed ({panic}): report it, and set LOOPWATCH_ENGINE=python meanwhile"
    ))
}

/// For the tests: what each character is, a byte a code point, its class and then a bit each for blank,
/// clause mark and letter behind which a blank parts clauses.
#[pyfunction]
fn character_classes(py: Python<'_>) -> Bound<'_, PyBytes> {
    let bits = |code: u32| {
        rules::class(code) as u8
            | u8::from(rules::is_blank(code)) << 4
            | u8::from(rules::is_clause_mark(code)) << 5
            | u8::from(rules::parts_clauses(code)) << 6
    };
    let all: Vec<u8> = (0..0x11_0000).map(bits).collect();
    PyBytes::new(py, &all)
}

#[pymodule]
mod loopwatch_native {
    #[pymodule_export]
    use super::{Detector, Figures, character_classes, judge_all};

    /// The revision of the rules' meaning: `loopwatch.detect.engine` has the same number, or leaves us aside.
    #[pymodule_export]
    const RULES: u32 = 1;
}
