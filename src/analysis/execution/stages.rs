//! A model that is split over several devices: whether one works so much longer than the others that they wait for it,
//! and how much of its work would have to move.
//!
//! *Work* is what a device computes and exchanges within itself. Whether stages run at the same time a report does
//! not say, so the sentence says what it takes for granted.

use serde::Serialize;

use super::Executed;
use crate::analysis::program::kinds::Activity;

/// How many times the mean of the others the longest stage works at least, and by how much of all cycles it is above
/// the mean of all, for a split that is worth a thought.
const LEAST_EXCESS: f64 = 1.25;
const LEAST_GAIN: f64 = 0.05;

/// The device that works longest.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LongestStage {
    /// Its number.
    pub device: u32,
    /// Its work, of all cycles, 0 to 1.
    pub share: f64,
    /// The least and the most work of another one, 0 to 1.
    pub others: [f64; 2],
    /// The part of its work that would have to move to the others for all to work equally long, 0 to 1.
    pub move_share: f64,
}

impl LongestStage {
    /// The device on which the others wait; `None` where work is spread, or on one only.
    pub fn of(executed: Executed<'_>) -> Option<Self> {
        let (activities, whole) = (executed.activities(), executed.whole());
        let cycles = whole.end.saturating_sub(whole.start).max(1) as f64;
        let works = |activity| matches!(activity, Activity::Compute | Activity::InternalExchange);
        let length = |span: usize| {
            let (start, end) = executed.bounds(span)?;
            works(activities.of_span(span)).then(|| end.saturating_sub(start))
        };
        let devices = executed.trace.devices.iter();
        Self::of_shares(devices.map(|of| {
            let work = of.rows.clone().filter_map(length).fold(0_u64, u64::saturating_add);
            (of.device, work as f64 / cycles)
        }))
    }

    fn of_shares(shares: impl Iterator<Item = (u32, f64)>) -> Option<Self> {
        let mut shares: Vec<(u32, f64)> = shares.filter(|(_, share)| *share > 0.0).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let [(device, share), others @ ..] = &*shares else { return None };
        let (most, least) = (others.first()?.1, others.last()?.1);
        let of_others = others.iter().map(|(_, share)| share).sum::<f64>();
        let mean = (share + of_others) / shares.len() as f64;
        let is_longer = *share >= LEAST_EXCESS * of_others / others.len() as f64;
        (is_longer && share - mean >= LEAST_GAIN).then_some(Self {
            device: *device,
            share: *share,
            others: [least, most],
            move_share: (share - mean) / share,
        })
    }

    /// The same as advice; with the word for a device.
    pub fn text(&self, device: &str) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let [least, most] = self.others.map(percent);
        let others = if least == most {
            format!("the other {least}")
        } else {
            format!("the others {least} to {most}")
        };
        format!(
            "{device} {} works in {} of the cycles, {others}: where stages run at the same time, the longest sets the pace. \
             Move the split points so that about {} of its work goes to the others",
            self.device,
            percent(self.share),
            percent(self.move_share)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(shares: &[f64]) -> Option<LongestStage> {
        LongestStage::of_shares((0..).zip(shares.iter().copied()))
    }

    #[test]
    fn the_longest_stage_is_named_where_the_others_wait_for_it() {
        let found = stage(&[0.41, 0.2, 0.29, 0.22]).expect("a stage");
        assert_eq!((found.device, found.others), (0, [0.2, 0.29]));
        assert!((found.move_share - 0.13 / 0.41).abs() < 1e-9, "{found:?}");
        assert!(
            found
                .text("GPU")
                .starts_with("GPU 0 works in 41 % of the cycles, the others 20 % to 29 %")
        );
        assert!(found.text("GPU").contains("about 32 % of its work"), "{}", found.text("GPU"));
    }

    #[test]
    fn nothing_is_said_of_work_that_is_spread_little_or_on_one_device() {
        assert_eq!(stage(&[0.4, 0.38, 0.41]), None, "spread");
        assert_eq!(stage(&[0.08, 0.04]), None, "little of the time");
        assert_eq!(stage(&[0.8]), None, "one device");
        assert_eq!(stage(&[0.8, 0.0]), None, "the other one does nothing");
        assert_eq!(stage(&[]), None);
    }
}
