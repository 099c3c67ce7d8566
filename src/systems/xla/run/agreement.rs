//! Decides whether an XLA message is about a module: figures of both that agree, and none that contradict (xla.md,
//! section 8). A message names no module, so nothing else tells it.

use std::collections::{HashMap, HashSet};

use crate::diagnose::{Device, Finding, XlaCapture};
use crate::store::hlo::{AllocationKind, Platform, ShapeId};
use crate::systems::xla::buffer_assignment::program::AnalysedModule;
use crate::systems::xla::buffer_assignment::space::SpaceFigures;
use crate::text::words;

words! {
    /// The figure of a message that a program has as well.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AgreedFigure by key {
        /// What is temporary in the main memory.
        Temporaries = "temporary_bytes",
        /// All that it reserves there.
        Total = "total_bytes",
        /// A request that failed, which is one for a temporary allocation.
        Request = "requested_bytes",
    }
}

/// What of a program a message may state.
#[derive(Clone, Debug)]
pub struct ModuleTotals {
    /// What it was compiled for.
    pub platform: Option<Platform>,
    /// What it takes of the main memory.
    pub figures: SpaceFigures,
    /// Bytes of each temporary allocation there.
    temporary: Vec<u64>,
    /// Bytes of values there by their shape, each size once.
    values: HashMap<String, Vec<u64>>,
}

/// What speaks for a message being about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The figure that both have.
    pub by: AgreedFigure,
    /// What the message states.
    pub stated_bytes: u64,
    /// What the program has.
    pub bytes: u64,
    /// Allocations that the message lists with their shapes.
    pub listed: usize,
    /// Those that are values of the program.
    pub found: usize,
}

impl ModuleTotals {
    /// Of a program.
    pub fn of(program: &AnalysedModule) -> Self {
        let analysed = &program.analysed;
        let module = &analysed.module;
        let is_temporary = |kind| kind == AllocationKind::Temporary;
        let temporary = analysed.allocations_of(0, is_temporary).map(|(_, one)| one.bytes);
        let is_main =
            |row: u32| module.allocations.get(row as usize).is_some_and(|it| it.color == 0);
        let assigned = module.assigned.iter().filter(|one| is_main(one.allocation));
        let shapes: HashSet<(ShapeId, u64)> =
            assigned.map(|one| (module.value_shape(one.value), one.bytes)).collect();
        let mut values: HashMap<String, Vec<u64>> = HashMap::new();
        for (shape, bytes) in shapes {
            // A bare assignment has no shapes.
            if shape != ShapeId::NONE {
                values.entry(module.shapes.title(shape)).or_default().push(bytes);
            }
        }
        let (platform, figures) = (program.platform, SpaceFigures::of(analysed, 0));
        Self { platform, figures, temporary: temporary.collect(), values }
    }

    /// What speaks for a message being about this program; `None` where nothing does, or something speaks against it.
    pub fn agreement(&self, finding: &Finding) -> Option<Agreement> {
        let capture = capture_of(finding).filter(|_| self.can_be_of(finding.device))?;
        let (by, stated_bytes, bytes) = self.agreed_figure(finding, capture)?;
        let listed =
            capture.entries.iter().filter_map(|one| Some((one.shape.as_deref()?, one.bytes)));
        let listed: Vec<(&str, u64)> = listed.collect();
        let found = listed.iter().filter(|(shape, bytes)| self.has_value(shape, *bytes)).count();
        let is_other = !listed.is_empty() && !self.values.is_empty() && found == 0;
        (!is_other).then_some(Agreement {
            by,
            stated_bytes,
            bytes,
            listed: if self.values.is_empty() { 0 } else { listed.len() },
            found,
        })
    }

    /// Whether a message is of a device like that for which the program was compiled, as far as that is known.
    pub fn can_be_of(&self, device: Option<Device>) -> bool {
        match self.platform {
            None => true,
            Some(Platform::Tpu) => device == Some(Device::Tpu),
            Some(Platform::Gpu) => device == Some(Device::Cuda),
            Some(Platform::Cpu) => false,
        }
    }

