//! The HIP runtime library: the table of its functions, and properties of the library and its devices.
//!
//! The table contains functions that all versions from ROCm 5.2 to 7.1 have. These versions differ in two ways:
//!
//! - the layout of the device properties, from which Kiln reads only the architecture's name
//! - the result of `hipGetLastError`, which Kiln ignores, because it calls the function only to clear the error, so
//!   that the program's own calls do not see it

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::backend::gpu::ffi::symbol;
use crate::backend::hip::status::HipFailure;
use crate::backend::hip::types::{
    ARCH_NAME_OFFSETS, Attribute, CaptureMode, CopyKind, Declaration, FunctionAttribute,
    HeaderType as _, Interface, RawEvent, RawFunction, RawGraph, RawGraphExec, RawGraphNode,
    RawModule, RawProperties, RawStream, Status,
};
use crate::backend::shared_library::LibraryError;

macro_rules! table {
    ($($name:ident($($parameter:ty),*) -> $result:ty;)*) => {
        /// The functions of the library. The library is never unloaded, because it has its own threads.
        #[allow(non_snake_case, reason = "the library's own names")]
        pub(super) struct HipFunctions {
            $(pub(super) $name: unsafe extern "C" fn($($parameter),*) -> $result,)*
            /// Fills the properties in the layout of ROCm 6 and later. Earlier versions do not have this function.
            hipGetDevicePropertiesR0600: Option<Properties>,
            /// `hipGraphUpload` uploads a graph to the device before its first launch. ROCm 5.2 does not have this
            /// function.
            pub(super) hipGraphUpload: Option<Upload>,
            _library: ManuallyDrop<Library>,
        }

        impl HipFunctions {
            /// Looks up every function.
            ///
            /// # Errors
            /// The first missing symbol.
            fn of(library: Library) -> Result<HipFunctions, LibraryError> {
                Ok(HipFunctions {
                    // SAFETY: HIP's headers declare these symbols with these types.
                    $($name: unsafe { symbol(&library, concat!(stringify!($name), "\0"))? },)*
                    // SAFETY: HIP's headers declare this symbol with the type `Properties`.
                    hipGetDevicePropertiesR0600: unsafe {
                        symbol(&library, "hipGetDevicePropertiesR0600\0").ok()
                    },
                    // SAFETY: HIP's headers declare this symbol with the type `Upload`.
                    hipGraphUpload: unsafe { symbol(&library, "hipGraphUpload\0").ok() },
                    _library: ManuallyDrop::new(library),
                })
            }
        }

        /// The parts of AMD's interface that this backend uses.
        pub fn interface() -> Interface {
            Interface::of(vec![$(Declaration {
                name: stringify!($name),
                result: <$result>::c_name(),
                parameters: vec![$(<$parameter>::c_name()),*],
            },)*])
        }
    };
}

/// The type of `hipGetDeviceProperties` and of its successor. The structure behind the pointer depends on the version.
type Properties = unsafe extern "C" fn(*mut RawProperties, c_int) -> Status;

/// The type of `hipGraphUpload`.
type Upload = unsafe extern "C" fn(RawGraphExec, RawStream) -> Status;

