//! The runtime and its device: versions, device properties and error texts.

use std::ffi::{CStr, c_char, c_int};

use kiln::device::DeviceBackend as _;

use crate::runtime::{
    INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, Outcome, RUNTIME, Runtime, SUCCESS, call,
    choose_device, take_last_error,
};

/// The architecture that the device reports. The feature after the colon is fictitious.
const ARCH: &[u8] = b"kiln-host:sramecc+\0";
/// HIP 6.4.
const VERSION: c_int = 60_443_484;

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(_: u32) -> i32 {
    call("hipInit", |_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> i32 {
    // SAFETY: the caller provides room for a number.
    unsafe { *version = VERSION };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> i32 {
    // SAFETY: the caller provides room for a number.
    unsafe { *version = VERSION };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> i32 {
    let devices = RUNTIME.devices;
    // SAFETY: the caller provides room for a number.
    unsafe { *count = devices };
    match (devices, RUNTIME.check_fault("hipGetDeviceCount")) {
        (0, _) => NO_DEVICE,
        (_, Err(code)) => code,
        (_, Ok(())) => SUCCESS,
    }
}

/// Checks that a device number exists.
fn check_device(ordinal: c_int) -> Outcome {
    if (0..RUNTIME.devices).contains(&ordinal) {
        Ok(())
    } else {
        Err(INVALID_DEVICE)
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(ordinal: c_int) -> i32 {
    call("hipSetDevice", |_| {
        check_device(ordinal)?;
        choose_device(ordinal);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, length: c_int, ordinal: c_int) -> i32 {
    call("hipDeviceGetName", |runtime| {
        check_device(ordinal)?;
        let own = format!("Kiln host ({})", runtime.device.info().key.name);
        let room = usize::try_from(length).map_err(|_| INVALID_VALUE)?;
        // SAFETY: the caller provides this much room.
        unsafe { write_text(name.cast(), own.as_bytes(), room) };
        Ok(())
    })
}

/// Writes a zero-terminated text, truncated to `room` bytes.
///
/// # Safety
/// The buffer must have `room` bytes.
unsafe fn write_text(to: *mut u8, text: &[u8], room: usize) {
    let Some(most) = room.checked_sub(1) else {
        return;
    };
    let bytes = text.len().min(most);
    // SAFETY: the caller promises a buffer of `room` bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to, bytes);
        *to.add(bytes) = 0;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    ordinal: c_int,
) -> i32 {
    call("hipDeviceGetAttribute", |runtime| {
        check_device(ordinal)?;
        let number = attribute_of(runtime, attribute).ok_or(INVALID_VALUE)?;
        // SAFETY: the caller provides room for a number.
        unsafe { *value = c_int::try_from(number).unwrap_or(c_int::MAX) };
        Ok(())
    })
}

/// The value of an attribute that Kiln queries, by its number in `hipDeviceAttribute_t`.
fn attribute_of(runtime: &Runtime, attribute: c_int) -> Option<u64> {
    let limits = &runtime.device.info().limits;
    let number = match attribute {
        16 => 1,
        19 => return Some(limits.l2_bytes),
        26 => limits.max_block[0],
        27 => limits.max_block[1],
        28 => limits.max_block[2],
        29 => limits.max_grid[0],
        30 => limits.max_grid[1],
        31 => limits.max_grid[2],
        56 => limits.max_threads_per_block,
        63 => limits.multiprocessors,
        74 => limits.shared_bytes_per_block,
        87 => limits.warp_size,
        _ => return None,
    };
    Some(number.into())
}

/// Uses the layout of ROCm 6 and later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(properties: *mut u8, ordinal: c_int) -> i32 {
    call("hipGetDevicePropertiesR0600", |_| {
        check_device(ordinal)?;
        // SAFETY: the caller provides room for the properties in this layout.
        unsafe { write_properties(properties, 1472, 1160) };
        Ok(())
    })
}

/// Uses the layout before ROCm 6. The libraries of ROCm 6 and 7 still use it under this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceProperties(properties: *mut u8, ordinal: c_int) -> i32 {
    call("hipGetDeviceProperties", |_| {
        check_device(ordinal)?;
        // SAFETY: the caller provides room for the properties in this layout.
        unsafe { write_properties(properties, 792, 396) };
        Ok(())
    })
}

/// Writes device properties. All bytes except the architecture are noise.
///
/// # Safety
/// The buffer must have `bytes` bytes.
unsafe fn write_properties(properties: *mut u8, bytes: usize, arch_at: usize) {
    // SAFETY: the caller promises a buffer of `bytes` bytes. The architecture ends before the properties do.
    unsafe {
        std::ptr::write_bytes(properties, 0x5a, bytes);
        write_text(properties.add(arch_at), ARCH, 256);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> i32 {
    take_last_error()
}

/// The names and texts of the errors that this library returns, by itself or because of a script.
const ERRORS: &[(c_int, &CStr, &CStr)] = &[
    (0, c"hipSuccess", c"no error"),
    (1, c"hipErrorInvalidValue", c"invalid argument"),
    (2, c"hipErrorOutOfMemory", c"out of memory"),
    (
        100,
        c"hipErrorNoDevice",
        c"no ROCm-capable device is detected",
    ),
    (101, c"hipErrorInvalidDevice", c"invalid device ordinal"),
    (
        200,
        c"hipErrorInvalidImage",
        c"device kernel image is invalid",
    ),
    (400, c"hipErrorInvalidHandle", c"invalid resource handle"),
    (500, c"hipErrorNotFound", c"named symbol not found"),
    (600, c"hipErrorNotReady", c"device not ready"),
    (
        700,
        c"hipErrorIllegalAddress",
        c"an illegal memory access was encountered",
    ),
    (
        701,
        c"hipErrorLaunchOutOfResources",
        c"too many resources requested for launch",
    ),
    (719, c"hipErrorLaunchFailure", c"unspecified launch failure"),
    (801, c"hipErrorNotSupported", c"operation not supported"),
    (
        900,
        c"hipErrorStreamCaptureUnsupported",
        c"operation not permitted when stream is capturing",
    ),
    (
        901,
        c"hipErrorStreamCaptureInvalidated",
        c"operation failed due to a previous error during capture",
    ),
];

fn error_of(code: c_int) -> (&'static CStr, &'static CStr) {
    let found = ERRORS.iter().find(|(known, ..)| *known == code);
    found.map_or((c"hipErrorUnknown", c"unknown error"), |(_, name, text)| {
        (*name, *text)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(code: c_int) -> *const c_char {
    error_of(code).0.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(code: c_int) -> *const c_char {
    error_of(code).1.as_ptr()
}
