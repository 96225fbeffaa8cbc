//! The driver: its functions, its devices, and the context in which work runs.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::path::Path;
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL};

use super::super::numbers::{DeviceAttribute, LIMIT_PERSISTING_L2};
use super::{open, symbol};
use crate::backend::shared_library::LibraryError;

/// A `CUcontext`, `CUmodule`, `CUfunction`, `CUstream`, `CUevent`, `CUgraph` or `CUgraphExec`.
pub(super) type Handle = *mut c_void;

/// Mirrors `CUdeviceptr` of `cuda.h`, the address of device memory.
pub(super) type Address = c_ulonglong;

/// Mirrors `CUmemLocation` of `cuda.h`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct MemLocation {
    pub kind: c_int,
    pub id: c_int,
}

/// Mirrors `CUmemAllocationProp` of `cuda.h`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct AllocationProperties {
    pub kind: c_int,
    pub handle_types: c_int,
    pub location: MemLocation,
    pub win32_meta_data: *mut c_void,
    /// The fields `compressionType`, `gpuDirectRDMACapable`, `usage`, and reserved bytes.
    pub flags: [u8; 8],
}

/// Mirrors `CUmemAccessDesc` of `cuda.h`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct AccessDescription {
    pub location: MemLocation,
    pub flags: c_int,
}

functions! {
    /// The functions of the driver (`cuda.h`) that Kiln requires. Drivers of CUDA 11.4 and later have all of them.
    DriverFunctions {
        init = "cuInit"(c_uint);
        version = "cuDriverGetVersion"(*mut c_int);
        error_name = "cuGetErrorName"(c_int, *mut *const c_char);
        error_string = "cuGetErrorString"(c_int, *mut *const c_char);
        device_count = "cuDeviceGetCount"(*mut c_int);
        device = "cuDeviceGet"(*mut c_int, c_int);
        device_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
        device_uuid = "cuDeviceGetUuid"(*mut [u8; 16], c_int);
        device_attribute = "cuDeviceGetAttribute"(*mut c_int, c_int, c_int);
        device_memory = "cuDeviceTotalMem_v2"(*mut usize, c_int);
        context_retain = "cuDevicePrimaryCtxRetain"(*mut Handle, c_int);
        context_release = "cuDevicePrimaryCtxRelease_v2"(c_int);
        context_set = "cuCtxSetCurrent"(Handle);
        context_synchronize = "cuCtxSynchronize"();
        memory_info = "cuMemGetInfo_v2"(*mut usize, *mut usize);
        alloc = "cuMemAlloc_v2"(*mut Address, usize);
        free = "cuMemFree_v2"(Address);
        copy_in = "cuMemcpyHtoDAsync_v2"(Address, *const c_void, usize, Handle);
        copy_out = "cuMemcpyDtoHAsync_v2"(*mut c_void, Address, usize, Handle);
        copy_on_device = "cuMemcpyDtoDAsync_v2"(Address, Address, usize, Handle);
        set_bytes = "cuMemsetD8Async"(Address, u8, usize, Handle);
        granularity = "cuMemGetAllocationGranularity"(*mut usize, *const AllocationProperties, c_int);
        reserve = "cuMemAddressReserve"(*mut Address, usize, usize, Address, c_ulonglong);
        unreserve = "cuMemAddressFree"(Address, usize);
        create = "cuMemCreate"(*mut c_ulonglong, usize, *const AllocationProperties, c_ulonglong);
        release = "cuMemRelease"(c_ulonglong);
        map = "cuMemMap"(Address, usize, usize, c_ulonglong, c_ulonglong);
        unmap = "cuMemUnmap"(Address, usize);
        set_access = "cuMemSetAccess"(Address, usize, *const AccessDescription, usize);
        stream_create = "cuStreamCreate"(*mut Handle, c_uint);
        stream_destroy = "cuStreamDestroy_v2"(Handle);
        stream_synchronize = "cuStreamSynchronize"(Handle);
        event_create = "cuEventCreate"(*mut Handle, c_uint);
        event_destroy = "cuEventDestroy_v2"(Handle);
        event_record = "cuEventRecord"(Handle, Handle);
        stream_wait_event = "cuStreamWaitEvent"(Handle, Handle, c_uint);
        event_synchronize = "cuEventSynchronize"(Handle);
        event_elapsed = "cuEventElapsedTime"(*mut f32, Handle, Handle);
        module_load = "cuModuleLoadData"(*mut Handle, *const c_void);
        module_unload = "cuModuleUnload"(Handle);
        module_function = "cuModuleGetFunction"(*mut Handle, Handle, *const c_char);
        module_global = "cuModuleGetGlobal_v2"(*mut Address, *mut usize, Handle, *const c_char);
        function_attribute = "cuFuncGetAttribute"(*mut c_int, c_int, Handle);
        function_set = "cuFuncSetAttribute"(Handle, c_int, c_int);
        launch = "cuLaunchKernel"(
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint,
            Handle, *mut *mut c_void, *mut *mut c_void,
        );
        occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor"(*mut c_int, Handle, c_int, usize);
        begin_capture = "cuStreamBeginCapture_v2"(Handle, c_int);
        end_capture = "cuStreamEndCapture"(Handle, *mut Handle);
        graph_instantiate = "cuGraphInstantiateWithFlags"(*mut Handle, Handle, c_ulonglong);
        graph_launch = "cuGraphLaunch"(Handle, Handle);
        graph_destroy = "cuGraphDestroy"(Handle);
        exec_destroy = "cuGraphExecDestroy"(Handle);
    }
}

