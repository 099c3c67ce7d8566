//! Where ticks lie and what they say: whole positions, and round numbers of the unit of bytes.

use crate::text;
use crate::ui::units::Units;

/// The distance of ticks on whole positions: 1, 2 or 5 times a power of ten, `least` or more.
pub fn whole_step(least: f64) -> f64 {
    if !least.is_finite() || least <= 1.0 {
        return 1.0;
    }
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least - 1e-9)
        .unwrap_or(power * 10.0)
}

/// The distance of ticks of bytes, `least` or more: a power of two, or round where bytes are written.
pub fn bytes_step(least: f64, units: Units) -> f64 {
    if !least.is_finite() || least <= 1.0 {
        return 1.0;
    }
    match units {
        Units::Binary => 2_f64.powf(least.log2().ceil()),
        Units::Bytes => whole_step(least),
    }
}

pub fn multiples(step: f64, (low, high): (f64, f64)) -> impl Iterator<Item = f64> {
    let first = (low / step).ceil();
    let count = ((high / step).floor() - first + 1.0).clamp(0.0, 1000.0) as usize;
    (0..count).map(move |index| (first + index as f64) * step)
}

/// A tick of bytes, all ticks of an axis that ends at `top` in one unit.
pub fn bytes_text(bytes: f64, step: f64, top: f64, units: Units) -> String {
    const UNITS: [(&str, f64); 5] = [
        ("TiB", 1_099_511_627_776.0),
        ("GiB", 1_073_741_824.0),
        ("MiB", 1_048_576.0),
        ("KiB", 1024.0),
        ("B", 1.0),
    ];
    if units == Units::Bytes {
        return text::grouped(bytes.max(0.0).round() as u64);
    }
    // The largest unit in which a step is a quarter at least, so that no tick needs many decimals.
    let (unit, size) = UNITS
        .into_iter()
        .find(|(_, size)| *size <= step * 4.0 && *size <= top.max(1.0))
        .unwrap_or(("B", 1.0));
    let value = bytes / size;
    let decimals = [(0_usize, 1.0), (1, 10.0)]
        .into_iter()
        .find(|(_, tens)| {
            let scaled = step / size * tens;
            (scaled - scaled.round()).abs() < 1e-6
        })
        .map_or(2, |(decimals, _)| decimals);
    match decimals {
        _ if bytes <= 0.0 => "0".to_owned(),
        0 => format!("{} {unit}", text::grouped(value.round() as u64)),
        _ => format!("{value:.decimals$} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert!((whole_step(0.2) - 1.0).abs() < 1e-9);
        assert!((whole_step(3.0) - 5.0).abs() < 1e-9);
        assert!((whole_step(51.0) - 100.0).abs() < 1e-9);
        assert!((bytes_step(100_000.0, Units::Binary) - 131_072.0).abs() < 1e-9);
        assert!((bytes_step(130_000.0, Units::Bytes) - 200_000.0).abs() < 1e-9);
        assert_eq!(multiples(5.0, (-0.5, 11.0)).collect::<Vec<_>>(), [0.0, 5.0, 10.0]);
    }

    #[test]
    fn ticks_have_round_numbers_of_one_unit() {
        assert_eq!(bytes_text(131_072.0, 131_072.0, 640_000.0, Units::Binary), "128 KiB");
        assert_eq!(bytes_text(0.0, 131_072.0, 640_000.0, Units::Binary), "0");
        assert_eq!(bytes_text(786_432.0, 262_144.0, 3e6, Units::Binary), "0.75 MiB");
        assert_eq!(bytes_text(4_194_304.0, 4_194_304.0, 27e6, Units::Binary), "4 MiB");
        assert_eq!(bytes_text(2e5, 1e5, 9e5, Units::Bytes), "200,000");
        assert_eq!(bytes_text(15_401_472.0, 128.0, 16e6, Units::Binary), "15,401,472 B");
        assert_eq!(bytes_text(512.0, 256.0, 900.0, Units::Binary), "512 B");
    }
}
