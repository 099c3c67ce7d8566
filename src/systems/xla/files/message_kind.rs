//! The kind of a message: an HloProto, a bare assignment or a profile, as its fields say.

use super::wire::{Wire, WireField};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageKind {
    HloProto,
    Assignment,
    /// An `XSpace`.
    Profile,
    Other,
}

/// Fields of a message that have numbers, and fields that have bytes.
struct MessageFields {
    numbers: &'static [u32],
    bytes: &'static [u32],
}

/// What field 1 of an HloProto is: a module.
const MODULE: MessageFields = MessageFields { numbers: &[5, 6], bytes: &[1, 2, 3, 4, 7, 8] };
/// What field 1 of an assignment is: a value.
const VALUE: MessageFields = MessageFields { numbers: &[1, 2, 4], bytes: &[3] };
/// What field 3 of an HloProto is: an assignment.
const ASSIGNMENT: MessageFields = MessageFields { numbers: &[], bytes: &[1, 2, 3, 4, 5] };
/// What field 3 of an assignment is: an allocation. Its field 10 has numbers one by one or end to end.
const ALLOCATION: MessageFields =
    MessageFields { numbers: &[1, 2, 3, 5, 6, 7, 8, 11, 12], bytes: &[9] };

/// What field 1 of a profile is: a plane.
const PLANE: MessageFields = MessageFields { numbers: &[1], bytes: &[2, 3, 4, 5, 6] };
/// The name of a plane, which every plane has; a module has its own in field 1.
const NAME_OF_PLANE: u32 = 2;

/// Whether a message may be a plane of a profile.
fn is_plane(message: &[u8]) -> bool {
    let mut fields = Wire::of(message);
    let is_name = |field: (u32, WireField<'_>)| {
        field.0 == NAME_OF_PLANE && matches!(field.1, WireField::Bytes(_))
    };
    let first = [fields.next_field(), fields.next_field()];
    PLANE.has(message) && first.into_iter().filter_map(|field| field.ok().flatten()).any(is_name)
}

impl MessageFields {
    /// Whether a message may be of this form: fields of other numbers are passed over, as new releases have some more.
    fn has(&self, message: &[u8]) -> bool {
        let mut fields = Wire::of(message);
        let mut is_any = message.is_empty();
        loop {
            match fields.next_field() {
                Ok(Some((number, WireField::Number(_)))) if self.bytes.contains(&number) => {
                    return false;
                }
                Ok(Some((number, WireField::Bytes(_) | WireField::Cut(_))))
                    if self.numbers.contains(&number) =>
                {
                    return false;
                }
                Ok(Some(_)) => is_any = true,
                // What is damaged behind a field is told by what is before it.
                Ok(None) | Err(_) => return is_any,
            }
        }
    }
}

impl MessageKind {
    /// Of a message, of which the beginning is enough. Numbers that are 0 are absent, so that one field may be that of
    /// either; then the next one tells.
    pub fn of(message: &[u8]) -> Self {
        let mut fields = Wire::of(message);
        let (mut modules, mut assignments, mut has_contents) = (0_usize, 0_usize, false);
        while let Ok(Some((number, field))) = fields.next_field() {
            let (of_proto, of_assignment) = match (number, field) {
                (1, WireField::Bytes(part) | WireField::Cut(part)) if is_plane(part) => {
                    return Self::Profile;
                }
                (1, WireField::Bytes(part) | WireField::Cut(part)) => {
                    (MODULE.has(part), VALUE.has(part))
                }
                (3, WireField::Bytes(part) | WireField::Cut(part)) => {
                    (ASSIGNMENT.has(part), ALLOCATION.has(part))
                }
                // Aliases and heap traces.
                (2 | 4, WireField::Bytes(_) | WireField::Cut(_)) => (false, true),
                (1..=4, WireField::Number(_)) => (false, false),
                _ => continue,
            };
            match (of_proto, of_assignment) {
                (true, false) => return Self::HloProto,
                (false, true) => return Self::Assignment,
                (false, false) => return Self::Other,
                (true, true) if number == 1 => modules = modules.saturating_add(1),
                (true, true) => assignments = assignments.saturating_add(1),
            }
            has_contents |= !field.bytes().is_empty();
        }
        // An HloProto has one module and one assignment.
        match modules.max(assignments) {
            1 if has_contents => Self::HloProto,
            2.. if has_contents => Self::Assignment,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_by_what_their_fields_are() {
        let cases: [(&str, &[u8], MessageKind); 14] = [
            ("a module with a name", &[0x0A, 3, 0x0A, 1, b'm'], MessageKind::HloProto),
            ("a module without one", &[0x0A, 2, 0x28, 1, 0x1A, 0], MessageKind::HloProto),
            ("a value with an id", &[0x0A, 4, 0x08, 1, 0x1A, 0], MessageKind::Assignment),
            (
                "a value of id 0 and size 0, and another",
                &[0x0A, 4, 0x1A, 2, 0x20, 7, 0x0A, 4, 0x08, 1, 0x1A, 0],
                MessageKind::Assignment,
            ),
            (
                "such a value, and an allocation",
                &[0x0A, 4, 0x1A, 2, 0x20, 7, 0x1A, 2, 0x10, 9],
                MessageKind::Assignment,
            ),
            (
                "an unknown field before a value",
                &[0x7A, 1, b'x', 0x0A, 2, 0x08, 1],
                MessageKind::Assignment,
            ),
            (
                "an unknown field before a module",
                &[0x78, 1, 0x0A, 3, 0x0A, 1, b'm'],
                MessageKind::HloProto,
            ),
            ("an assignment alone", &[0x1A, 4, 0x1A, 2, 0x10, 9], MessageKind::HloProto),
            ("allocations alone", &[0x1A, 2, 0x10, 9], MessageKind::Assignment),
            ("a plane of a profile", &[0x0A, 5, 0x08, 1, 0x12, 1, b'p'], MessageKind::Profile),
            ("a plane with the id 0", &[0x0A, 5, 0x12, 1, b'p', 0x1A, 0], MessageKind::Profile),
            (
                "a module with two names",
                &[0x0A, 6, 0x0A, 1, b'm', 0x12, 1, b'e'],
                MessageKind::HloProto,
            ),
            ("a number", &[0x08, 1, 0x12, 0], MessageKind::Other),
            ("nothing", &[], MessageKind::Other),
        ];
        for (what, message, expected) in cases {
            assert_eq!(MessageKind::of(message), expected, "{what}");
        }
    }
}
