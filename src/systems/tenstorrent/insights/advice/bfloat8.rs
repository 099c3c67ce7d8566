//! Weights in DRAM that could take half the bytes.

use super::{CoreContext, CoreDraft, CoreTechnique};
use crate::diagnose::tenstorrent::TenstorrentVerdict;
use crate::systems::tenstorrent::insights::decisive::BufferWithReads;
use crate::systems::tenstorrent::recorded::BufferSpace;
use crate::text::counted;

/// Bytes of a tile of 32 × 32 numbers as bfloat8_b, and of the larger types.
const TILE_OF_BFLOAT8: u64 = 1_088;
const TILES: [(&str, u64); 2] = [("BFLOAT16", 2_048), ("FLOAT32", 4_096)];

/// To store them as bfloat8_b, where it is DRAM that is full.
pub fn bfloat8_weights(context: &CoreContext<'_, '_>) -> Option<CoreDraft> {
    let moment = context.moment;
    let said = moment.said.as_ref()?;
    let buffer = moment.without_space().filter(|buffer| !buffer.is_of_cores())?;
    let saved = |(life, reads): &BufferWithReads<'_>| {
        let is_weight = life.freed.is_none() && life.allocated_by < reads.first;
        let (_, data_type) = context.view.tensor(reads.tensor);
        let (_, tile) = TILES.into_iter().find(|(name, _)| data_type == Some(*name))?;
        let left = life.bytes.saturating_mul(TILE_OF_BFLOAT8).div_ceil(tile);
        is_weight.then(|| life.bytes.saturating_sub(left))
    };
    let weights = || moment.tensors(BufferSpace::Dram).filter(|one| saved(one).is_some());
    let bytes = weights().filter_map(|one| saved(&one)).fold(0_u64, u64::saturating_add);
    let count = weights().count() as u64;
    let is_enough = said.missing_bytes.is_some_and(|missing| bytes >= missing);
    let in_dram = moment.alive.iter().filter(|(life, _)| life.key.space == BufferSpace::Dram);
    (count > 0).then(|| CoreDraft {
        text: format!(
            "{} that operations read and none frees {} two or four bytes a number in DRAM, which is full",
            counted(count, "tensor"),
            if count == 1 { "takes" } else { "take" }
        ),
        expected_bytes: Some(bytes),
        of_bytes: buffer
            .allocated_bytes_per_bank
            .unwrap_or_else(|| in_dram.fold(0, |sum, (life, _)| sum.saturating_add(life.bytes))),
        basis: "a tile of bfloat8_b has 1,088 bytes, one of bfloat16 2,048, one of float32 4,096",
        makes_it_fit: match said.verdict {
            TenstorrentVerdict::OutOfMemory => Some(is_enough),
            _ => None,
        },
        evidence: context.evidence(weights()),
        code: "w = ttnn.from_torch(w, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device)"
            .to_owned(),
        caution: "Sixteen numbers share an exponent: check the accuracy. Only tensors in tiles can have this type",
        ..CoreDraft::of(CoreTechnique::Bfloat8Weights, context)
    })
}
