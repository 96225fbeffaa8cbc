//! Images: kernels that `tune bake --images` compiled and stored as files next to the table.

use crate::device::{Backend, DeviceKey};
use crate::hash::Hash;

/// The highest `x86-64-v<n>` level for which images of the `cpu` device are compiled. Most processors in use support
/// this level.
const X86_LEVEL: u32 = 3;

/// An image: a compiled kernel in a file next to the baked table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// The name of the file, without folders.
    pub file: String,
    /// The target for which the kernel was compiled.
    pub target: String,
    /// Hash of the file's bytes.
    pub hash: Hash,
}

impl Image {
    /// Creates the image of a kernel from the compiled bytes. Its file name contains the kernel, the target and the
    /// hash of the bytes. The content of a file therefore never changes, and rows with the same image share one file.
    pub fn of(kernel: &str, device: &DeviceKey, target: &str, bytes: &[u8]) -> Image {
        let hash = Image::hash_of(bytes);
        Image {
            file: format!(
                "{kernel}-{target}-{:016x}.{}",
                hash.short(),
                extension(device.backend)
            ),
            target: target.into(),
            hash,
        }
    }

    /// The hash of an image's bytes, in the form in which rows store it.
    pub fn hash_of(bytes: &[u8]) -> Hash {
        Hash::of("artifact", bytes)
    }

    /// Whether a file name has the form that [`Self::of`] gives to the images of a kernel.
    pub fn is_named(kernel: &str, file: &str) -> bool {
        let stem = Backend::ALL
            .into_iter()
            .find_map(|backend| file.strip_suffix(extension(backend))?.strip_suffix('.'));
        let parts = stem
            .and_then(|stem| stem.strip_prefix(kernel)?.strip_prefix('-'))
            .and_then(|rest| rest.rsplit_once('-'));
        parts.is_some_and(|(target, hash)| {
            let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
            !target.is_empty() && hash.len() == 16 && hash.bytes().all(hex)
        })
    }

    /// The target for which images of a device are compiled: the GPU's architecture, or a named instruction set that
    /// the processor supports. `None` for devices that have no images.
    ///
    /// ```
    /// # use kiln_spec::baked::Image;
    /// let target = |device: &str| Image::target_of(&device.parse().unwrap());
    /// assert_eq!(target("cuda/sm_89/NVIDIA L4").as_deref(), Some("sm_89"));
    /// assert_eq!(target("cpu/x86-64-v4/A Processor").as_deref(), Some("x86-64-v3"));
    /// assert_eq!(target("fake/fake_1/Kiln Fake"), None);
    /// ```
    pub fn target_of(device: &DeviceKey) -> Option<String> {
        match device.backend {
            // The architecture of an AMD GPU may be followed by a colon and its features, which the target does not
            // include.
            Backend::Cuda | Backend::Hip => device.arch.split(':').next().map(str::to_owned),
            Backend::Cpu => match device.arch.strip_prefix("x86-64")? {
                "" => Some("x86-64".into()),
                level => {
                    let level: u32 = level.strip_prefix("-v")?.parse().ok()?;
                    Some(format!("x86-64-v{}", level.min(X86_LEVEL)))
                }
            },
            Backend::Fake => None,
        }
    }
}

/// The file extension of images for a backend.
fn extension(backend: Backend) -> &'static str {
    match backend {
        Backend::Cuda => "cubin",
        Backend::Hip => "hsaco",
        Backend::Cpu | Backend::Fake => "so",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_kernel_target_and_content() {
        let l4: DeviceKey = "cuda/sm_89/NVIDIA L4".parse().unwrap();
        let image = Image::of("gemm", &l4, "sm_89", b"a cubin");
        assert!(image.file.starts_with("gemm-sm_89-"), "{}", image.file);
        assert!(image.file.ends_with(".cubin"));
        assert_ne!(image, Image::of("gemm", &l4, "sm_89", b"another"));
        assert!(Image::is_named("gemm", &image.file));
        assert!(!Image::is_named("gem", &image.file));
        assert!(!Image::is_named("gemm_2", &image.file));
    }

    #[test]
    fn other_files_are_never_taken_for_images() {
        for file in [
            "gemm.toml",
            "gemm.cubin",
            "gemm-sm_89.cubin",
            "gemm-sm_89-0123456789abcdef",
            "gemm-sm_89-0123456789ABCDEF.cubin",
            "gemm-sm_89-0123456789abcde.cubin",
            "gemm-0123456789abcdef.cubin",
            "gemm-sm_89-0123456789abcdef.txt",
            "gemm-sm_89-0123456789abcdefcubin",
            "other-sm_89-0123456789abcdef.cubin",
            "",
        ] {
            assert!(!Image::is_named("gemm", file), "{file}");
        }
        assert!(Image::is_named(
            "gemm",
            "gemm-x86-64-v3-0123456789abcdef.so"
        ));
        assert!(Image::is_named(
            "gemm",
            "gemm-gfx1151-0123456789abcdef.hsaco"
        ));
    }

    #[test]
    fn every_device_with_images_has_one_target_for_them() {
        let target = |device: &str| Image::target_of(&device.parse().unwrap());
        let cases = [
            ("cuda/sm_86/RTX 3090", Some("sm_86")),
            ("hip/gfx1151/Radeon 8060S", Some("gfx1151")),
            ("hip/gfx90a:sramecc+:xnack-/MI210", Some("gfx90a")),
            ("cpu/x86-64/Old", Some("x86-64")),
            ("cpu/x86-64-v2/Older", Some("x86-64-v2")),
            ("cpu/x86-64-v3/Usual", Some("x86-64-v3")),
            ("cpu/x86-64-v4/New", Some("x86-64-v3")),
            ("cpu/aarch64/Arm", None),
            ("fake/fake_1/Kiln Fake", None),
        ];
        for (device, wanted) in cases {
            assert_eq!(target(device).as_deref(), wanted, "{device}");
        }
    }
}
