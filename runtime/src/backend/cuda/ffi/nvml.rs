//! The functions of NVML, NVIDIA's management library, that report a device's processes and its clock.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL};

use super::driver::Handle;
use super::{open, symbol};
use crate::backend::cuda::library_error::NvmlError;
use crate::device::ClockReading;

/// Mirrors `nvmlProcessInfo_t` of `nvml.h`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct ProcessInfo {
    pid: c_uint,
    used_memory: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

/// `NVML_ERROR_INSUFFICIENT_SIZE`, the result code if the list of processes is too short
const INSUFFICIENT_SIZE: c_int = 7;

/// Initial capacity of the list of processes.
const PROCESSES: usize = 64;

functions! {
    /// The functions of `nvml.h` that drivers since 510 have.
    NvmlFunctions {
        init = "nvmlInit_v2"();
        shutdown = "nvmlShutdown"();
        device = "nvmlDeviceGetHandleByUUID"(*const c_char, *mut Handle);
        processes = "nvmlDeviceGetComputeRunningProcesses_v3"(Handle, *mut c_uint, *mut ProcessInfo);
    }
}

/// `NVML_CLOCK_SM`, the clock of the multiprocessors
const CLOCK_SM: c_int = 1;

/// The throttle reasons that mean that heat or the power supply limits the clock (`nvmlClocksEventReason…` in
/// `nvml.h`): hardware slowdown, thermal slowdown by the driver, thermal slowdown by the hardware, and power brake.
const BRAKES: c_ulonglong = 0x8 | 0x20 | 0x40 | 0x80;

/// Functions that Kiln uses only if the library has them and the device supports them.
struct OptionalNvmlFunctions {
    clock: Option<unsafe extern "C" fn(Handle, c_int, *mut c_uint) -> c_int>,
    reasons: Option<unsafe extern "C" fn(Handle, *mut c_ulonglong) -> c_int>,
}

impl OptionalNvmlFunctions {
    fn of(library: &Library) -> OptionalNvmlFunctions {
        let reasons = "nvmlDeviceGetCurrentClocksThrottleReasons";
        OptionalNvmlFunctions {
            // SAFETY: `nvml.h` declares the function with this type.
            clock: unsafe { symbol(library, "nvmlDeviceGetClockInfo") }.ok(),
            // SAFETY: `nvml.h` declares the function with this type. Newer headers introduce the name
            // `nvmlDeviceGetCurrentClocksEventReasons`, but keep this name too.
            reasons: unsafe { symbol(library, reasons) }.ok(),
        }
    }
}

/// An initialised NVML, which is shut down on drop.
pub(in crate::backend::cuda) struct Nvml {
    functions: NvmlFunctions,
    optional: OptionalNvmlFunctions,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    _library: Library,
}

impl Nvml {
    /// Loads and initialises the library at a path.
    ///
    /// # Errors
    /// The error of the loader, the symbol that is missing, or the error of the first call.
    pub fn begin(file: &Path) -> Result<Nvml, NvmlError> {
        let library = open(file, RTLD_LOCAL)?;
        let functions = NvmlFunctions::of(&library)?;
        // SAFETY: `nvml.h` declares the function with this type.
        let error_string = unsafe { symbol(&library, "nvmlErrorString") }?;
        // SAFETY: `nvmlInit_v2` takes no arguments.
        let code = unsafe { (functions.init)() };
        let nvml = Nvml {
            functions,
            optional: OptionalNvmlFunctions::of(&library),
            error_string,
            _library: library,
        };
        match nvml.check("nvmlInit", code) {
            Ok(()) => Ok(nvml),
            Err(error) => {
                // The library was not initialised, so it must not be shut down.
                std::mem::forget(nvml);
                Err(error)
            }
        }
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), NvmlError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: `nvmlErrorString` accepts any number, and returns null or a static string.
        let text = unsafe { (self.error_string)(code) };
        if text.is_null() {
            let text = None;
            return Err(NvmlError::Call { call, code, text });
        }
        // SAFETY: the pointer is not null, as checked above, and `nvmlErrorString` returns static strings.
        let text = unsafe { CStr::from_ptr(text) };
        let text = Some(text.to_string_lossy().into_owned());
        Err(NvmlError::Call { call, code, text })
    }

    /// The handle of the device with this UUID, which has the format of `nvidia-smi`.
    fn device(&self, uuid: &str) -> Result<Handle, NvmlError> {
        let uuid = CString::new(uuid)?;
        let mut device: Handle = std::ptr::null_mut();
        // SAFETY: `uuid` is a C string, and `device` is a local handle.
        let code = unsafe { (self.functions.device)(uuid.as_ptr(), &raw mut device) };
        self.check("nvmlDeviceGetHandleByUUID", code)?;
        Ok(device)
    }

    /// The clock of the device with this UUID. Values that are not reported are left out.
    pub fn clock(&self, uuid: &str) -> Result<ClockReading, NvmlError> {
        let device = self.device(uuid)?;
        let mut reading = ClockReading::default();
        if let Some(clock) = self.optional.clock {
            let mut mhz = 0;
            // SAFETY: the library returned `device`, and `mhz` is a local variable.
            let code = unsafe { clock(device, CLOCK_SM, &raw mut mhz) };
            reading.khz = (code == 0 && mhz > 0).then(|| mhz.saturating_mul(1000));
        }
        if let Some(reasons) = self.optional.reasons {
            let mut held_by = 0;
            // SAFETY: the library returned `device`, and `held_by` is a local variable.
            let code = unsafe { reasons(device, &raw mut held_by) };
            reading.is_braked = code == 0 && held_by & BRAKES != 0;
        }
        Ok(reading)
    }

    /// The IDs of the processes that compute on the device with this UUID, which has the format of `nvidia-smi`.
    pub fn processes(&self, uuid: &str) -> Result<Vec<u32>, NvmlError> {
        let device = self.device(uuid)?;
        let mut room = vec![ProcessInfo::default(); PROCESSES];
        loop {
            let mut count = room.len() as c_uint;
            // SAFETY: the library returned `device`, and the buffer has room for `count` processes.
            let code =
                unsafe { (self.functions.processes)(device, &raw mut count, room.as_mut_ptr()) };
            let count = count as usize;
            if code == INSUFFICIENT_SIZE && count > room.len() {
                // More processes may start before the next call, so leave room for them.
                room.resize(2 * count, ProcessInfo::default());
                continue;
            }
            self.check("nvmlDeviceGetComputeRunningProcesses", code)?;
            return Ok(room.iter().take(count).map(|process| process.pid).collect());
        }
    }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        // SAFETY: this object initialised the library.
        let _ = unsafe { (self.functions.shutdown)() };
    }
}
