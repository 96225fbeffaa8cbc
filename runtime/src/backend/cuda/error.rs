//! Converts the driver's result codes to [`DeviceError`]s.

use crate::device::DeviceError;

use super::ffi::Failed;

/// Result codes (`CUresult` of `cuda.h`).
const INVALID_VALUE: i32 = 1;
const OUT_OF_MEMORY: i32 = 2;
const DEVICE_UNAVAILABLE: i32 = 46;
const NOT_FOUND: i32 = 500;
const LAUNCH_OUT_OF_RESOURCES: i32 = 701;
const LAUNCH_TOO_LARGE: i32 = 720;
const NOT_SUPPORTED: i32 = 801;

/// The error of a failed call. `symbol` is the kernel that was to be launched, if the call was a launch.
pub(super) fn device_error(failed: &Failed, symbol: Option<&str>) -> DeviceError {
    let text = failed.text.clone();
    match (failed.code, symbol) {
        (OUT_OF_MEMORY, _) => DeviceError::Oom {
            wanted_bytes: 0,
            text,
        },
        (INVALID_VALUE | LAUNCH_OUT_OF_RESOURCES | LAUNCH_TOO_LARGE, Some(symbol)) => {
            DeviceError::LaunchRefused {
                symbol: symbol.into(),
                text,
            }
        }
        (NOT_FOUND, _) => DeviceError::NotFound {
            what: "what the driver was asked for".into(),
            text,
        },
        (DEVICE_UNAVAILABLE, _) => DeviceError::Setting {
            what: "the device".into(),
            problem: format!(
                "not available now ({text}): its compute mode may admit only one process, and another process uses it"
            ),
            help:
                "end the other process, or admit several with `nvidia-smi --compute-mode=DEFAULT`"
                    .into(),
        },
        (code, _) if is_lost(code) => DeviceError::Lost { text },
        (code, _) if is_sticky(code) => DeviceError::Sticky { text },
        (code, _) if is_image(code) => DeviceError::Load { text },
        (code, _) if code == NOT_SUPPORTED || is_capture(code) => {
            DeviceError::Unsupported { what: text }
        }
        _ => DeviceError::Internal {
            what: failed.call.into(),
            text,
        },
    }
}

/// Like [`device_error`], for a call that does not launch a kernel.
pub(super) fn of_call(failed: Failed) -> DeviceError {
    device_error(&failed, None)
}

/// Whether the device itself failed, because of uncorrectable errors of its memory or of a link.
fn is_lost(code: i32) -> bool {
    matches!(code, 214 | 220)
}

/// Whether the process can no longer use the device because of one of these errors:
///
/// - a driver that is shutting down (4), an invalid context (201) or a destroyed context (709)
/// - an error contained to the process (226), after which the header requires that the process is restarted
/// - a fault of a kernel (illegal address, time-out of a display, assertion, stack, instruction, alignment, address
///   space, counter, launch failure, tensor memory), after which the header requires the same
/// - a client that the MPS server ended (810)
///
/// An unknown error (999) is included because it may have left any state.
fn is_sticky(code: i32) -> bool {
    matches!(
        code,
        4 | 201 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 810 | 999
    )
}

/// Whether an image is damaged, or is for another device or driver.
fn is_image(code: i32) -> bool {
    matches!(code, 200 | 209 | 218 | 221..=223 | 300..=303)
}

/// Whether a code means that work cannot be recorded, or was recorded incorrectly.
fn is_capture(code: i32) -> bool {
    (900..=908).contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::ErrorClass;

    fn class(code: i32, symbol: Option<&str>) -> ErrorClass {
        let failed = Failed {
            call: "cuLaunchKernel",
            code,
            text: format!("cuLaunchKernel: error {code}"),
        };
        let error = device_error(&failed, symbol);
        assert!(error.to_string().contains(&code.to_string()), "{error}");
        error.class()
    }

    #[test]
    fn what_a_kernel_broke_ends_the_process_and_what_was_refused_does_not() {
        for code in [
            700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 4, 201, 226, 810, 999,
        ] {
            assert_eq!(class(code, Some("k")), ErrorClass::Sticky, "{code}");
        }
        for code in [1, 701, 720] {
            assert_eq!(class(code, Some("k")), ErrorClass::LaunchRefused, "{code}");
            assert_ne!(class(code, None), ErrorClass::LaunchRefused, "{code}");
        }
        assert_eq!(class(2, Some("k")), ErrorClass::Oom);
        assert_eq!(class(214, None), ErrorClass::DeviceLost);
        // Another process uses the device, which is not a fault of the device.
        assert_eq!(class(46, None), ErrorClass::Invalid);
        assert_eq!(class(209, None), ErrorClass::Invalid);
        assert_eq!(class(900, None), ErrorClass::Unsupported);
        assert_eq!(class(500, None), ErrorClass::NotFound);
        // A code that this crate does not know.
        assert_eq!(class(123_456, Some("k")), ErrorClass::Internal);
    }
}
