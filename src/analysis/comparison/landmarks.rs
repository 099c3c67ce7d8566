//! Landmarks: steps of runs that are the same moment of their programs, as the begin of the second step of the optimizer.
//! Steps between two landmarks belong to the same part of the program, and need nothing else in common.

use std::collections::HashMap;

use super::matching::in_order;
use super::step_axis::StepAxis;

/// A step at which a part of the program begins or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landmark {
    /// The step, a position.
    pub step: u32,
    /// What it is; of two runs, landmarks of the same name are the same.
    pub name: String,
}

/// The landmarks that all runs have, in an order that is the same in all: for each its step in each run. Steps ascend in
/// every run.
pub fn common_landmarks(runs: &[&[Landmark]]) -> Vec<Vec<u32>> {
    let Some((reference, others)) = runs.split_first() else { return Vec::new() };
    let mut common: Vec<(&str, Vec<u32>)> =
        reference.iter().map(|mark| (&*mark.name, vec![mark.step])).collect();
    for other in others {
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, mark) in other.iter().enumerate() {
            places.entry(&mark.name).or_insert(place);
        }
        let pair = |(at, (name, _)): (usize, &(&str, _))| Some((at, *places.get(name)?));
        let pairs: Vec<(usize, usize)> = common.iter().enumerate().filter_map(pair).collect();
        let kept = in_order(&pairs).into_iter().filter_map(|(at, place)| {
            let (name, mut steps) = common.get(at).cloned()?;
            steps.push(other.get(place)?.step);
            Some((name, steps))
        });
        common = kept.collect();
    }
    let mut last: Option<Vec<u32>> = None;
    let ascends = |steps: &Vec<u32>| {
        let is_later = last.as_ref().is_none_or(|last| steps.iter().zip(last).all(|(a, b)| a > b));
        if is_later {
            last = Some(steps.clone());
        }
        is_later
    };
    common.into_iter().map(|(_, steps)| steps).filter(ascends).collect()
}

/// The axis on which runs of so many steps meet at their landmarks; `None` where they share fewer than two.
pub fn axis_by_landmarks(lens: &[usize], runs: &[&[Landmark]]) -> Option<StepAxis> {
    let common = common_landmarks(runs);
    (common.len() >= 2).then(|| StepAxis::by_landmarks(lens, &common))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(of: &[(u32, &str)]) -> Vec<Landmark> {
        of.iter().map(|(step, name)| Landmark { step: *step, name: (*name).to_owned() }).collect()
    }

    #[test]
    fn landmarks_of_the_same_name_meet_in_their_order() {
        let reference = marks(&[(0, "a"), (5, "b"), (9, "c"), (9, "d"), (12, "e")]);
        let other = marks(&[(1, "x"), (2, "b"), (3, "a"), (8, "c"), (20, "d"), (21, "e")]);
        let common = common_landmarks(&[&reference, &other]);
        // Of "a" and "b", whose order differs, one stays; "d" is where "c" is.
        assert_eq!(common, [vec![5, 2], vec![9, 8], vec![12, 21]]);
        assert!(common_landmarks(&[&reference, &marks(&[(1, "x")])]).is_empty());
        assert_eq!(axis_by_landmarks(&[13, 3], &[&reference, &marks(&[(2, "a")])]), None);
    }
}
