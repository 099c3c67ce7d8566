//! An XLA error text as a partial capture: the memory of a module as far as the text states it, under the names that
//! commands print (xla.md, section 8). For unlisted allocations only their bytes are known.

use std::collections::BTreeMap;

use serde::Serialize;

use super::finding::{Finding, Kind, ListedAllocation, Packing, UsedPart};

/// What a finding says of a program, as keys of JSON have it. All of it is what XLA states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct XlaCapture<'a> {
    /// The memory space: `hbm`.
    pub space: Option<&'a str>,
    /// Bytes that the program and its arguments need.
    pub used_bytes: Option<u64>,
    /// Bytes that there are.
    pub capacity_bytes: Option<u64>,
    /// Bytes too many.
    pub exceeded_bytes: Option<u64>,
    /// Bytes that are needed in all, with what the system reserves.
    pub total_usage_bytes: Option<u64>,
    /// What these are made of.
    #[serde(serialize_with = "by_name")]
    pub usage: &'a [UsedPart],
    /// What the program's part is made of.
    #[serde(serialize_with = "by_name")]
    pub program: &'a [UsedPart],
    /// How well it is packed.
    pub hlo_temp: Option<Packing>,
    /// The largest allocations of the program.
    #[serde(serialize_with = "entries")]
    pub entries: &'a [ListedAllocation],
}

impl<'a> XlaCapture<'a> {
    /// What a finding has of a program; `None` where it is no message of XLA.
    pub fn of(finding: &'a Finding) -> Option<Self> {
        let is_of_xla = match finding.kind {
            Kind::TpuOutOfMemory | Kind::TpuFragmented => true,
            // TensorFlow has its own words.
            Kind::GpuOutOfMemory => finding.text.contains("while trying to allocate"),
            _ => false,
        };
        is_of_xla.then(|| Self::of_xla(finding))
    }

    /// The same of a finding that is known to be a message of XLA.
    pub fn of_xla(finding: &'a Finding) -> Self {
        let program = finding.of_program.as_deref();
        Self {
            space: finding.memory_space.as_deref(),
            used_bytes: finding.used_bytes,
            capacity_bytes: finding.limit_bytes,
            exceeded_bytes: finding.excess_bytes,
            total_usage_bytes: program.and_then(|program| program.total_bytes),
            usage: &finding.breakdown,
            program: program.map_or(&[], |program| &program.program),
            hlo_temp: program.and_then(|program| program.packing),
            entries: &finding.allocations,
        }
    }

    /// Writes what a finding of XLA has, for `serialize_with`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize_of<S: serde::Serializer>(
        finding: &Finding,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        XlaCapture::of_xla(finding).serialize(serializer)
    }

    /// Bytes of a part of the total: `program`, `arguments`.
    pub fn part(&self, name: &str) -> Option<u64> {
        self.usage.iter().find(|part| part.name == name).map(|part| part.bytes)
    }

    /// Bytes of the program: what allocations are listed of.
    pub fn program_bytes(&self) -> Option<u64> {
        self.part("program").or(self.used_bytes)
    }

    /// Bytes of the temporary allocation of the program.
    pub fn temporary_bytes(&self) -> Option<u64> {
        self.program.iter().find(|part| part.name == "HLO temp").map(|part| part.bytes)
    }

    /// Whether it says what a program needs, and not only that a request failed.
    pub fn is_of_program(&self) -> bool {
        self.used_bytes.is_some()
    }

    /// Bytes of the allocations that are listed.
    pub fn listed_bytes(&self) -> u64 {
        self.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes))
    }

    /// Bytes of the program that are in no allocation that is listed.
    pub fn not_listed_bytes(&self) -> Option<u64> {
        Some(self.program_bytes()?.saturating_sub(self.listed_bytes()))
    }
}

fn by_name<S: serde::Serializer>(parts: &&[UsedPart], serializer: S) -> Result<S::Ok, S::Error> {
    let by_name: BTreeMap<&str, u64> =
        parts.iter().map(|part| (part.name.as_str(), part.bytes)).collect();
    by_name.serialize(serializer)
}

