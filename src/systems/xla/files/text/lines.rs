//! The lines of XLA's text, taken apart: nothing is assumed of a line but what it is known by. What is found borrows from
//! the text, since there may be a million lines.

use std::borrow::Cow;

use crate::store::hlo::{AllocationKind, BufferAllocation, ElementType};

/// A value by its name and the place within the tuple that its instruction makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueLabel<'t> {
    pub name: &'t str,
    pub path: Option<Box<[u32]>>,
}

impl<'t> ValueLabel<'t> {
    /// `NAME`, `NAME{i,j}`, also followed by ` (phi)`.
    pub fn of(text: &'t str) -> Option<Self> {
        let text = text.trim().trim_end_matches("(phi)").trim_end();
        let (name, path) = match text.split_once('{') {
            Some((name, path)) => (name, Some(numbers(path.strip_suffix('}')?)?.into())),
            None => (text, None),
        };
        let name = name.trim_end();
        (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(Self { name, path })
    }

    /// The place within a tuple; empty also where the instruction makes none.
    pub fn path(&self) -> &[u32] {
        self.path.as_deref().unwrap_or_default()
    }

    /// `ID NAME[{i,j}][ (phi)] @COLOR`.
    fn with_id(text: &'t str) -> Option<(i64, Self)> {
        let (id, rest) = text.split_once(' ')?;
        let (label, _) = rest.rsplit_once(" @")?;
        Some((id.parse().ok()?, Self::of(label)?))
    }
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// `allocation N: size BYTES, …:`.
pub(super) struct AllocationLine;

impl AllocationLine {
    pub fn of(line: &str) -> Option<BufferAllocation> {
        let rest = line.strip_prefix("allocation ")?;
        let (number, rest) = rest.split_once(": size ")?;
        // Shapes hold commas: what lies between bars is cut out first.
        let mut flags = String::new();
        rest.split('|').step_by(2).for_each(|part| flags.push_str(part));
        let mut parts = flags.trim_end().trim_end_matches(':').split(',').map(str::trim);
        let bytes = parts.next()?.parse().ok()?;
        let (mut color, mut parameter) = (0, None);
        let [mut constant, mut local, mut live_out] = [false; 3];
        for part in parts {
            match part {
                "constant" => constant = true,
                "thread-local" => local = true,
                "maybe-live-out" => live_out = true,
                _ => {
                    if let Some(number) = part.strip_prefix("color ") {
                        color = number.parse().ok()?;
                    } else if let Some(number) = part.strip_prefix("parameter ") {
                        parameter = Some((number.parse().ok()?, 0));
                    }
                }
            }
        }
        let kind = AllocationKind::of([parameter.is_some(), constant, local, live_out]);
        let number = number.parse().ok()?;
        Some(BufferAllocation { number, bytes, kind, is_live_out: live_out, color, parameter })
    }
}

/// ` value: <LABEL> (size=BYTES,offset=BYTES): SHAPE`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ValueLine<'t> {
    pub id: i64,
    pub label: ValueLabel<'t>,
    pub bytes: u64,
    pub offset: u64,
    /// As it is written, of an array or a tuple.
    pub shape: &'t str,
}

impl<'t> ValueLine<'t> {
    pub fn of(line: &'t str) -> Option<Self> {
        let rest = line.trim_start().strip_prefix("value: <")?;
        let (label, rest) = rest.split_once("> (size=")?;
        let (bytes, rest) = rest.split_once(",offset=")?;
        let (offset, shape) = rest.split_once("):")?;
        let (id, label) = ValueLabel::with_id(label)?;
        let (bytes, offset) = (bytes.parse().ok()?, offset.parse().ok()?);
        Some(Self { id, label, bytes, offset, shape: shape.trim() })
    }

    /// The shape of an array; `None` of a tuple.
    pub fn leaf(&self) -> Option<WrittenArray<'t>> {
        WrittenArray::of(self.shape)
    }
}

/// Takes the shape with which a text begins off it: `f32[64,1024]{1,0}`, with its layout.
pub(super) fn take_array<'t>(text: &mut &'t str) -> Option<WrittenArray<'t>> {
    let end = text.find(']')?.checked_add(1)?;
    let (shape, rest) = text.split_at_checked(end)?;
    *text = rest;
    let layout = take_layout(text)?;
    // A type that is not known has no size.
    Some(WrittenArray { layout, ..WrittenArray::of(shape).unwrap_or_default() })
}

