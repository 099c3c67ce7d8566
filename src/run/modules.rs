//! The modules of a run: at a path there may be several, of which one is open at a time.

use std::collections::HashMap;

/// One of several modules at the path of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleOfRun {
    /// By what it is asked for.
    pub key: String,
    /// What it is called among the others.
    pub title: String,
    /// Its name; `None` where the files do not say it.
    pub name: Option<String>,
    /// Its name without what tells compilations apart.
    pub plain_name: Option<String>,
    /// Its place among the modules of its path, the largest first.
    pub place: usize,
    /// Bytes that it takes of the main memory.
    pub main_bytes: u64,
    /// Its allocations.
    pub allocations: u64,
}

/// Where the module that is compared stands among those of each run: the first of the first run that all others have,
/// which is the largest where the largest come first. Of a run of which one is meant that one alone is given. `None`
/// where they have none in common.
pub fn common_module(runs: &[Vec<ModuleOfRun>]) -> Option<Vec<usize>> {
    let (first, others) = runs.split_first()?;
    let others: Vec<ModuleNames<'_>> = others.iter().map(|other| ModuleNames::of(other)).collect();
    first.iter().enumerate().find_map(|(place, one)| {
        let of_others = others.iter().map(|other| other.place(one));
        let of_others = of_others.collect::<Option<Vec<usize>>>()?;
        Some([vec![place], of_others].concat())
    })
}

/// Where the first module of a name is; a run may have tens of thousands.
struct ModuleNames<'a> {
    whole: HashMap<&'a str, usize>,
    plain: HashMap<&'a str, usize>,
}

impl<'a> ModuleNames<'a> {
    fn of(modules: &'a [ModuleOfRun]) -> Self {
        let (mut whole, mut plain) = (HashMap::new(), HashMap::new());
        for (place, one) in modules.iter().enumerate() {
            if let Some(name) = one.name.as_deref() {
                whole.entry(name).or_insert(place);
            }
            if let Some(name) = one.plain_name.as_deref() {
                plain.entry(name).or_insert(place);
            }
        }
        Self { whole, plain }
    }

    /// Where the first module is that is called like another; one of the very same name is meant before others.
    fn place(&self, one: &ModuleOfRun) -> Option<usize> {
        let name = one.name.as_deref().filter(|name| !name.is_empty())?;
        let by_plain = || self.plain.get(one.plain_name.as_deref()?);
        self.whole.get(name).or_else(by_plain).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_chosen<const N: usize>(runs: [&[&str]; N], expected: Option<[&str; N]>) {
        let module = |name: &&str| ModuleOfRun {
            name: Some((*name).to_owned()),
            plain_name: name.split('.').next().map(str::to_owned),
            ..ModuleOfRun::default()
        };
        let runs = runs.map(|names| names.iter().map(module).collect::<Vec<_>>());
        let name =
            |(place, run): (usize, &Vec<ModuleOfRun>)| run[place].name.clone().unwrap_or_default();
        let chosen = common_module(&runs)
            .map(|places| places.into_iter().zip(&runs).map(name).collect::<Vec<_>>());
        assert_eq!(chosen, expected.map(|names| names.map(str::to_owned).to_vec()));
    }

    #[test]
    fn the_first_module_that_all_runs_have_is_compared() {
        assert_chosen([&["a", "b"], &["c", "a"]], Some(["a", "a"]));
        assert_chosen([&["a", "b", "c"], &["d", "c", "b"], &["b", "c"]], Some(["b", "b", "b"]));
        assert_chosen([&["a", "b"], &["c", "d"]], None);
        assert_chosen([&["", "b"], &["", "b"]], Some(["b", "b"]));
        assert_chosen([&["graph.35"], &["x", "graph.7"]], Some(["graph.35", "graph.7"]));
        assert_chosen([&["a"]], Some(["a"]));
        assert_chosen([], None);
    }
}
