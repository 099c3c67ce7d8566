//! The default settings of the allocator, of all PyTorch releases since settings are written into snapshots.

/// Whether a setting has its default value; `None` where the default is not known.
pub fn is_default(name: &str, value: &str) -> Option<bool> {
    let default = match name {
        "PYTORCH_CUDA_ALLOC_CONF" | "PYTORCH_ALLOC_CONF" | "roundup_power2_divisions" => "",
        "max_split_size" | "max_round_threshold" | "max_cached_size" => "-1",
        "garbage_collection_threshold" => "0",
        "pinned_num_register_threads" => "1",
        "expandable_segments"
        | "release_lock_on_cudamalloc"
        | "pinned_use_cuda_host_register"
        | "graph_capture_record_stream_reuse" => "false",
        _ => return None,
    };
    Some(value == default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_was_set_is_told_from_the_default() {
        assert_eq!(is_default("max_split_size", "-1"), Some(true));
        assert_eq!(is_default("expandable_segments", "true"), Some(false));
        assert_eq!(is_default("something_new", "1"), None);
    }
}
