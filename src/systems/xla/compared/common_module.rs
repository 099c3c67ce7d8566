//! Which module of each dump is compared: dumps are compared module by module (formats/xla.md 2).

use std::collections::HashMap;

use crate::store::hlo::{ListedModule, plain_module_name};

/// Where the module that is compared stands among those of each dump: the first of the first dump that all others have,
/// which is the largest where the largest come first. Of a dump of which one is meant that one alone is given. `None`
/// where they have none in common.
pub fn common_module(dumps: &[Vec<&ListedModule>]) -> Option<Vec<usize>> {
    let (first, others) = dumps.split_first()?;
    let others: Vec<Names<'_>> = others.iter().map(|other| Names::of(other)).collect();
    first.iter().enumerate().find_map(|(place, one)| {
        let of_others = others.iter().map(|other| other.place(one));
        let of_others = of_others.collect::<Option<Vec<usize>>>()?;
        Some([vec![place], of_others].concat())
    })
}

/// Where the first module of a name is; a dump may have tens of thousands.
struct Names<'a> {
    whole: HashMap<&'a str, usize>,
    /// Without the number that tells compilations apart.
    plain: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn of(modules: &[&'a ListedModule]) -> Self {
        let (mut whole, mut plain) = (HashMap::new(), HashMap::new());
        for (place, name) in modules.iter().map(|one| one.module.as_deref()).enumerate() {
            let Some(name) = name else { continue };
            whole.entry(name).or_insert(place);
            plain.entry(plain_module_name(name)).or_insert(place);
        }
        Self { whole, plain }
    }

    /// Where the first module is that is called like another; one of the very same name is meant before others.
    fn place(&self, one: &ListedModule) -> Option<usize> {
        let name = one.module.as_deref().filter(|name| !name.is_empty())?;
        self.whole.get(name).or_else(|| self.plain.get(plain_module_name(name))).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_chosen<const N: usize>(dumps: [&[&str]; N], expected: Option<[&str; N]>) {
        let module = |name: &&str| ListedModule {
            module: Some((*name).to_owned()),
            ..ListedModule::default()
        };
        let dumps = dumps.map(|names| names.iter().map(module).collect::<Vec<_>>());
        let dumps: Vec<Vec<&ListedModule>> =
            dumps.iter().map(|dump| dump.iter().collect()).collect();
        let name = |(place, dump): (usize, &Vec<&ListedModule>)| {
            dump[place].module.clone().unwrap_or_default()
        };
        let chosen = common_module(&dumps)
            .map(|places| places.into_iter().zip(&dumps).map(name).collect::<Vec<_>>());
        assert_eq!(chosen, expected.map(|names| names.map(str::to_owned).to_vec()));
    }

    #[test]
    fn the_first_module_that_all_dumps_have_is_compared() {
        assert_chosen([&["a", "b"], &["c", "a"]], Some(["a", "a"]));
        assert_chosen([&["a", "b", "c"], &["d", "c", "b"], &["b", "c"]], Some(["b", "b", "b"]));
        assert_chosen([&["a", "b"], &["c", "d"]], None);
        assert_chosen([&["", "b"], &["", "b"]], Some(["b", "b"]));
        assert_chosen([&["graph.35"], &["x", "graph.7"]], Some(["graph.35", "graph.7"]));
        assert_chosen([&["a"]], Some(["a"]));
        assert_chosen([], None);
    }
}
