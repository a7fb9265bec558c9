//! Whatever a reply holds and however it is cut, a detector comes to the same verdict, and no text makes it
//! fail. (That the verdict is that of the Python twin is tested from there, in `tests/detect`.)

use loopwatch_rules::{CyclePatience, Detector, PhrasePatience, Rules, Settings, Text, judge, judge_all};
use proptest::prelude::*;

fn settings(rules: Rules, patience: i64) -> Settings {
    Settings {
        rules,
        window_words: 16,
        repeat_threshold: 3,
        min_offenders: 2,
        min_saturated_run: patience / 4,
        max_response_chars: 4_000,
        blank_chars: patience / 2,
        cycle: CyclePatience {
            kinds: [patience; 10],
            counted: [2 * patience; 3],
            copies: 3,
            long_copies: 4,
            long_unit: 400,
        },
        phrases: PhrasePatience {
            window: 60,
            recycled: 0.85,
            new_phrases: 0.03,
            lasting: 0,
            clauses: 10,
            new_clauses: 0.2,
            refrain_chars: patience,
            lexical: 0.45,
            distinct: 10,
            clause_words: 1.5,
        },
    }
}

const BLOCKS: Rules = Rules { words: false, cycle: true, phrases: true, blank: true, length: true };
const ALL: Rules = Rules { words: true, length: false, ..BLOCKS };

/// Runs of what the rules look for, mixed with any character at all.
fn texts() -> impl Strategy<Value = Vec<u32>> {
    let parts = prop_oneof![
        prop::sample::select(vec![
            "Let me look at the parser once more, step by step. ",
            "void 0; ",
            "0, ",
            "&nbsp;",
            "\\n",
            "\\",
            " ",
            "\n",
            "鶴",
            "ภาษา ",
            "12:30:05,5 ",
            "Step 7: go on.\n",
            "99999999999999999999",
        ])
        .prop_map(|part| part.chars().map(u32::from).collect::<Vec<_>>()),
        prop::collection::vec(0_u32..0x11_0000, 1..40),
    ];
    prop::collection::vec((parts, 1_usize..90), 0..10)
        .prop_map(|runs| runs.into_iter().flat_map(|(part, count)| part.repeat(count)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_cut_gives_the_same_verdict(
        text in texts(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        patience in 40_i64..900,
        rules in prop::sample::select(vec![BLOCKS, ALL]),
    ) {
        let settings = settings(rules, patience);
        let mut whole = Detector::new(&settings);
        whole.push(&text);
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        places.push(text.len());
        places.sort_unstable();
        let mut cut = Detector::new(&settings);
        let mut start = 0;
        for stop in places {
            cut.push(&text[start..stop]);
            start = stop;
        }
        prop_assert_eq!(cut.trip(), whole.trip());
        prop_assert_eq!(cut.words_seen(), whole.words_seen());
        prop_assert_eq!(cut.approaches(), whole.approaches());
        let judged = judge(&Text::Codes(&text), &settings, 64, true);
        prop_assert_eq!(judged.trip.as_ref(), whole.trip());
        prop_assert_eq!(judged.chars, text.len() as i64);
    }

    #[test]
    fn utf8_and_code_points_are_the_same_text(text in "\\PC{0,300}", count in 1_usize..20) {
        let text = text.repeat(count);
        let codes: Vec<u32> = text.chars().map(u32::from).collect();
        for settings in [settings(BLOCKS, 200), settings(ALL, 200)] {
            let utf8 = judge(&Text::Utf8(&text), &settings, 64, true);
            let wide = judge(&Text::Codes(&codes), &settings, 64, true);
            prop_assert_eq!(utf8.trip, wide.trip);
            prop_assert_eq!(utf8.approaches, wide.approaches);
            prop_assert_eq!((utf8.words, utf8.chars), (wide.words, wide.chars));
        }
    }
}

#[test]
fn many_replies_on_several_threads_are_judged_in_their_order() {
    let texts: Vec<String> = (0..200).map(|number| "void 0; ".repeat(number)).collect();
    let texts: Vec<Text<'_>> = texts.iter().map(|text| Text::Utf8(text)).collect();
    let settings = settings(BLOCKS, 300);
    for threads in [0, 1, 3, 500] {
        let judged = judge_all(&texts, &settings, 64, false, threads).expect("no panic");
        assert_eq!(judged.len(), 200);
        assert!(judged.iter().zip(0..).all(|(one, number)| one.chars == 8 * number));
        assert!(judged[199].trip.is_some() && judged[1].trip.is_none());
    }
}

#[test]
fn a_panic_is_an_error_that_says_what_it_said() {
    assert_eq!(loopwatch_rules::caught(|| 7), Ok(7));
    assert_eq!(loopwatch_rules::caught(|| panic!("no such rule")), Err::<(), _>("no such rule".to_owned()));
    let place = 3;
    assert_eq!(loopwatch_rules::caught(|| panic!("place {place}")), Err::<(), _>("place 3".to_owned()));
}