table! {
    hipInit(c_uint) -> Status;
    hipRuntimeGetVersion(*mut c_int) -> Status;
    hipDriverGetVersion(*mut c_int) -> Status;
    hipGetDeviceCount(*mut c_int) -> Status;
    hipSetDevice(c_int) -> Status;
    hipDeviceGetName(*mut c_char, c_int, c_int) -> Status;
    hipDeviceGetAttribute(*mut c_int, Attribute, c_int) -> Status;
    hipGetDeviceProperties(*mut RawProperties, c_int) -> Status;
    hipDeviceSynchronize() -> Status;
    hipGetErrorName(Status) -> *const c_char;
    hipGetErrorString(Status) -> *const c_char;
    hipGetLastError() -> Status;
    hipMemGetInfo(*mut usize, *mut usize) -> Status;
    hipMalloc(*mut *mut c_void, usize) -> Status;
    hipFree(*mut c_void) -> Status;
    hipMemcpyAsync(*mut c_void, *const c_void, usize, CopyKind, RawStream) -> Status;
    hipMemsetAsync(*mut c_void, c_int, usize, RawStream) -> Status;
    hipStreamCreateWithFlags(*mut RawStream, c_uint) -> Status;
    hipStreamDestroy(RawStream) -> Status;
    hipStreamSynchronize(RawStream) -> Status;
    hipEventCreateWithFlags(*mut RawEvent, c_uint) -> Status;
    hipEventDestroy(RawEvent) -> Status;
    hipEventRecord(RawEvent, RawStream) -> Status;
    hipStreamWaitEvent(RawStream, RawEvent, c_uint) -> Status;
    hipEventSynchronize(RawEvent) -> Status;
    hipEventElapsedTime(*mut f32, RawEvent, RawEvent) -> Status;
    hipModuleLoadData(*mut RawModule, *const c_void) -> Status;
    hipModuleUnload(RawModule) -> Status;
    hipModuleGetFunction(*mut RawFunction, RawModule, *const c_char) -> Status;
    hipModuleGetGlobal(*mut *mut c_void, *mut usize, RawModule, *const c_char) -> Status;
    hipModuleLaunchKernel(
        RawFunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, RawStream,
        *mut *mut c_void, *mut *mut c_void
    ) -> Status;
    hipFuncGetAttribute(*mut c_int, FunctionAttribute, RawFunction) -> Status;
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        *mut c_int, RawFunction, c_int, usize
    ) -> Status;
    hipStreamBeginCapture(RawStream, CaptureMode) -> Status;
    hipStreamEndCapture(RawStream, *mut RawGraph) -> Status;
    hipGraphInstantiate(
        *mut RawGraphExec, RawGraph, *mut RawGraphNode, *mut c_char, usize
    ) -> Status;
    hipGraphLaunch(RawGraphExec, RawStream) -> Status;
    hipGraphExecDestroy(RawGraphExec) -> Status;
    hipGraphDestroy(RawGraph) -> Status;
}

/// The loaded HIP runtime library.
pub(in crate::backend::hip) struct Hip {
    pub(super) table: HipFunctions,
}

impl Hip {
    /// Loads the library with this path or name without calling it.
    ///
    /// # Errors
    /// The error of the dynamic loader, or the missing symbol.
    pub fn load(name: &Path) -> Result<Hip, LibraryError> {
        // SAFETY: the file is the vendor's library, whose initialisers run here as in any program that is linked to it.
        let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
        let table = HipFunctions::of(library.map_err(|error| LibraryError::Refused { error })?)?;
        Ok(Hip { table })
    }

    /// Converts the status of a call to a failure. The library stores each failure for `hipGetLastError`. This clears
    /// the stored failure, because it does not belong to one of the program's own calls.
    pub(super) fn check(&self, call: &'static str, status: Status) -> Result<(), HipFailure> {
        if status == Status::SUCCESS {
            return Ok(());
        }
        // SAFETY: both functions accept any number, and return null or a text that lives as long as the library.
        let [name, text] = unsafe {
            [
                text_at((self.table.hipGetErrorName)(status)),
                text_at((self.table.hipGetErrorString)(status)),
            ]
        };
        // SAFETY: `hipGetLastError` takes no arguments.
        let _ = unsafe { (self.table.hipGetLastError)() };
        Err(HipFailure {
            call,
            status,
            name,
            text,
        })
    }

