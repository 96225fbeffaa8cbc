//! The functions of NVML, NVIDIA's management library, that tell who computes on a device.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL};

use super::driver::Handle;
use super::{open, symbol};

/// `nvmlProcessInfo_t`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct ProcessInfo {
    pid: c_uint,
    used_memory: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

/// `NVML_ERROR_INSUFFICIENT_SIZE`
const INSUFFICIENT_SIZE: c_int = 7;

/// Room for so many processes at first.
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

/// NVML, begun; ended when dropped.
pub(in crate::backend::cuda) struct Nvml {
    functions: NvmlFunctions,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    _library: Library,
}

impl Nvml {
    /// Loads and begins the library of a file.
    ///
    /// # Errors
    /// Why the loader refuses it, which symbol is missing, or what its first call says.
    pub fn begin(file: &Path) -> Result<Nvml, String> {
        let library = open(file, RTLD_LOCAL)?;
        let functions = NvmlFunctions::of(&library)?;
        // SAFETY: `nvml.h` declares it so.
        let error_string = unsafe { symbol(&library, "nvmlErrorString") }?;
        // SAFETY: it takes nothing.
        let code = unsafe { (functions.init)() };
        let nvml = Nvml {
            functions,
            error_string,
            _library: library,
        };
        match nvml.check("nvmlInit", code) {
            Ok(()) => Ok(nvml),
            Err(error) => {
                // What never began is not ended.
                std::mem::forget(nvml);
                Err(error)
            }
        }
    }

    fn check(&self, call: &str, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: it takes any number, and gives a static string.
        let text = unsafe { (self.error_string)(code) };
        if text.is_null() {
            return Err(format!("{call}: error {code}"));
        }
        // SAFETY: just checked.
        let text = unsafe { CStr::from_ptr(text) };
        Err(format!("{call}: error {code} ({})", text.to_string_lossy()))
    }

    /// The numbers of the processes that compute on the device of a UUID, as `nvidia-smi` writes it.
    pub fn processes(&self, uuid: &str) -> Result<Vec<u32>, String> {
        let uuid = CString::new(uuid).map_err(|error| error.to_string())?;
        let mut device: Handle = std::ptr::null_mut();
        // SAFETY: a string, and a handle of ours.
        let code = unsafe { (self.functions.device)(uuid.as_ptr(), &raw mut device) };
        self.check("nvmlDeviceGetHandleByUUID", code)?;
        let mut room = vec![ProcessInfo::default(); PROCESSES];
        loop {
            let mut count = room.len() as c_uint;
            // SAFETY: the device was given by the library; there is room for as many processes as it is told.
            let code =
                unsafe { (self.functions.processes)(device, &raw mut count, room.as_mut_ptr()) };
            let count = count as usize;
            if code == INSUFFICIENT_SIZE && count > room.len() {
                // More may begin meanwhile.
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
        // SAFETY: it was begun by this object.
        let _ = unsafe { (self.functions.shutdown)() };
    }
}