/// Allocations under the names of this capture.
fn entries<S: serde::Serializer>(
    allocations: &&[ListedAllocation],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct CaptureEntry<'a> {
        size_bytes: u64,
        operator: &'a Option<String>,
        shape: &'a Option<String>,
        unpadded_bytes: Option<u64>,
        padding_bytes: Option<u64>,
        label: &'a Option<String>,
        #[serde(rename = "type")]
        allocation_type: &'a Option<String>,
    }
    serializer.collect_seq(allocations.iter().map(|one| CaptureEntry {
        size_bytes: one.bytes,
        operator: &one.operator,
        shape: &one.shape,
        unpadded_bytes: one.unpadded_bytes,
        padding_bytes: one.padding_bytes,
        label: &one.label,
        allocation_type: &one.allocation_type,
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::diagnose::diagnose;

    const LONG: &str = "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used \
        3.00G of 2.00G hbm. Exceeded hbm capacity by 1.00G.\n\nTotal hbm usage >= 3.25G:\n    reserved        256.00M \n    \
        program           2.50G \n    arguments       512.00M \n\nOutput size 0B; shares 0B with arguments.\n\nProgram \
        hbm requirement 2.50G:\n    global            16.0K\n    HLO temp          2.50G (92.8% utilization, 0.3% \
        fragmentation (53.61M))\n\n  Largest program allocations in hbm:\n\n  1. Size: 1.50G\n     Shape: f32[2]\n     \
        ==========================\n\n  2. Size: 512.00M\n     ==========================\n";

    const OF_GPU: &str = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes.\nBufferAssignment OOM \
        Debugging.\nBufferAssignment stats:\n             parameter allocation:  512.00MiB\n     preallocated temp \
        allocation:    1.00GiB\n  preallocated temp fragmentation:   2.0KiB (0.00%)\n                 total \
        allocation:    1.50GiB\n              total fragmentation:  680.30MiB (4.60%)\nPeak buffers:\n\tBuffer 1:\n\t\t\
        Size: 512.00MiB\n\t\tOperator: op_name=\"jit(f)/dot\" source_file=\"f.py\" source_line=3\n\t\tXLA Label: \
        fusion\n\t\tShape: f32[134217728]\n\t\t==========================\n\n\tBuffer 2:\n\t\tSize: 16B\n\t\tEntry \
        Parameter Subshape: f32[4]\n\t\t==========================\n";

    #[test]
    fn what_is_listed_and_what_is_not_make_up_the_program() {
        let found = diagnose(LONG);
        let capture = XlaCapture::of(&found[0]).expect("of a program");
        assert_eq!((capture.used_bytes, capture.capacity_bytes), (Some(3 << 30), Some(2 << 30)));
        assert_eq!(
            (capture.total_usage_bytes, capture.part("reserved")),
            (Some(13 << 28), Some(1 << 28))
        );
        assert_eq!((capture.program_bytes(), capture.listed_bytes()), (Some(5 << 29), 2 << 30));
        assert_eq!(
            (capture.not_listed_bytes(), capture.temporary_bytes()),
            (Some(1 << 29), Some(5 << 29))
        );
        let json = serde_json::to_value(capture).expect("JSON");
        assert_eq!(json["program"]["global"], 16384);
        assert_eq!(json["hlo_temp"]["utilization_percent"], 92.8);
        assert_eq!(json["hlo_temp"]["padded_bytes"], serde_json::Value::Null);
        assert_eq!(json["entries"][1]["size_bytes"], 1 << 29);
    }

    #[test]
    fn a_text_that_is_cut_anywhere_has_less_and_nothing_else() {
        for text in [LONG, OF_GPU] {
            let found = diagnose(text);
            let whole = XlaCapture::of(&found[0]).expect("of a program");
            let is_less = |cut: Option<u64>, whole: Option<u64>| cut.is_none() || cut == whole;
            for end in 0..text.len() {
                for finding in diagnose(&text[..end]) {
                    let Some(cut) = XlaCapture::of(&finding) else { continue };
                    assert!(whole.usage.starts_with(cut.usage), "{:?}", &text[..end]);
                    assert!(whole.program.starts_with(cut.program), "{:?}", &text[..end]);
                    let sizes = |capture: &XlaCapture<'_>| -> Vec<u64> {
                        capture.entries.iter().map(|one| one.bytes).collect()
                    };
                    assert!(sizes(&whole).starts_with(&sizes(&cut)), "{:?}", &text[..end]);
                    assert!(
                        is_less(cut.capacity_bytes, whole.capacity_bytes),
                        "{:?}",
                        &text[..end]
                    );
                    assert!(is_less(cut.used_bytes, whole.used_bytes), "{:?}", &text[..end]);
                    assert!(is_less(cut.total_usage_bytes, whole.total_usage_bytes));
                    let requested = [&finding, &found[0]].map(|one| one.requested_bytes);
                    assert!(is_less(requested[0], requested[1]), "{:?}", &text[..end]);
                }
            }
        }
    }

    #[test]
    fn sizes_beyond_all_bounds_do_not_overflow() {
        let most = "16777215.99T";
        let entries: String =
            (1..=30).map(|n| format!("  {n}. Size: {most}\n     ====\n")).collect();
        let text = format!(
            "Ran out of memory in memory space hbm. Used {most} of 1K hbm.\nTotal hbm usage >= 99999999999P:\n  program \
             {most}\n\n  Largest program allocations in hbm:\n{entries}"
        );
        let found = diagnose(&text);
        let capture = XlaCapture::of(&found[0]).expect("of a program");
        assert_eq!((capture.total_usage_bytes, capture.entries.len()), (None, 20));
        assert_eq!((capture.listed_bytes(), capture.not_listed_bytes()), (u64::MAX, Some(0)));
    }

    #[test]
    fn what_a_gpu_has_at_its_peak_is_listed() {
        let logged = OF_GPU.replace('\n', "\n2020-05-04 09:05:40.721128: E    1578 a/b.cc:76] ");
        assert_eq!(diagnose(&logged)[0].breakdown.len(), 2, "with what a logger puts before lines");
        let found = diagnose(OF_GPU);
        let capture = XlaCapture::of(&found[0]).expect("of a program");
        assert_eq!((capture.used_bytes, capture.capacity_bytes), (Some(3 << 29), None));
        let names: Vec<&str> = capture.usage.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["parameter", "preallocated temp"]);
        assert_eq!(capture.not_listed_bytes(), Some((1 << 30) - 16));
        let [first, second] = capture.entries else { panic!("two: {capture:#?}") };
        assert_eq!(
            (first.label.as_deref(), first.source()),
            (Some("fusion"), Some("f.py:3".to_owned()))
        );
        assert_eq!(second.shape.as_deref(), Some("f32[4]"));
        assert_eq!(second.allocation_type.as_deref(), Some("entry parameter"));
        assert_eq!(
            capture.hlo_temp.and_then(|packing| packing.fragmentation_bytes),
            Some(713_346_253)
        );
    }

    proptest! {
        #[test]
        fn a_garbled_text_is_read(
            changes in prop::collection::vec((any::<Index>(), any::<u8>(), any::<bool>()), 0..40),
        ) {
            let mut text = LONG.as_bytes().to_vec();
            for (place, byte, is_number) in changes {
                let place = place.index(text.len());
                text[place] = if is_number { b'9' } else { byte };
            }
            for finding in diagnose(&String::from_utf8_lossy(&text)) {
                let Some(capture) = XlaCapture::of(&finding) else { continue };
                prop_assert!(capture.entries.len() <= 2);
                prop_assert!(capture.entries.iter().all(|entry| entry.bytes <= capture.listed_bytes()));
                let rest = capture.not_listed_bytes();
                prop_assert!(rest.is_none_or(|rest| Some(rest) <= capture.program_bytes()));
            }
        }
    }
}