/// Takes the layout with which a text begins off it; empty where there is none, `None` where it does not end.
fn take_layout<'a>(text: &mut &'a str) -> Option<&'a str> {
    let whole = *text;
    if !whole.starts_with('{') {
        return Some("");
    }
    let mut open = 0_usize;
    let end = whole.char_indices().find_map(|(at, letter)| {
        match letter {
            '{' => open = open.saturating_add(1),
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        (open == 0).then(|| at.saturating_add(1))
    })?;
    let (layout, rest) = whole.split_at_checked(end)?;
    *text = rest;
    Some(layout)
}

/// Takes blanks and comments off the beginning of a text: `/*index=5*/`. `None` where one does not end: nothing follows
/// then.
pub(super) fn skip_comments(text: &mut &str) -> Option<()> {
    *text = text.trim_start();
    while let Some(comment) = text.strip_prefix("/*") {
        let (_, rest) = comment.split_once("*/")?;
        *text = rest.trim_start();
    }
    Some(())
}

/// The shape of an array as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WrittenArray<'t> {
    pub kind: ElementType,
    pub dimensions: Vec<i64>,
    /// `{1,0:T(8,128)}`; empty where it is not written.
    pub layout: &'t str,
}

impl<'t> WrittenArray<'t> {
    /// `f32[64,1024]{1,0}` with whatever follows; `None` of a tuple.
    pub fn of(text: &'t str) -> Option<Self> {
        let (kind, rest) = text.split_once('[')?;
        let (dimensions, mut rest) = rest.split_once(']')?;
        let kind = ElementType::named(kind)?;
        // Bounds of dimensions that are not fixed are written as at most.
        let sizes = numbers(&dimensions.replace("<=", ""))?;
        let layout = take_layout(&mut rest).unwrap_or_default();
        Some(Self { kind, dimensions: sizes.into_iter().map(i64::from).collect(), layout })
    }
}

/// `NAME{i,j}:START-END`.
pub(super) fn range_line(line: &str) -> Option<(ValueLabel<'_>, u32, u32)> {
    let (label, range) = line.trim().rsplit_once(':')?;
    let (start, end) = range.split_once('-')?;
    Some((ValueLabel::of(label)?, start.parse().ok()?, end.parse().ok()?))
}

/// `N:NAME`.
pub(super) fn sequence_line(line: &str) -> Option<(u32, &str)> {
    let (number, name) = line.trim().split_once(':')?;
    Some((number.parse().ok()?, name))
}

/// What is said of the instruction that makes a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FromInstruction<'t> {
    pub opcode: &'t str,
    pub op_name: Cow<'t, str>,
    pub source_file: Cow<'t, str>,
    pub source_line: u32,
}

impl<'t> FromInstruction<'t> {
    pub fn is_one(line: &str) -> bool {
        line.trim_start().starts_with("from instruction: ")
    }

    /// ` from instruction: %NAME = SHAPE OPCODE(…), …, metadata={op_name="…" …}`, with its name.
    pub fn of(line: &'t str) -> Option<(&'t str, Self)> {
        let rest = line.trim_start().strip_prefix("from instruction: %")?;
        let (name, rest) = rest.split_once(" = ")?;
        let behind = behind_shape(rest)?.trim_start();
        let (opcode, _) = behind.split_once('(')?;
        let metadata = behind.split_once("metadata={").map_or("", |(_, metadata)| metadata);
        let line = metadata.split_once("source_line=").map_or("", |(_, line)| line);
        let line = line.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or("");
        let said = Self {
            opcode,
            op_name: quoted(metadata, "op_name="),
            source_file: quoted(metadata, "source_file="),
            source_line: line.parse().unwrap_or(0),
        };
        Some((name, said))
    }
}

/// What follows a shape: a tuple ends with its last parenthesis.
fn behind_shape(text: &str) -> Option<&str> {
    let mut open = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open = open.saturating_add(1),
            ')' => open = open.saturating_sub(1),
            ' ' if open == 0 => return text.get(at..),
            _ => {}
        }
    }
    None
}