    /// Initialises the runtime and returns the number of its devices.
    pub fn device_count(&self) -> Result<u32, HipFailure> {
        // SAFETY: `hipInit` takes flags, of which none is defined yet.
        self.check("hipInit", unsafe { (self.table.hipInit)(0) })?;
        let mut count = 0;
        // SAFETY: `hipGetDeviceCount` writes one number, to `count`.
        let status = unsafe { (self.table.hipGetDeviceCount)(&raw mut count) };
        self.check("hipGetDeviceCount", status)?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// The versions of the runtime and of the driver, in HIP's format (60443484 stands for 6.4).
    pub fn versions(&self) -> Result<(i32, i32), HipFailure> {
        let (mut runtime, mut driver) = (0, 0);
        // SAFETY: `hipRuntimeGetVersion` writes one number, to `runtime`.
        let status = unsafe { (self.table.hipRuntimeGetVersion)(&raw mut runtime) };
        self.check("hipRuntimeGetVersion", status)?;
        // SAFETY: `hipDriverGetVersion` writes one number, to `driver`.
        let status = unsafe { (self.table.hipDriverGetVersion)(&raw mut driver) };
        self.check("hipDriverGetVersion", status)?;
        Ok((runtime, driver))
    }

    /// Makes a device the current device of the calling thread.
    pub fn select(&self, ordinal: u32) -> Result<(), HipFailure> {
        // SAFETY: `hipSetDevice` accepts any number.
        let status = unsafe { (self.table.hipSetDevice)(ordinal.cast_signed()) };
        self.check("hipSetDevice", status)
    }

    /// The value of an attribute of a device.
    pub fn attribute(&self, attribute: Attribute, ordinal: u32) -> Result<i32, HipFailure> {
        let mut value = 0;
        let ordinal = ordinal.cast_signed();
        // SAFETY: `hipDeviceGetAttribute` writes one number, to `value`.
        let status =
            unsafe { (self.table.hipDeviceGetAttribute)(&raw mut value, attribute, ordinal) };
        self.check("hipDeviceGetAttribute", status)?;
        Ok(value)
    }

    /// The product name of a device.
    pub fn device_name(&self, ordinal: u32) -> Result<String, HipFailure> {
        let mut name = [0_u8; 256];
        // SAFETY: `hipDeviceGetName` writes at most `length` bytes, so the last byte of `name` stays zero.
        let status = unsafe {
            let length = c_int::try_from(name.len() - 1).unwrap_or(0);
            (self.table.hipDeviceGetName)(name.as_mut_ptr().cast(), length, ordinal.cast_signed())
        };
        self.check("hipDeviceGetName", status)?;
        Ok(text_in(&name))
    }

    /// The architecture of a device with the name that the driver uses, which has features after colons.
    ///
    /// In ROCm 6 and later, the function without `R0600` still fills the old layout. The result of each function is
    /// therefore read with that function's own layout.
    pub fn arch_name(&self, ordinal: u32) -> Result<String, HipFailure> {
        let mut properties = Box::new(RawProperties([0; 8192]));
        let [old, new] = ARCH_NAME_OFFSETS;
        let (call, function, offset) = match self.table.hipGetDevicePropertiesR0600 {
            Some(function) => ("hipGetDevicePropertiesR0600", function, new),
            None => (
                "hipGetDeviceProperties",
                self.table.hipGetDeviceProperties,
                old,
            ),
        };
        // SAFETY: the buffer `properties` is several times as large as the properties of any version.
        let status = unsafe { function(&raw mut *properties, ordinal.cast_signed()) };
        self.check(call, status)?;
        Ok(text_in(&properties.0[offset..offset + 256]))
    }

    /// Free and total memory of the calling thread's current device, in bytes.
    pub fn memory_info(&self) -> Result<(usize, usize), HipFailure> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: `hipMemGetInfo` writes two numbers, to `free` and `total`.
        let status = unsafe { (self.table.hipMemGetInfo)(&raw mut free, &raw mut total) };
        self.check("hipMemGetInfo", status)?;
        Ok((free, total))
    }

    /// Waits until all work on the calling thread's current device is done.
    pub fn synchronize(&self) -> Result<(), HipFailure> {
        // SAFETY: `hipDeviceSynchronize` takes no arguments.
        let status = unsafe { (self.table.hipDeviceSynchronize)() };
        self.check("hipDeviceSynchronize", status)
    }
}

impl fmt::Debug for Hip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hip")
    }
}

/// Copies a zero-terminated text of the library; empty if the pointer is null.
///
/// # Safety
/// The pointer must be null or point to a zero-terminated text that nobody changes.
unsafe fn text_at(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the caller vouches that a pointer that is not null points to a zero-terminated text.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_string_lossy().into_owned()
}

/// The text before the first zero byte of a buffer.
fn text_in(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}