    /// The long form of a TPU has the size of the temporaries, the short one of all that is reserved, as have the
    /// statistics of a GPU; a request that failed is one for a temporary allocation as a whole.
    fn agreed_figure(
        &self,
        finding: &Finding,
        capture: XlaCapture<'_>,
    ) -> Option<(AgreedFigure, u64, u64)> {
        let SpaceFigures { temporary_bytes, total_bytes, .. } = self.figures;
        let of_temporaries = |stated| (AgreedFigure::Temporaries, stated, temporary_bytes);
        let of_total = |stated| (AgreedFigure::Total, stated, total_bytes);
        let is_agreed = |(_, stated, bytes): &(AgreedFigure, u64, u64)| is_stated(*stated, *bytes);
        if let Some(stated) = capture.temporary_bytes() {
            return Some(of_temporaries(stated)).filter(is_agreed);
        }
        if let Some(stated) = capture.used_bytes {
            // Of a long form of which only the first line is there, it is the temporaries and arguments.
            let is_long = finding.text.contains("memory space");
            let temporaries = Some(of_temporaries(stated)).filter(|_| is_long).filter(is_agreed);
            return Some(of_total(stated)).filter(is_agreed).or(temporaries);
        }
        let stated = requested_bytes(finding)?;
        // Bytes are counted out, other units are rounded.
        let is_exact = finding.text.contains(" bytes");
        let may_differ = if is_exact { 0 } else { rounding(stated) };
        let is_it = |bytes: &&u64| **bytes > 0 && stated.abs_diff(**bytes) <= may_differ;
        self.temporary.iter().find(is_it).map(|bytes| (AgreedFigure::Request, stated, *bytes))
    }

    /// Whether a value has a shape, as messages write it with its layout, and a size.
    fn has_value(&self, shape: &str, bytes: u64) -> bool {
        let shape = shape.split('{').next().unwrap_or(shape).trim();
        self.values.get(shape).is_some_and(|sizes| sizes.iter().any(|size| is_stated(bytes, *size)))
    }
}

/// The figure by which the program of a message can be found; `None` of a message that has none.
pub fn stated_bytes(finding: &Finding) -> Option<u64> {
    let capture = capture_of(finding)?;
    capture.temporary_bytes().or(capture.used_bytes).or_else(|| requested_bytes(finding))
}

/// What a message of XLA about a main memory has of a program.
fn capture_of(finding: &Finding) -> Option<XlaCapture<'_>> {
    XlaCapture::of(finding).filter(|capture| capture.space.is_none_or(is_main_memory))
}

/// A request that may be one of a whole program: a TPU reserves what one needs, and allocates arrays.
fn requested_bytes(finding: &Finding) -> Option<u64> {
    let is_array = finding.device == Some(Device::Tpu) && !finding.text.contains("to reserve");
    finding.requested_bytes.filter(|_| !is_array)
}

/// Whether a memory space that a message names is the main one.
pub fn is_main_memory(space: &str) -> bool {
    space.eq_ignore_ascii_case("hbm")
}

/// Whether an amount is what a message states, as it rounds.
fn is_stated(stated: u64, bytes: u64) -> bool {
    stated > 0 && stated.abs_diff(bytes) <= rounding(stated)
}

