//! Converts the status codes of the HIP runtime to [`DeviceError`]s.

use std::fmt;

use crate::device::error::DeviceError;

use super::types::Status;

/// A failed call of the HIP runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HipFailure {
    /// The name of the function.
    pub call: &'static str,
    /// The status that the call returned.
    pub status: Status,
    /// The name of the status in the headers, such as `hipErrorNoDevice`.
    pub name: String,
    /// The runtime's description of the status.
    pub text: String,
}

impl fmt::Display for HipFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (call, number) = (self.call, self.status.0);
        write!(f, "{call} gives {} ({number}): {}", self.name, self.text)
    }
}

impl HipFailure {
    /// Whether the failure means only that this machine has no AMD GPU. The status differs between versions. Without
    /// a GPU, `hipInit` of ROCm 5.2 returns "invalid device" and its `hipGetDeviceCount` returns "no device".
    pub fn means_no_device(&self) -> bool {
        matches!(self.status, Status::NO_DEVICE | Status::INVALID_DEVICE)
    }

    /// Whether the failure means that work cannot be recorded, or was recorded incorrectly.
    fn is_of_recording(&self) -> bool {
        let numbers = Status::STREAM_CAPTURE_UNSUPPORTED.0..=Status::STREAM_CAPTURE_WRONG_THREAD.0;
        numbers.contains(&self.status.0)
    }

    /// The device error for this failure. It depends only on the status.
    pub fn error(self) -> DeviceError {
        let text = self.to_string();
        if self.is_of_recording() {
            return DeviceError::Unsupported { what: text };
        }
        match self.status {
            Status::OUT_OF_MEMORY => DeviceError::Oom {
                wanted_bytes: 0,
                text,
            },
            Status::NO_DEVICE
            | Status::INVALID_DEVICE
            | Status::INSUFFICIENT_DRIVER
            | Status::NOT_FOUND => {
                let what = "what the call asks for".into();
                DeviceError::NotFound { what, text }
            }
            Status::INVALID_IMAGE
            | Status::NO_BINARY_FOR_GPU
            | Status::INVALID_KERNEL_FILE
            | Status::SHARED_OBJECT_INIT_FAILED => DeviceError::Load { text },
            // The headers state that the process must be terminated and restarted after these errors. An unknown error
            // may have left any state.
            Status::ILLEGAL_ADDRESS
            | Status::LAUNCH_TIME_OUT
            | Status::CONTEXT_IS_DESTROYED
            | Status::ASSERT
            | Status::LAUNCH_FAILURE
            | Status::UNKNOWN => DeviceError::Sticky { text },
            Status::ECC_NOT_CORRECTABLE | Status::DEINITIALIZED | Status::NOT_INITIALIZED => {
                DeviceError::Lost { text }
            }
            Status::NOT_SUPPORTED => DeviceError::Unsupported { what: text },
            _ => DeviceError::Internal {
                what: self.call.into(),
                text,
            },
        }
    }

    /// The error of a failed launch. If the runtime rejects the launch, the error refers to the launch and not to the
    /// device.
    pub fn launch_error(self, symbol: &str) -> DeviceError {
        match self.status {
            Status::INVALID_VALUE
            | Status::INVALID_CONFIGURATION
            | Status::INVALID_DEVICE_FUNCTION
            | Status::LAUNCH_OUT_OF_RESOURCES
            | Status::OUT_OF_MEMORY => DeviceError::LaunchRefused {
                symbol: symbol.into(),
                text: self.to_string(),
            },
            _ => self.error(),
        }
    }

    /// The error of a failed allocation of `wanted_bytes` bytes.
    pub fn memory_error(self, wanted_bytes: usize, free_bytes: Option<usize>) -> DeviceError {
        if self.status != Status::OUT_OF_MEMORY {
            return self.error();
        }
        let free = free_bytes.map(|free| format!("{free} bytes are free; "));
        DeviceError::Oom {
            wanted_bytes: wanted_bytes as u64,
            text: format!("{}{self}", free.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::error::ErrorClass;

    fn failure(status: Status) -> HipFailure {
        HipFailure {
            call: "hipCall",
            status,
            name: "hipErrorOfSomeKind".into(),
            text: "some kind of error".into(),
        }
    }

    #[test]
    fn an_error_is_sorted_by_its_number() {
        let classes = [
            (Status::OUT_OF_MEMORY, ErrorClass::Oom),
            (Status::NO_DEVICE, ErrorClass::NotFound),
            (Status::NOT_FOUND, ErrorClass::NotFound),
            (Status::NO_BINARY_FOR_GPU, ErrorClass::Invalid),
            (Status::ILLEGAL_ADDRESS, ErrorClass::Sticky),
            (Status::LAUNCH_FAILURE, ErrorClass::Sticky),
            (Status::UNKNOWN, ErrorClass::Sticky),
            (Status::ECC_NOT_CORRECTABLE, ErrorClass::DeviceLost),
            (Status::NOT_SUPPORTED, ErrorClass::Unsupported),
            (Status(901), ErrorClass::Unsupported),
            (Status(400), ErrorClass::Internal),
            (Status(4711), ErrorClass::Internal),
        ];
        for (status, class) in classes {
            let error = failure(status).error();
            assert_eq!(error.class(), class, "{error}");
            assert!(error.to_string().contains("hipErrorOfSomeKind"), "{error}");
        }
    }

    #[test]
    fn what_a_launch_is_refused_for_costs_the_candidate_and_nothing_else() {
        for status in [Status::INVALID_VALUE, Status::INVALID_CONFIGURATION] {
            let error = failure(status).launch_error("gemm");
            assert_eq!(error.class(), ErrorClass::LaunchRefused);
            assert!(error.to_string().contains("`gemm`"), "{error}");
        }
        let error = failure(Status::ILLEGAL_ADDRESS).launch_error("gemm");
        assert_eq!(error.class(), ErrorClass::Sticky);
    }

    #[test]
    fn an_allocation_that_does_not_fit_says_how_much_was_wanted_and_is_free() {
        let error = failure(Status::OUT_OF_MEMORY).memory_error(100, Some(7));
        let text = error.to_string();
        assert!(
            text.contains("100 bytes wanted, 7 bytes are free"),
            "{text}"
        );
    }

    #[test]
    fn both_ways_to_say_that_there_is_no_device_are_known() {
        assert!(failure(Status::NO_DEVICE).means_no_device());
        assert!(failure(Status::INVALID_DEVICE).means_no_device());
        assert!(!failure(Status::INVALID_VALUE).means_no_device());
        assert_eq!(
            failure(Status(2)).to_string(),
            "hipCall gives hipErrorOfSomeKind (2): some kind of error"
        );
    }
}
