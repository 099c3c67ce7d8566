//! Layouts: in which order the elements of an array lie in memory, and in which tiles, as XLA writes it.

use super::texts::Allowance;
use super::wire::{Malformed, Wire, WireField};

/// In place of a size of a tile: the dimension is put together with the next.
const TOGETHER: i64 = i64::MIN;

/// `{1,0:T(8,128)(2,1)S(1)}` of a layout: the dimensions from the fastest to the slowest, tiles, bits of an element where
/// they are not those of its type, and the memory space. Empty where it says nothing.
///
/// # Errors
/// When the message is damaged, or there is no room for what is in it.
pub(super) fn layout_text(message: &[u8], room: &mut Allowance) -> Result<String, Malformed> {
    let (mut order, mut tiles, mut behind) = (Vec::new(), String::new(), String::new());
    let (mut alignment, mut bits, mut space) = (0, 0, 0);
    Wire::of(message).each(|number, field| {
        match number {
            1 => field.add_numbers(&mut order, room)?,
            6 => add_tile(&mut tiles, field, room)?,
            7 => bits = field.number(),
            8 => space = field.number(),
            16 => alignment = field.number(),
            _ => {}
        }
        Ok(())
    })?;
    if !tiles.is_empty() {
        behind.push('T');
        behind.push_str(&tiles);
    }
    for (letter, number, usual) in [('L', alignment, 1), ('E', bits, 0), ('S', space, 0)] {
        if number != 0 && number != usual {
            behind.push_str(&format!("{letter}({number})"));
        }
    }
    if order.is_empty() && behind.is_empty() {
        return Ok(String::new());
    }
    let colon = if behind.is_empty() { "" } else { ":" };
    Ok(format!("{{{}{colon}{behind}}}", joined(&order, i64::to_string)))
}

/// `(8,128)`.
fn add_tile(
    tiles: &mut String,
    field: WireField<'_>,
    room: &mut Allowance,
) -> Result<(), Malformed> {
    let mut sizes = Vec::new();
    Wire::of(field.bytes()).each(|number, field| match number {
        1 => field.add_numbers(&mut sizes, room),
        _ => Ok(()),
    })?;
    let size = |size: &i64| if *size == TOGETHER { "*".to_owned() } else { size.to_string() };
    tiles.push_str(&format!("({})", joined(&sizes, size)));
    Ok(())
}

fn joined(numbers: &[i64], text: impl Fn(&i64) -> String) -> String {
    numbers.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: &[u8]) -> String {
        layout_text(message, &mut Allowance::of(100)).expect("a layout")
    }

    #[test]
    fn layouts_are_written_as_xla_writes_them() {
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[0x0A, 2, 1, 0]), "{1,0}");
        let tiles = [0x32, 5, 0x0A, 3, 8, 0x80, 1, 0x32, 4, 0x0A, 2, 2, 1];
        let tiled = [&[0x0A, 2, 1, 0][..], &tiles].concat();
        assert_eq!(text(&tiled), "{1,0:T(8,128)(2,1)}");
        assert_eq!(text(&[&tiled[..], &[0x40, 1]].concat()), "{1,0:T(8,128)(2,1)S(1)}");
        // A number, without an order of dimensions.
        assert_eq!(text(&[0x32, 4, 0x0A, 2, 0x80, 1]), "{:T(128)}");
        assert_eq!(text(&[0x0A, 1, 0, 0x38, 4, 0x80, 1, 1]), "{0:E(4)}");
    }

    #[test]
    fn a_layout_that_is_cut_is_damaged() {
        assert!(layout_text(&[0x0A, 2, 1], &mut Allowance::of(100)).is_err());
    }
}