/// A text in quotes behind a word; quotes and backslashes within it have a backslash before them.
fn quoted<'t>(text: &'t str, word: &str) -> Cow<'t, str> {
    let Some((_, rest)) = text.split_once(word) else { return Cow::default() };
    let Some(rest) = rest.strip_prefix('"') else { return Cow::default() };
    let plain = rest.split(['"', '\\']).next().unwrap_or_default();
    let is_plain = !rest.get(plain.len()..).unwrap_or_default().starts_with('\\');
    if is_plain {
        return Cow::Borrowed(plain);
    }
    let (mut found, mut is_escaped) = (String::new(), false);
    for letter in rest.chars() {
        match letter {
            '\\' if !is_escaped => is_escaped = true,
            '"' if !is_escaped => break,
            _ => {
                is_escaped = false;
                found.push(letter);
            }
        }
    }
    Cow::Owned(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<'t>(kind: u32, dimensions: &[i64], layout: &'t str) -> WrittenArray<'t> {
        WrittenArray { kind: ElementType(kind), dimensions: dimensions.to_vec(), layout }
    }

    #[test]
    fn allocations_are_told_by_their_words_and_not_by_those_of_shapes() {
        let line = "allocation 4: size 512, parameter 3, shape |(f32[2], /*index=5*/s32[])| at ShapeIndex {1,0}, \
                    maybe-live-out:";
        let found = AllocationLine::of(line).unwrap();
        assert_eq!((found.number, found.bytes, found.color), (4, 512, 0));
        assert_eq!(found.kind, AllocationKind::Parameter);
        assert!(found.is_donated());
        let temporary =
            AllocationLine::of("allocation 9: size 80, color 2, preallocated-temp:").unwrap();
        assert_eq!((temporary.kind, temporary.color), (AllocationKind::Temporary, 2));
        let local = AllocationLine::of("allocation 9: size 80, thread-local:").unwrap();
        assert_eq!(local.kind, AllocationKind::ThreadLocal);
        assert!(AllocationLine::of("allocation x: size 80:").is_none());
        assert!(AllocationLine::of("allocation 1: size -80:").is_none());
    }

    #[test]
    fn values_have_their_place_in_a_tuple_where_there_is_one() {
        let line =
            " value: <794 arg_tuple.3{13} (phi) @0> (size=104,offset=16): f32[4,2]{1,0:T(8,128)}";
        let found = ValueLine::of(line).unwrap();
        assert_eq!((found.id, found.label.name), (794, "arg_tuple.3"));
        assert_eq!(found.label.path.as_deref(), Some([13].as_slice()));
        assert_eq!((found.bytes, found.offset), (104, 16));
        assert_eq!(found.shape, "f32[4,2]{1,0:T(8,128)}");
        assert_eq!(WrittenArray::of(found.shape), Some(written(11, &[4, 2], "{1,0:T(8,128)}")));
        let table =
            ValueLine::of(" value: <3 tuple.1{} @0> (size=16,offset=0): (f32[], s32[])").unwrap();
        assert_eq!(table.label.path.as_deref(), Some([].as_slice()));
        assert_eq!(table.shape, "(f32[], s32[])");
        assert_eq!(WrittenArray::of(table.shape), None);
        let plain = ValueLine::of(" value: <3 copy @0> (size=16,offset=0): pred[16]{0}").unwrap();
        assert_eq!((plain.label.name, plain.label.path), ("copy", None));
    }

    #[test]
    fn instructions_of_tuples_have_their_operation_behind_the_shape() {
        let line = r#" from instruction: %w.6 = (s32[], /*index=1*/u32[3]{0}) while(%t), body=%b, metadata={op_name="m[1][\'w\']/\"x\"" source_file="/a b.py" source_line=17}, x={}"#;
        let (name, said) = FromInstruction::of(line).unwrap();
        assert_eq!(name, "w.6");
        assert_eq!(said.opcode, "while");
        assert_eq!(said.op_name, "m[1]['w']/\"x\"");
        assert_eq!((said.source_file.as_ref(), said.source_line), ("/a b.py", 17));
        let (_, bare) = FromInstruction::of("from instruction: %c = f32[2]{0} copy(%a)").unwrap();
        assert_eq!(bare, FromInstruction { opcode: "copy", ..Default::default() });
    }

    #[test]
    fn shapes_are_taken_with_their_layouts() {
        let mut text = "f32[4,2]{1,0:T(8,128)S(1)}, /*index=5*/ /*b*/token[])";
        assert_eq!(take_array(&mut text), Some(written(11, &[4, 2], "{1,0:T(8,128)S(1)}")));
        text = text.strip_prefix(',').unwrap();
        assert_eq!(skip_comments(&mut text), Some(()));
        assert_eq!(take_array(&mut text), Some(written(17, &[], "")));
        assert_eq!(text, ")");
        assert_eq!(skip_comments(&mut " /*a*/ /*index=5, f32[2]"), None, "it does not end");
        let mut unknown = "x9[3]{{0}";
        assert_eq!(take_array(&mut unknown), None, "a layout that does not end");
        let mut unknown = "x9[3]";
        assert_eq!(take_array(&mut unknown), Some(written(0, &[], "")));
    }

    #[test]
    fn ranges_and_positions() {
        let (label, start, end) = range_line("    copy.88{1,0}:67-109").unwrap();
        assert_eq!((label.name, start, end), ("copy.88", 67, 109));
        assert_eq!(label.path.as_deref(), Some([1, 0].as_slice()));
        assert_eq!(sequence_line("    12:arg.1"), Some((12, "arg.1")));
        assert!(range_line("  InstructionSequence:").is_none());
    }
}