/// Functions that Kiln uses only if the driver has them.
pub(super) struct OptionalFunctions {
    /// `cuGraphUpload`, since CUDA 11.1, uploads a graph to the device before its first launch.
    pub graph_upload: Option<unsafe extern "C" fn(Handle, Handle) -> c_int>,
    /// `cuCtxSetLimit` sets a limit of the current context, such as the size of the reserved L2 cache.
    set_limit: Option<unsafe extern "C" fn(c_int, usize) -> c_int>,
    /// `cuCtxResetPersistingL2Cache`, since CUDA 11.0, resets persisting lines of the L2 cache to normal.
    reset_persisting: Option<unsafe extern "C" fn() -> c_int>,
    /// `cuDeviceGetUuid_v2`, since CUDA 11.4. For a part of a GPU (MIG), it returns the UUID of the part, while the
    /// function without `_v2` returns the UUID of the whole GPU.
    device_uuid_v2: Option<unsafe extern "C" fn(*mut [u8; 16], c_int) -> c_int>,
}

impl OptionalFunctions {
    fn of(library: &Library) -> OptionalFunctions {
        OptionalFunctions {
            // SAFETY: `cuda.h` declares the function with this type.
            graph_upload: unsafe { symbol(library, "cuGraphUpload") }.ok(),
            // SAFETY: `cuda.h` declares the function with this type.
            set_limit: unsafe { symbol(library, "cuCtxSetLimit") }.ok(),
            // SAFETY: `cuda.h` declares the function with this type.
            reset_persisting: unsafe { symbol(library, "cuCtxResetPersistingL2Cache") }.ok(),
            // SAFETY: `cuda.h` declares the function with this type.
            device_uuid_v2: unsafe { symbol(library, "cuDeviceGetUuid_v2") }.ok(),
        }
    }
}

/// A failed call of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::backend::cuda) struct Failed {
    /// The name of the function.
    pub call: &'static str,
    /// The driver's result code.
    pub code: i32,
    /// The driver's name for the code, and the driver's description.
    pub text: String,
}

/// The loaded driver.
pub(in crate::backend::cuda) struct Driver {
    functions: DriverFunctions,
    optional: OptionalFunctions,
    _library: Library,
}

