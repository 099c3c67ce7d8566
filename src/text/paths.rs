//! Paths of operations and files: their parts, what they have in common, and what stays where there is no room for all.

use std::borrow::Cow;

use super::{clean, shortened};

/// The directories with which all paths among some names begin. They tell none of them apart.
#[derive(Clone, Debug, Default)]
pub struct CommonPath {
    shared: Option<String>,
    are_several: bool,
}

impl CommonPath {
    /// Of these names.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut common = Self::default();
        names.into_iter().for_each(|name| common.add(name));
        common
    }

    /// Adds a name; what is no path counts for nothing.
    pub fn add(&mut self, name: &str) {
        let Some(last) = path_slashes(name).pop() else { return };
        let directory = name.get(..=last).unwrap_or_default();
        let Some(shared) = &mut self.shared else {
            self.shared = Some(directory.to_owned());
            return;
        };
        self.are_several = true;
        if directory.starts_with(shared.as_str()) {
            return;
        }
        let is_alike = |at: &usize| name.get(..=*at) == shared.get(..=*at);
        let alike = path_slashes(shared).into_iter().take_while(is_alike).last();
        shared.truncate(alike.map_or(0, |at| at + 1));
    }

    /// A name where there is no room for all of it: without what it has in common with the others.
    pub fn left_out<'a>(&self, name: &'a str) -> Cow<'a, str> {
        let shared = self.shared.as_deref().filter(|of| self.are_several && !of.is_empty());
        match shared.and_then(|shared| name.strip_prefix(shared)) {
            Some(rest) if !rest.is_empty() => Cow::Owned(format!("…{rest}")),
            _ => Cow::Borrowed(name),
        }
    }

    /// The same with at most `most` characters, as of [`shortened`].
    pub fn shortened<'a>(&self, name: &'a str, most: usize) -> Cow<'a, str> {
        match name.chars().nth(most) {
            None => clean(name),
            Some(_) => Cow::Owned(shortened(&self.left_out(name), most).into_owned()),
        }
    }
}

/// Where the path of an operation has a slash between two of its parts: those within parentheses and brackets are of
/// the part (`jit(f)/jvp(a/b)/mul` has two). Where brackets do not match, every slash is one.
pub fn path_slashes(path: &str) -> Vec<usize> {
    let (mut open, mut outside, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_matched = true;
    for (at, letter) in path.bytes().enumerate() {
        match letter {
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b')' | b']' => is_matched &= open.pop() == Some(letter),
            b'/' => {
                all.push(at);
                if open.is_empty() {
                    outside.push(at);
                }
            }
            _ => {}
        }
    }
    if is_matched && open.is_empty() { outside } else { all }
}

/// Shortens a path to at most `most` characters by leaving out parts at its beginning, because the last parts say most. A
/// name without parts that fit is shortened by [`shortened`].
pub fn path_end(path: &str, most: usize) -> Cow<'_, str> {
    if path.chars().nth(most).is_none() {
        return clean(path);
    }
    let ends = path_slashes(path).into_iter().filter_map(|slash| path.get(slash..));
    // With the ellipsis.
    let fits = |end: &&str| end.chars().nth(most.saturating_sub(1)).is_none();
    match ends.clone().find(fits) {
        Some(end) => Cow::Owned(format!("…{}", clean(end))),
        None => shortened(path, most),
    }
}

/// The parts of the path of an operation, between [`path_slashes`].
pub fn path_parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    parts_between(path, &path_slashes(path)).into_iter()
}

/// The parts of a path between some of its slashes.
pub fn parts_between<'a>(path: &'a str, slashes: &[usize]) -> Vec<&'a str> {
    let starts = std::iter::once(0).chain(slashes.iter().map(|slash| slash + 1));
    let ends = slashes.iter().copied().chain([path.len()]);
    starts.zip(ends).map(|(start, end)| &path[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_parted_outside_of_brackets_that_match() {
        let parts = |path| path_parts(path).collect::<Vec<_>>();
        assert_eq!(parts("jit(f)/jvp(a/b)/mul"), ["jit(f)", "jvp(a/b)", "mul"]);
        assert_eq!(parts("f[x/y]/g([a/b]/c)/é"), ["f[x/y]", "g([a/b]/c)", "é"]);
        assert_eq!(parts("a//b/"), ["a", "", "b", ""]);
        assert_eq!(parts(""), [""]);
        for unmatched in ["jvp(a/b", "a)/(b", "(a/b]", "[(a/b])"] {
            assert_eq!(parts(unmatched), unmatched.split('/').collect::<Vec<_>>(), "{unmatched}");
        }
    }

    #[test]
    fn what_paths_have_in_common_is_left_out_first() {
        let names = ["jit(f)/jit(main)/jvp(a/b)/mul", "jit(f)/jit(main)/while/add", "x"];
        let common = CommonPath::of(names);
        let of = |name: &str, most: usize| common.shortened(name, most).into_owned();
        assert_eq!(of(names[0], 40), names[0], "where there is room all of it stays");
        assert_eq!(of(names[0], 14), "…jvp(a/b)/mul");
        assert_eq!(of(names[1], 14), "…while/add");
        assert_eq!(of(names[0], 9), "…a/b)/mul", "not its middle");
        assert_eq!(of("jit(f)/jit(other)/very/long", 14), "…er)/very/long");
        let files = ["/a/b/train.py:12 (forward)", "/a/b/train.py:7 (main)"];
        assert_eq!(CommonPath::of(files).left_out(files[1]), "…train.py:7 (main)");
        for alone in [&names[..1], &["a/b", "c/d"], &["x", "y"], &["/a"], &[]] {
            let common = CommonPath::of(alone.iter().copied());
            assert_eq!(common.left_out("jit(f)/jit(main)/mul"), "jit(f)/jit(main)/mul");
        }
        assert_eq!(CommonPath::of(["a/b", "a/"]).left_out("a/"), "a/");
    }

    #[test]
    fn of_a_long_path_its_end_is_kept() {
        let path = "jit(step)/transpose(jvp(layer0))/mlp/mul";
        for (most, kept) in
            [(40, path), (39, "…/transpose(jvp(layer0))/mlp/mul"), (12, "…/mlp/mul"), (5, "…/mul")]
        {
            assert_eq!(path_end(path, most), kept);
        }
        assert_eq!(path_end(path, 4), shortened(path, 4));
        assert_eq!(path_end("a_long_name", 5), shortened("a_long_name", 5));
    }
}
