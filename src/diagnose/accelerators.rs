//! Messages of the drivers and compilers of other accelerators about their memory: Ascend, Gaudi, Neuron, Intel's
//! GPUs.

use super::finding::{Device, Finding, Kind};
use super::message::Message;

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?:PT_DEVMEM[^\0]{0,80}? )?Allocation failed for size::\\s*(?<requested>{n})(?:\\s*\\({n}\\)\\s*[KMG]?B)?",
        read: |found| Some(found.finding(Kind::AcceleratorOutOfMemory).on(Device::Hpu)),
        example: "RuntimeError: [Rank:0] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::1073741824 (1024)MB",
        meaning: "A Gaudi has no room for this tensor.",
    },
    Message {
        pattern: "[Ff]ailed to alloc DEVICE memory:? (?<requested>{n})",
        read: |found| Some(found.finding(Kind::AcceleratorOutOfMemory).on(Device::Neuron)),
        example: "TDRV:dmem_alloc_internal Failed to alloc DEVICE memory: 1073741824",
        meaning: "A Neuron core (Trainium, Inferentia) has no room for this tensor.",
    },
    Message {
        pattern: "(?<part>\\b)[Ff]ailed to allocate (?<requested>{size})(?: \\([a-z]{1,20}: [^)\r\n]{1,80}\\))? on (?<instance>ND ?{n}:NC ?{n})",
        read: |found| Some(found.finding(Kind::AcceleratorOutOfMemory).on(Device::Neuron)),
        example: "TDRV:log_dev_mem Failed to allocate 1.000GB (alignment: none, usage: tensors) on ND 0:NC 3",
        meaning: "The same with the device (ND) and its core (NC).",
    },
    Message {
        pattern: "[Pp]eak HBM usage (?:of )?\\(?(?<used>{size})\\)? exceeds (?:the )?(?:limit of |available )?\\(?(?<limit>{size})",
        read: |found| {
            Some(found.finding(Kind::AcceleratorOutOfMemory).on(Device::Neuron).with_excess())
        },
        example: "ERROR: Estimated peak HBM usage (24.50 GB) exceeds 16GB. Neff won't be able to load on chip",
        meaning: "The compiler of Neuron found that a program needs more memory than a core has.",
    },
    Message {
        pattern: "(?:EL0004: )?(?:[^\r\n]{0,60}: )?Failed to allocate memory[.] Possible Cause: Available memory is insufficient",
        read: |_| Some(Finding::new(Kind::AcceleratorOutOfMemory).on(Device::Npu)),
        example: "EL0004: Failed to allocate memory.\n        Possible Cause: Available memory is insufficient.",
        meaning: "The runtime of an Ascend NPU got no memory.",
    },
    Message {
        pattern: "(?:alloc|malloc)[A-Za-z ]{0,30} device memory failed, runtime result = 207001",
        read: |_| Some(Finding::new(Kind::AcceleratorOutOfMemory).on(Device::Npu)),
        example: "alloc device memory failed, runtime result = 207001",
        meaning: "The same with the number of the error.",
    },
    Message {
        pattern: "(?<part>\\b)(?:UR_RESULT_ERROR|PI_ERROR|ZE_RESULT_ERROR)_(?:OUT_OF_(?:DEVICE_MEMORY|RESOURCES|HOST_MEMORY)|MEM_OBJECT_ALLOCATION_FAILURE)\\b",
        read: |found| {
            let is_host = found.captures.get_match().as_bytes().ends_with(b"HOST_MEMORY");
            Some(if is_host {
                Finding::new(Kind::HostOutOfMemory)
            } else {
                Finding::new(Kind::AcceleratorOutOfMemory).on(Device::Xpu)
            })
        },
        example: "RuntimeError: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)",
        meaning: "The driver of an Intel GPU got no memory.",
    },
    Message {
        pattern: "\\b(?:CL_)?(?:MEM_OBJECT_ALLOCATION_FAILURE|OUT_OF_HOST_MEMORY)\\b",
        read: |found| {
            let is_host = found.captures.get_match().as_bytes().ends_with(b"HOST_MEMORY");
            Some(Finding::new(if is_host {
                Kind::HostOutOfMemory
            } else {
                Kind::AcceleratorOutOfMemory
            }))
        },
        example: "clEnqueueWriteBuffer failed: CL_MEM_OBJECT_ALLOCATION_FAILURE",
        meaning: "OpenCL got no memory for a buffer.",
    },
];
