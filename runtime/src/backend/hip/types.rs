//! The types of the HIP runtime's interface: handles, enumerations, and their names in the vendor's headers.
//!
//! The source is `hip/hip_runtime_api.h`. A test compares the names, sizes and numbers in this file with the headers of
//! ROCm 5.2.3. The headers of ROCm 6.2 to 7.1 contain the same names, sizes and numbers.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// A Rust type of the interface that has a name in the headers.
pub(super) trait HeaderType {
    fn c_name() -> String;
}

impl<T: HeaderType> HeaderType for *mut T {
    fn c_name() -> String {
        format!("{}*", T::c_name())
    }
}

impl<T: HeaderType> HeaderType for *const T {
    fn c_name() -> String {
        format!("const {}*", T::c_name())
    }
}

macro_rules! c_names {
    ($($type:ty = $name:literal,)*) => {
        $(impl HeaderType for $type {
            fn c_name() -> String {
                $name.into()
            }
        })*
    };
}

c_names! {
    c_int = "int",
    c_uint = "unsigned int",
    usize = "size_t",
    f32 = "float",
    c_char = "char",
    c_void = "void",
    RawProperties = "hipDeviceProp_t",
}

/// Declares pointers that only the library dereferences. In Rust they are numbers, so any thread may hold them.
macro_rules! handles {
    ($($(#[$doc:meta])* $handle:ident = $name:literal;)*) => {
        $($(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(super) struct $handle(pub usize);

        c_names! { $handle = $name, })*

        const HANDLES: &[(&str, usize)] = &[$(($name, size_of::<$handle>()),)*];
    };
}

handles! {
    /// A stream. A null handle is the device's default stream.
    RawStream = "hipStream_t";
    /// A point in a stream.
    RawEvent = "hipEvent_t";
    /// A loaded code object.
    RawModule = "hipModule_t";
    /// A kernel of a module.
    RawFunction = "hipFunction_t";
    /// A captured graph.
    RawGraph = "hipGraph_t";
    /// A graph that is ready to be launched.
    RawGraphExec = "hipGraphExec_t";
    /// A node of a graph. This backend always passes a null handle.
    RawGraphNode = "hipGraphNode_t";
}

/// Declares enumerations. The library may return any number, so the types are numbers with named values.
macro_rules! numbers {
    ($($(#[$doc:meta])* $type:ident = $name:literal {
        $($constant:ident = $c:ident = $value:literal,)*
    })*) => {
        $($(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) struct $type(pub c_int);

        #[allow(missing_docs, reason = "the headers' own names say it")]
        impl $type {
            $(pub const $constant: $type = $type($value);)*
        }

        c_names! { $type = $name, })*

        const ENUMERATIONS: &[(&str, usize)] = &[$(($name, size_of::<$type>()),)*];

        const NUMBERS: &[(&str, i32)] = &[$($((stringify!($c), $value),)*)*];
    };
}

numbers! {
    /// The status of a call.
    Status = "hipError_t" {
        SUCCESS = hipSuccess = 0,
        INVALID_VALUE = hipErrorInvalidValue = 1,
        OUT_OF_MEMORY = hipErrorOutOfMemory = 2,
        NOT_INITIALIZED = hipErrorNotInitialized = 3,
        DEINITIALIZED = hipErrorDeinitialized = 4,
        INVALID_CONFIGURATION = hipErrorInvalidConfiguration = 9,
        INSUFFICIENT_DRIVER = hipErrorInsufficientDriver = 35,
        INVALID_DEVICE_FUNCTION = hipErrorInvalidDeviceFunction = 98,
        NO_DEVICE = hipErrorNoDevice = 100,
        INVALID_DEVICE = hipErrorInvalidDevice = 101,
        INVALID_IMAGE = hipErrorInvalidImage = 200,
        NO_BINARY_FOR_GPU = hipErrorNoBinaryForGpu = 209,
        ECC_NOT_CORRECTABLE = hipErrorECCNotCorrectable = 214,
        INVALID_KERNEL_FILE = hipErrorInvalidKernelFile = 218,
        SHARED_OBJECT_INIT_FAILED = hipErrorSharedObjectInitFailed = 303,
        NOT_FOUND = hipErrorNotFound = 500,
        ILLEGAL_ADDRESS = hipErrorIllegalAddress = 700,
        LAUNCH_OUT_OF_RESOURCES = hipErrorLaunchOutOfResources = 701,
        LAUNCH_TIME_OUT = hipErrorLaunchTimeOut = 702,
        CONTEXT_IS_DESTROYED = hipErrorContextIsDestroyed = 709,
        ASSERT = hipErrorAssert = 710,
        LAUNCH_FAILURE = hipErrorLaunchFailure = 719,
        NOT_SUPPORTED = hipErrorNotSupported = 801,
        STREAM_CAPTURE_UNSUPPORTED = hipErrorStreamCaptureUnsupported = 900,
        STREAM_CAPTURE_WRONG_THREAD = hipErrorStreamCaptureWrongThread = 908,
        UNKNOWN = hipErrorUnknown = 999,
    }
    /// An attribute of a device.
    Attribute = "hipDeviceAttribute_t" {
        CLOCK_KHZ = hipDeviceAttributeClockRate = 5,
        INTEGRATED = hipDeviceAttributeIntegrated = 16,
        L2_BYTES = hipDeviceAttributeL2CacheSize = 19,
        MAX_BLOCK_X = hipDeviceAttributeMaxBlockDimX = 26,
        MAX_BLOCK_Y = hipDeviceAttributeMaxBlockDimY = 27,
        MAX_BLOCK_Z = hipDeviceAttributeMaxBlockDimZ = 28,
        MAX_GRID_X = hipDeviceAttributeMaxGridDimX = 29,
        MAX_GRID_Y = hipDeviceAttributeMaxGridDimY = 30,
        MAX_GRID_Z = hipDeviceAttributeMaxGridDimZ = 31,
        MAX_THREADS_PER_BLOCK = hipDeviceAttributeMaxThreadsPerBlock = 56,
        MEMORY_BUS_BITS = hipDeviceAttributeMemoryBusWidth = 59,
        MEMORY_CLOCK_KHZ = hipDeviceAttributeMemoryClockRate = 60,
        MULTIPROCESSORS = hipDeviceAttributeMultiprocessorCount = 63,
        SHARED_BYTES_PER_BLOCK = hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
        WARP_SIZE = hipDeviceAttributeWarpSize = 87,
    }
    /// An attribute of a kernel.
    FunctionAttribute = "hipFunction_attribute" {
        MAX_THREADS_PER_BLOCK = HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
        SHARED_BYTES = HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    }
    /// The direction of a copy.
    CopyKind = "hipMemcpyKind" {
        TO_DEVICE = hipMemcpyHostToDevice = 1,
        TO_HOST = hipMemcpyDeviceToHost = 2,
        ON_DEVICE = hipMemcpyDeviceToDevice = 3,
    }
    /// The threads in which a capture forbids calls that cannot be recorded.
    CaptureMode = "hipStreamCaptureMode" {
        THREAD_LOCAL = hipStreamCaptureModeThreadLocal = 1,
    }
}

/// A buffer that is large enough for the device properties of any version (792 bytes in 5.x, 1472 in 6.x and 7.x).
/// Only the architecture's name is read from it.
#[repr(C, align(16))]
pub(super) struct RawProperties(pub [u8; 8192]);

/// The offset of `gcnArchName` in the properties, in bytes. The first is for versions before ROCm 6, the second for
/// ROCm 6 and later.
pub const ARCH_NAME_OFFSETS: [usize; 2] = [396, 1160];

/// A function of the interface, as the headers declare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The symbol of the function.
    pub name: &'static str,
    /// The return type, as the headers name it.
    pub result: String,
    /// The types of the parameters in order, as the headers name them.
    pub parameters: Vec<String>,
}

/// The parts of AMD's interface that the hip backend uses. A test compares them with AMD's headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The functions that every version has.
    pub functions: Vec<Declaration>,
    /// The types, with their sizes in bytes.
    pub sizes: Vec<(&'static str, usize)>,
    /// The enumerators, with their numbers.
    pub numbers: Vec<(&'static str, i32)>,
}

impl Interface {
    /// An interface with these functions, and with all types and enumerators of this file.
    pub(super) fn of(functions: Vec<Declaration>) -> Interface {
        Interface {
            functions,
            sizes: HANDLES.iter().chain(ENUMERATIONS).copied().collect(),
            numbers: NUMBERS.to_vec(),
        }
    }
}