impl Driver {
    /// Loads the driver from a file.
    ///
    /// # Errors
    /// The error of the loader, or the symbol that is missing.
    pub fn load(file: &Path) -> Result<Driver, LibraryError> {
        let library = open(file, RTLD_LOCAL)?;
        Ok(Driver {
            functions: DriverFunctions::of(&library)?,
            optional: OptionalFunctions::of(&library),
            _library: library,
        })
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), Failed> {
        if code == 0 {
            return Ok(());
        }
        let text = |get: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int| {
            let mut text = std::ptr::null();
            // SAFETY: the function accepts any number. If it knows the number, it sets `text` to a static text.
            let result = unsafe { get(code, &raw mut text) };
            if result != 0 || text.is_null() {
                return None;
            }
            // SAFETY: the pointer is not null, as checked above, and the text ends with a zero byte like every C
            // string.
            let text = unsafe { CStr::from_ptr(text) };
            Some(text.to_string_lossy().into_owned())
        };
        let name = text(self.functions.error_name);
        let said = text(self.functions.error_string);
        let (name, said) = (name.unwrap_or_default(), said.unwrap_or_default());
        Err(Failed {
            call,
            code,
            text: format!("{call}: error {code} {name} ({said})"),
        })
    }

    /// Initialises the driver.
    pub fn init(&self) -> Result<(), Failed> {
        // SAFETY: `cuInit` takes no pointer.
        self.check("cuInit", unsafe { (self.functions.init)(0) })
    }

    /// The newest CUDA version that the driver supports, such as 13000 for CUDA 13.0.
    pub fn version(&self) -> Result<i32, Failed> {
        let mut version = 0;
        // SAFETY: the driver writes only to `version`, a local integer.
        let code = unsafe { (self.functions.version)(&raw mut version) };
        self.check("cuDriverGetVersion", code).map(|()| version)
    }

    /// The number of devices that the driver reports.
    pub fn device_count(&self) -> Result<i32, Failed> {
        let mut count = 0;
        // SAFETY: the driver writes only to `count`, a local integer.
        let code = unsafe { (self.functions.device_count)(&raw mut count) };
        self.check("cuDeviceGetCount", code).map(|()| count)
    }

    /// The driver's handle of the device with this number.
    pub fn device(&self, ordinal: i32) -> Result<c_int, Failed> {
        let mut device = 0;
        // SAFETY: the driver writes only to `device`, a local integer.
        let code = unsafe { (self.functions.device)(&raw mut device, ordinal) };
        self.check("cuDeviceGet", code).map(|()| device)
    }

    /// The product name of a device.
    pub fn device_name(&self, device: c_int) -> Result<String, Failed> {
        let mut name = [0u8; 256];
        let room = name.len() as c_int - 1;
        // SAFETY: the buffer has `room` bytes, and one more byte that stays zero.
        let code = unsafe { (self.functions.device_name)(name.as_mut_ptr().cast(), room, device) };
        self.check("cuDeviceGetName", code)?;
        let end = name
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(name.len());
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    /// The UUID of a device.
    pub fn device_uuid(&self, device: c_int) -> Result<[u8; 16], Failed> {
        let mut uuid = [0; 16];
        let ask = self
            .optional
            .device_uuid_v2
            .unwrap_or(self.functions.device_uuid);
        // SAFETY: the driver writes only to `uuid`, a local array of 16 bytes.
        let code = unsafe { ask(&raw mut uuid, device) };
        self.check("cuDeviceGetUuid", code).map(|()| uuid)
    }

    /// The size of a device's memory, in bytes.
    pub fn device_memory(&self, device: c_int) -> Result<u64, Failed> {
        let mut bytes = 0;
        // SAFETY: the driver writes only to `bytes`, a local integer.
        let code = unsafe { (self.functions.device_memory)(&raw mut bytes, device) };
        self.check("cuDeviceTotalMem", code).map(|()| bytes as u64)
    }

    /// The value of one attribute of a device.
    pub fn attribute(&self, device: c_int, attribute: DeviceAttribute) -> Result<i32, Failed> {
        let mut value = 0;
        let number = attribute as c_int;
        // SAFETY: the driver writes only to `value`, a local integer.
        let code = unsafe { (self.functions.device_attribute)(&raw mut value, number, device) };
        self.check("cuDeviceGetAttribute", code).map(|()| value)
    }
}

/// The primary context of a device. All users of the device in this process share it.
pub(in crate::backend::cuda) struct PrimaryContext {
    driver: &'static Driver,
    device: c_int,
    handle: Handle,
}

// SAFETY: any thread may call the driver's functions, and the handle does not point to memory of this process.
unsafe impl Send for PrimaryContext {}
// SAFETY: several threads may call the driver's functions at once, and the handle does not point to memory of this
// process.
unsafe impl Sync for PrimaryContext {}

impl PrimaryContext {
    /// The driver's handle of the device.
    pub(super) fn device(&self) -> c_int {
        self.device
    }

