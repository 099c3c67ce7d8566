//! Labels beside a picture, pushed apart: each as near to its place as the others let it.

/// Places for labels of one height between two ends, from places that were wanted, ascending. As many as there is
/// room for must have been chosen before.
pub fn spread(wanted: &[f32], height: f32, (first, last): (f32, f32)) -> Vec<f32> {
    // Neighbors that would overlap form a group, which stands around the middle of what its labels want.
    let mut groups: Vec<(f32, usize)> = Vec::new();
    let size = |count: usize| count.saturating_sub(1) as f32 * height;
    let fit = |start: f32, count: usize| start.min(last - size(count)).max(first);
    for wanted in wanted {
        let mut group = (fit(*wanted, 1), 1);
        while let Some((start, count)) = groups.last().copied()
            && start + count as f32 * height > group.0
        {
            groups.pop();
            let all = (count + group.1) as f32;
            // Where the first of the group stands if each gives way alike.
            let own = group.0 - count as f32 * height;
            let start = (start * count as f32 + own * group.1 as f32) / all;
            group = (fit(start, count + group.1), count + group.1);
        }
        groups.push(group);
    }
    let places =
        |(start, count): (f32, usize)| (0..count).map(move |place| start + place as f32 * height);
    groups.into_iter().flat_map(places).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_places_or_give_way_alike() {
        assert_eq!(spread(&[10.0, 50.0], 20.0, (0.0, 100.0)), [10.0, 50.0]);
        // Around the middle of 30 and 40.
        assert_eq!(spread(&[30.0, 40.0], 20.0, (0.0, 100.0)), [25.0, 45.0]);
        assert_eq!(spread(&[0.0, 1.0, 99.0], 20.0, (0.0, 100.0)), [0.0, 20.0, 99.0]);
        assert_eq!(spread(&[95.0, 96.0, 97.0], 20.0, (0.0, 100.0)), [60.0, 80.0, 100.0]);
        assert_eq!(spread(&[], 20.0, (0.0, 100.0)), [] as [f32; 0]);
    }
}
