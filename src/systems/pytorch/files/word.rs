//! The words of a snapshot: keys of its dicts and values that mean something. Everything else is [`Word::Other`].

/// A word that the reader knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Word {
    Other,
    // Keys of events.
    Action,
    Addr,
    Size,
    Stream,
    TimeUs,
    Frames,
    DeviceFree,
    UserMetadata,
    // Keys of frames.
    Filename,
    Line,
    Name,
    // Keys of blocks and segments.
    Address,
    RequestedSize,
    State,
    History,
    RealSize,
    Device,
    TotalSize,
    AllocatedSize,
    ActiveSize,
    SegmentType,
    SegmentPoolId,
    IsExpandable,
    Blocks,
    // Of annotations.
    Stage,
    // Of the root.
    Segments,
    DeviceTraces,
    AllocatorSettings,
    ExternalAnnotations,
    HostSegments,
    HostTraces,
    // Of the settings.
    MaxSplitSize,
    RoundupDivisions,
    // Actions.
    Alloc,
    FreeCompleted,
    FreeRequested,
    OutOfMemory,
    Annotate,
    SegmentAlloc,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    Snapshot,
    // States of blocks.
    ActiveAllocated,
    ActivePending,
    Inactive,
    // Values.
    Small,
    Start,
    End,
    NotApplicable,
}

impl Word {
    /// A set of words with this one in it; they are fewer than 64.
    #[inline]
    pub(super) const fn bit(self) -> u64 {
        1_u64.wrapping_shl(self as u32)
    }

    pub(super) fn of(text: &[u8]) -> Self {
        match text {
            b"action" => Self::Action,
            b"addr" => Self::Addr,
            b"size" => Self::Size,
            b"stream" => Self::Stream,
            b"time_us" => Self::TimeUs,
            b"frames" => Self::Frames,
            b"device_free" => Self::DeviceFree,
            b"user_metadata" => Self::UserMetadata,
            b"filename" => Self::Filename,
            b"line" => Self::Line,
            b"name" => Self::Name,
            b"address" => Self::Address,
            b"requested_size" => Self::RequestedSize,
            b"state" => Self::State,
            b"history" => Self::History,
            b"real_size" => Self::RealSize,
            b"device" => Self::Device,
            b"total_size" => Self::TotalSize,
            b"allocated_size" => Self::AllocatedSize,
            b"active_size" => Self::ActiveSize,
            b"segment_type" => Self::SegmentType,
            b"segment_pool_id" => Self::SegmentPoolId,
            b"is_expandable" => Self::IsExpandable,
            b"blocks" => Self::Blocks,
            b"stage" => Self::Stage,
            b"segments" => Self::Segments,
            b"device_traces" => Self::DeviceTraces,
            b"allocator_settings" => Self::AllocatorSettings,
            b"external_annotations" => Self::ExternalAnnotations,
            b"host_segments" => Self::HostSegments,
            b"host_traces" => Self::HostTraces,
            b"max_split_size" => Self::MaxSplitSize,
            b"roundup_power2_divisions" => Self::RoundupDivisions,
            b"alloc" => Self::Alloc,
            b"free_completed" => Self::FreeCompleted,
            b"free_requested" => Self::FreeRequested,
            b"oom" => Self::OutOfMemory,
            b"annotate" => Self::Annotate,
            b"segment_alloc" => Self::SegmentAlloc,
            b"segment_free" => Self::SegmentFree,
            b"segment_map" => Self::SegmentMap,
            b"segment_unmap" => Self::SegmentUnmap,
            b"snapshot" => Self::Snapshot,
            b"active_allocated" => Self::ActiveAllocated,
            // Files write the first, the documentation the second.
            b"active_pending_free" | b"active_awaiting_free" => Self::ActivePending,
            b"inactive" => Self::Inactive,
            b"small" => Self::Small,
            b"START" => Self::Start,
            b"END" => Self::End,
            b"N/A" | b"" => Self::NotApplicable,
            _ => Self::Other,
        }
    }
}