/// By how much an amount is rounded at most: there are two decimals, of kibibytes one.
fn rounding(stated: u64) -> u64 {
    let unit = [(40, 200), (30, 200), (20, 200), (10, 20)];
    let unit = unit.map(|(power, parts)| (1_u64 << power, parts));
    unit.into_iter().find(|(unit, _)| stated >= *unit).map_or(0, |(unit, parts)| unit / parts + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::diagnose;

    fn sizes(platform: Platform, temporary: u64, total: u64) -> ModuleTotals {
        let figures = SpaceFigures {
            temporary_bytes: temporary,
            total_bytes: total,
            ..SpaceFigures::default()
        };
        let values = [("f32[8,128]".to_owned(), vec![1, 3 << 29])].into();
        ModuleTotals { platform: Some(platform), figures, temporary: vec![temporary], values }
    }

    #[track_caller]
    fn agreed(sizes: &ModuleTotals, text: &str) -> Option<(AgreedFigure, usize, usize)> {
        let found = diagnose(text);
        assert_eq!(found.len(), 1, "{text}");
        sizes.agreement(&found[0]).map(|one| (one.by, one.listed, one.found))
    }

    #[test]
    fn amounts_that_differ_by_rounding_are_one() {
        assert!(is_stated(20_895_015_895, 20_898_447_872));
        assert!(!is_stated(20_895_015_895, 21_166_895_616), "arguments are more than rounding");
        // 16.10G and 15.95G: another batch.
        assert!(!is_stated(17_287_243_366, 17_126_182_093));
        assert!(!is_stated(0, 0) && !is_stated(0, u64::MAX) && is_stated(u64::MAX, u64::MAX));
        assert_eq!((rounding(1023), rounding(3 << 30)), (0, (1 << 30) / 200 + 1));
        // 160.0K
        assert!(is_stated(163_840, 163_890) && !is_stated(163_840, 163_900));
    }

    #[test]
    fn the_short_form_states_all_that_is_reserved() {
        let short = "Ran out of memory on HBM, the total memory required for HLO temporaries (3.00G) exceeds available \
                     HBM (2.00G).";
        assert_eq!(
            agreed(&sizes(Platform::Tpu, 1 << 30, 3 << 30), short),
            Some((AgreedFigure::Total, 0, 0))
        );
        assert_eq!(agreed(&sizes(Platform::Tpu, 3 << 30, 4 << 30), short), None);
        for other in [Platform::Gpu, Platform::Cpu] {
            assert_eq!(agreed(&sizes(other, 1 << 30, 3 << 30), short), None);
        }
    }

    #[test]
    fn the_long_form_states_temporaries_and_what_it_lists_may_contradict() {
        let first = "Ran out of memory in memory space hbm. Used 3.00G of 2.00G hbm. Exceeded hbm capacity by 1.00G.";
        let sizes = sizes(Platform::Tpu, 3 << 30, 4 << 30);
        assert_eq!(agreed(&sizes, first), Some((AgreedFigure::Temporaries, 0, 0)), "a line alone");
        assert_eq!(agreed(&sizes, &first.replace("hbm", "vmem")), None, "another memory space");
        let long = |temporary: &str, shape: &str| {
            format!(
                "{first}\n\nProgram hbm requirement 3.00G:\n    HLO temp          {temporary}\n\n  Largest program \
                 allocations in hbm:\n\n  1. Size: 1.50G\n     Shape: {shape}\n     ====\n\n  2. Size: 1.00G\n     \
                 Shape: u8[7]{{0}}\n     ====\n"
            )
        };
        let shape = "f32[8,128]{1,0:T(8,128)}";
        assert_eq!(agreed(&sizes, &long("3.00G", shape)), Some((AgreedFigure::Temporaries, 2, 1)));
        assert_eq!(agreed(&sizes, &long("3.00G", "f32[8,64]{1,0}")), None, "lists another program");
        assert_eq!(agreed(&sizes, &long("2.50G", shape)), None, "another size");
        let bare = ModuleTotals { values: HashMap::new(), ..sizes };
        let expected = Some((AgreedFigure::Temporaries, 0, 0));
        assert_eq!(agreed(&bare, &long("3.00G", shape)), expected, "no shapes are known");
    }

    #[test]
    fn a_request_of_a_gpu_is_one_for_a_temporary_allocation_to_the_byte() {
        let text = |bytes: u64| {
            format!("RESOURCE_EXHAUSTED: Out of memory while trying to allocate {bytes} bytes.")
        };
        let of_gpu = sizes(Platform::Gpu, 4_770_354_232, 5 << 30);
        assert_eq!(agreed(&of_gpu, &text(4_770_354_232)), Some((AgreedFigure::Request, 0, 0)));
        assert_eq!(agreed(&of_gpu, &text(4_770_354_231)), None);
        assert_eq!(
            agreed(&sizes(Platform::Tpu, 4_770_354_232, 5 << 30), &text(4_770_354_232)),
            None
        );
        let reserve = |what: &str| {
            format!("Attempting to {what} 2.00G. That was not possible. There are 1.00G free.")
        };
        let of_tpu = sizes(Platform::Tpu, (2 << 30) + 1, 3 << 30);
        let at_the_bottom = reserve("reserve").replace("2.00G", "2.00G at the bottom of memory");
        assert_eq!(agreed(&of_tpu, &at_the_bottom), Some((AgreedFigure::Request, 0, 0)));
        assert_eq!(agreed(&of_tpu, &reserve("allocate")), None, "an array");
        assert_eq!(stated_bytes(&diagnose(&reserve("allocate"))[0]), None);
        assert_eq!(stated_bytes(&diagnose(&at_the_bottom)[0]), Some(2 << 30));
        let rounded = "Out of memory while trying to allocate 4.44GiB.";
        assert_eq!(agreed(&of_gpu, rounded), Some((AgreedFigure::Request, 0, 0)));
        assert_eq!(
            agreed(&of_gpu, "CUDA out of memory. Tried to allocate 4.44 GiB."),
            None,
            "PyTorch's"
        );
    }
}
