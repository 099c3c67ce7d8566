//! Which module of each dump is compared: dumps are compared module by module (formats/xla.md 2).

use crate::store::hlo::{ListedModule, plain_module_name};

/// Where the module that is compared stands among those of each dump: the first of the first dump that all others have,
/// which is the largest where the largest come first. Of a dump of which one is meant that one alone is given. `None`
/// where they have none in common.
pub fn common_module(dumps: &[Vec<&ListedModule>]) -> Option<Vec<usize>> {
    let (first, others) = dumps.split_first()?;
    first.iter().enumerate().find_map(|(place, one)| {
        let of_others = others.iter().map(|other| place_of_name(other, one));
        let of_others = of_others.collect::<Option<Vec<usize>>>()?;
        Some([vec![place], of_others].concat())
    })
}

/// Where the first module is that is called like another; a number that tells compilations apart does not count.
fn place_of_name(modules: &[&ListedModule], one: &ListedModule) -> Option<usize> {
    let name = one.module.as_deref().filter(|name| !name.is_empty())?;
    let place = |is_it: &dyn Fn(&str) -> bool| {
        modules.iter().position(|other| other.module.as_deref().is_some_and(is_it))
    };
    place(&|other| other == name)
        .or_else(|| place(&|other| plain_module_name(other) == plain_module_name(name)))
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
