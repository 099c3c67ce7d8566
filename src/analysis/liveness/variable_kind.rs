//! The kind of a variable before lowering, from its name: Poplar's own variables are called
//! `<rearrangement:layer1/output>` or `<message>`.

/// What Poplar calls a variable without a name.
pub(crate) const ANONYMOUS: &str = "<anon>";

/// The category that a name says, as the file calls categories; `variable` where it says none.
pub fn variable_kind(name: &str) -> &str {
    parts(name).map_or("variable", |(kind, _)| kind)
}

/// The name for people: `Rearrangement of layer1/output`.
pub fn pretty_name(name: &str) -> String {
    let Some((kind, of)) = parts(name) else {
        return if name == ANONYMOUS { "(no name)".to_owned() } else { name.to_owned() };
    };
    let title = crate::analysis::memory::category_title(kind);
    if of.is_empty() { title } else { format!("{title} of {of}") }
}

/// What a name that Poplar makes says: the kind, and of what it is, which may be empty.
pub fn parts(name: &str) -> Option<(&str, &str)> {
    let inner = name.strip_prefix('<')?.strip_suffix('>')?;
    let (kind, of) = inner.split_once(':').unwrap_or((inner, ""));
    let is_word = name != ANONYMOUS
        && !kind.is_empty()
        && kind.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word.then_some((kind, of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_poplar_makes_say_a_kind() {
        assert_eq!(variable_kind("<rearrangement:layer1/output>"), "rearrangement");
        assert_eq!(variable_kind("<message>"), "message");
        for name in ["layer1/output", "<variable 7>", "<>", "<:x>", "<a", ""] {
            assert_eq!(variable_kind(name), "variable", "{name}");
            assert_eq!(pretty_name(name), name);
        }
        assert_eq!(variable_kind("<anon>"), "variable");
        assert_eq!(pretty_name("<anon>"), "(no name)");
        assert!(pretty_name("<rearrangement:a/b>").ends_with(" of a/b"));
    }
}