    /// Retains the primary context of a device. The driver creates it if it does not exist.
    pub fn retain(driver: &'static Driver, device: c_int) -> Result<Arc<PrimaryContext>, Failed> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the driver writes only to `handle`, a local variable.
        let code = unsafe { (driver.functions.context_retain)(&raw mut handle, device) };
        driver.check("cuDevicePrimaryCtxRetain", code)?;
        Ok(Arc::new(PrimaryContext {
            driver,
            device,
            handle,
        }))
    }

    /// Makes the context current for this thread, and returns the driver's functions.
    pub(super) fn enter(&self) -> Result<&DriverFunctions, Failed> {
        // SAFETY: the context is retained as long as this object lives.
        let code = unsafe { (self.driver.functions.context_set)(self.handle) };
        self.check("cuCtxSetCurrent", code)?;
        Ok(&self.driver.functions)
    }

    /// The functions that not every driver has.
    pub(super) fn optional(&self) -> &OptionalFunctions {
        &self.driver.optional
    }

    pub(super) fn check(&self, call: &'static str, code: c_int) -> Result<(), Failed> {
        self.driver.check(call, code)
    }

    /// Waits until all work on the device is done.
    pub fn synchronize(&self) -> Result<(), Failed> {
        let functions = self.enter()?;
        // SAFETY: `cuCtxSynchronize` takes no arguments, and the context is current.
        self.check("cuCtxSynchronize", unsafe {
            (functions.context_synchronize)()
        })
    }

    /// Releases this process's reservations in the L2 cache, if the driver supports it.
    pub fn share_l2(&self) -> Result<(), Failed> {
        self.enter()?;
        let optional = self.optional();
        if let Some(set) = optional.set_limit {
            // SAFETY: `cuCtxSetLimit` takes only numbers, and the context is current.
            let code = unsafe { set(LIMIT_PERSISTING_L2, 0) };
            self.check("cuCtxSetLimit", code)?;
        }
        let Some(reset) = optional.reset_persisting else {
            return Ok(());
        };
        // SAFETY: `cuCtxResetPersistingL2Cache` takes no arguments, and the context is current.
        self.check("cuCtxResetPersistingL2Cache", unsafe { reset() })
    }

    /// The free memory of the device, in bytes.
    pub fn free_bytes(&self) -> Result<u64, Failed> {
        let functions = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the driver writes only to `free` and `total`, which are local integers.
        let code = unsafe { (functions.memory_info)(&raw mut free, &raw mut total) };
        self.check("cuMemGetInfo", code).map(|()| free as u64)
    }
}

impl Drop for PrimaryContext {
    fn drop(&mut self) {
        // SAFETY: this object retained the context once, and releases it once.
        let _ = unsafe { (self.driver.functions.context_release)(self.device) };
    }
}
