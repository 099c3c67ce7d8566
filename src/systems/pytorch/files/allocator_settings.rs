//! The settings of the allocator that a snapshot states.

use super::assemble::lossy;
use super::objects::Objects;
use super::values::Pickled;
use super::word::Word;
use crate::limits;
use crate::store::snapshot::AllocatorSettings;

/// Settings that are kept.
const MOST_SETTINGS: usize = 256;

/// The settings that the root of a pickle names.
pub(super) fn settings(objects: &Objects, root: u32) -> AllocatorSettings {
    let mut settings = AllocatorSettings::default();
    let Some(Pickled::Object(dict)) = objects.get(root, Word::AllocatorSettings) else {
        return settings;
    };
    for (key, value) in objects.pairs(dict).iter().take(MOST_SETTINGS) {
        let Pickled::Text(key) = objects.value(*key) else { continue };
        let value = objects.value(*value);
        match (objects.texts.word(key), value) {
            // −1 is none.
            (Word::MaxSplitSize, Pickled::Unsigned(bytes)) => {
                settings.most_split_bytes = Some(bytes);
            }
            (Word::RoundupDivisions, Pickled::Object(divisions)) => {
                set_divisions(&mut settings.roundup_divisions, objects, divisions);
            }
            _ => {}
        }
        let name = limits::cut(&lossy(objects.texts.get(key)), limits::WORD_BYTES).into_owned();
        settings.all.push((name, setting_text(objects, value)));
    }
    settings
}

/// The divisions by the power of two in MiB: a dict of texts in files of today.
fn set_divisions(divisions: &mut [u64; 16], objects: &Objects, dict: u32) {
    for (key, value) in objects.pairs(dict).iter().take(MOST_SETTINGS) {
        let mebibytes = match objects.value(*key) {
            Pickled::Text(key) => lossy(objects.texts.get(key)).parse::<u64>().ok(),
            Pickled::Unsigned(number) => Some(number),
            _ => None,
        };
        let power = mebibytes.filter(|number| number.is_power_of_two()).map(u64::ilog2);
        let place = power.and_then(|power| divisions.get_mut(power as usize));
        if let (Some(place), Pickled::Unsigned(number)) = (place, objects.value(*value)) {
            *place = number;
        }
    }
}

fn setting_text(objects: &Objects, value: Pickled) -> String {
    let word =
        |text: u32| limits::cut(&lossy(objects.texts.get(text)), limits::WORD_BYTES).into_owned();
    match value {
        Pickled::None => "none".to_owned(),
        Pickled::Bool(value) => value.to_string(),
        Pickled::Unsigned(number) => number.to_string(),
        Pickled::Negative(number) => number.to_string(),
        Pickled::Float(number) => number.to_string(),
        Pickled::Text(text) => word(text),
        Pickled::Tuple(_) => String::new(),
        Pickled::Object(dict) => {
            let pairs = objects.pairs(dict).iter().take(MOST_SETTINGS);
            let pairs = pairs.filter_map(|(key, value)| {
                let key = match objects.value(*key) {
                    Pickled::Text(key) => word(key),
                    Pickled::Unsigned(key) => key.to_string(),
                    _ => return None,
                };
                match objects.value(*value) {
                    Pickled::Unsigned(0) => None,
                    Pickled::Unsigned(number) => Some(format!("{key}: {number}")),
                    Pickled::Text(text) => Some(format!("{key}: {}", word(text))),
                    _ => None,
                }
            });
            let mut text = String::new();
            for pair in pairs {
                if text.len() >= limits::WORD_BYTES {
                    break;
                }
                if !text.is_empty() {
                    text.push_str(", ");
                }
                text.push_str(&pair);
            }
            limits::cut(&text, limits::WORD_BYTES).into_owned()
        }
    }
}
