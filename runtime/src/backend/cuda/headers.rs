//! Where the CUDA headers are, for every way in which people install NVRTC.
//!
//! | layout | NVRTC | headers |
//! | --- | --- | --- |
//! | wheels of CUDA 12 | `nvidia/cuda_nvrtc/lib` | `nvidia/{cuda_runtime,cuda_nvcc,cuda_cccl}/include` |
//! | wheels of CUDA 13 | `nvidia/cu13/lib` | `nvidia/cu13/include`, with CCCL in `include/cccl` |
//! | toolkit, conda | `targets/<machine>/lib`, `lib64` | `include`, `targets/<machine>/include` |
//! | NVIDIA HPC SDK | `cuda/<version>/targets/<machine>/lib` | as in a toolkit |
//! | Debian, Ubuntu | `/usr/lib/<machine>` | `/usr/include` |

use std::path::{Path, PathBuf};

use super::nvrtc::entries;

/// The folders that hold the CUDA headers of the NVRTC at a path, in order of search.
pub(super) fn folders(library: &Path) -> Vec<PathBuf> {
    let above: Vec<&Path> = library.ancestors().skip(2).take(3).collect();
    let include = |folder: &&Path| folder.join("include");
    let mut folders: Vec<PathBuf> = Vec::new();
    folders.extend(above.first().map(include));
    if let Some(packages) = above.get(1) {
        for wheel in ["cuda_runtime", "cuda_nvcc", "cuda_crt", "cuda_cccl"] {
            folders.push(packages.join(wheel).join("include"));
        }
        // In a toolkit, `lib64` may hold the files that `targets/<machine>/lib` holds elsewhere.
        let toolkit = above[0].join("targets");
        folders.extend(
            entries(&toolkit)
                .iter()
                .map(|machine| machine.join("include")),
        );
    }
    // The folders of a whole system come last: they hold headers of the C library too.
    folders.extend(above.iter().skip(1).map(include));
    let with_cccl = folders
        .into_iter()
        .flat_map(|folder| [folder.join("cccl"), folder]);
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in with_cccl.filter(|folder| has_cuda_headers(folder)) {
        if !found.contains(&folder) {
            found.push(folder);
        }
    }
    found
}

/// Whether a folder has headers of at least one of CUDA's packages.
fn has_cuda_headers(folder: &Path) -> bool {
    let known = [
        "cuda_fp16.h",
        "crt/mma.h",
        "nv/target",
        "cuda/std",
        "cub/cub.cuh",
    ];
    known.iter().any(|name| folder.join(name).exists())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder with these empty files.
    fn tree(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        root
    }

    #[test]
    fn the_headers_of_every_layout_are_found() {
        let layouts: [(&str, &[&str], &[&str]); 6] = [
            (
                "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                &[
                    "nvidia/cuda_runtime/include/cuda_fp16.h",
                    "nvidia/cuda_nvcc/include/crt/mma.h",
                ],
                &["nvidia/cuda_runtime/include", "nvidia/cuda_nvcc/include"],
            ),
            (
                "nvidia/cu13/lib/libnvrtc.so.13",
                &[
                    "nvidia/cu13/include/cuda_fp16.h",
                    "nvidia/cu13/include/cccl/nv/target",
                ],
                &["nvidia/cu13/include/cccl", "nvidia/cu13/include"],
            ),
            (
                "targets/x86_64-linux/lib/libnvrtc.so.12",
                &["targets/x86_64-linux/include/cuda_fp16.h"],
                &["targets/x86_64-linux/include"],
            ),
            (
                "lib64/libnvrtc.so.12",
                &["targets/x86_64-linux/include/cuda_fp16.h"],
                &["targets/x86_64-linux/include"],
            ),
            (
                "targets/x86_64-linux/lib/libnvrtc.so.13",
                &["include/cuda_fp16.h", "include/cccl/cub/cub.cuh"],
                &["include/cccl", "include"],
            ),
            (
                "usr/lib/x86_64-linux-gnu/libnvrtc.so.12",
                &["usr/include/cuda_fp16.h", "usr/include/stdio.h"],
                &["usr/include"],
            ),
        ];
        for (library, files, expected) in layouts {
            let root = tree(files);
            let found = folders(&root.path().join(library));
            let expected: Vec<_> = expected
                .iter()
                .map(|folder| root.path().join(folder))
                .collect();
            assert_eq!(found, expected, "{library}");
        }
    }
}
