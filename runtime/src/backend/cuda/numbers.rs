//! Constants from the driver's header (`cuda.h`). They are part of the driver's binary interface, and none has ever
//! changed.

/// `CUdevice_attribute`, the attributes of a device that can be queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum DeviceAttribute {
    /// `CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK`
    MaxThreadsPerBlock = 1,
    /// `CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X`
    MaxBlockX = 2,
    /// `CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y`
    MaxBlockY = 3,
    /// `CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z`
    MaxBlockZ = 4,
    /// `CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X`
    MaxGridX = 5,
    /// `CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y`
    MaxGridY = 6,
    /// `CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z`
    MaxGridZ = 7,
    /// `CU_DEVICE_ATTRIBUTE_WARP_SIZE`
    WarpSize = 10,
    /// `CU_DEVICE_ATTRIBUTE_CLOCK_RATE`, in kHz
    ClockRate = 13,
    /// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`
    Multiprocessors = 16,
    /// `CU_DEVICE_ATTRIBUTE_ECC_ENABLED`
    EccEnabled = 32,
    /// `CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE`, in kHz
    MemoryClockRate = 36,
    /// `CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH`, in bits
    MemoryBusWidth = 37,
    /// `CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE`, in bytes
    L2CacheSize = 38,
    /// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`
    CapabilityMajor = 75,
    /// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR`
    CapabilityMinor = 76,
    /// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`, in bytes
    MaxSharedPerBlockOptIn = 97,
    /// `CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED`
    VirtualMemory = 102,
}

/// `CUfunction_attribute`, the attributes of a function that can be queried or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum FunctionAttribute {
    /// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`
    MaxThreadsPerBlock = 0,
    /// `CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`, the static shared memory in bytes
    SharedBytes = 1,
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
    MaxDynamicSharedBytes = 8,
}

/// `CU_LIMIT_PERSISTING_L2_CACHE_SIZE`, the number of bytes of the L2 cache in which data may persist
pub(super) const LIMIT_PERSISTING_L2: i32 = 6;
/// `CU_STREAM_NON_BLOCKING`, for a stream that does not wait for the default stream
pub(super) const STREAM_NON_BLOCKING: u32 = 1;
/// `CU_EVENT_DEFAULT`, for an event that records its time
pub(super) const EVENT_DEFAULT: u32 = 0;
/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`. In this mode, a call that cannot be recorded is an error only in the
/// recording thread.
pub(super) const CAPTURE_THREAD_LOCAL: i32 = 1;
/// `CU_MEM_ALLOCATION_TYPE_PINNED`
pub(super) const ALLOCATION_PINNED: i32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`
pub(super) const LOCATION_DEVICE: i32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
pub(super) const ACCESS_READ_WRITE: i32 = 3;
/// `CU_MEM_ALLOC_GRANULARITY_MINIMUM`
pub(super) const GRANULARITY_MINIMUM: i32 = 0;
