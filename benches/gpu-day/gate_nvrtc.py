"""Where NVRTC and its headers are, as Kiln looks for them (`runtime/src/backend/cuda/nvrtc.rs`)."""

import os
import pathlib
import shutil
import tempfile

# Where `KILN_NVRTC=PLACE` looks for NVRTC.
NVRTC_FOLDERS = ["", "lib64", "lib", "targets/*/lib", "nvidia/*/lib", "lib/python3*/site-packages/nvidia/*/lib"]
# What kernels include. `mma.h` includes the second of these, `cooperative_groups.h` the fourth.
HEADERS = ["mma.h", "crt/mma.h", "cooperative_groups.h", "cuda/atomic", "cub/cub.cuh", "cuda/functional"]
# From this version on, NVRTC contains these headers. Those that are carried are for the same major version.
BUNDLES_HEADERS = (13, 3)


def newest_nvrtc(place):
    """The file that Kiln would use for `KILN_NVRTC=place`, as far as names tell; None if there is none."""
    place = pathlib.Path(place)
    if not place.is_dir():
        return place if place.exists() else None
    files = [path for folder in NVRTC_FOLDERS for path in place.glob(f"{folder}/libnvrtc.so*".lstrip("/"))]
    return max(files, key=lambda file: [int(part) for part in file.name.split(".") if part.isdigit()], default=None)


def header_folders(file):
    """Where the headers of an NVRTC may be: in its toolkit, or in wheels that were installed with it."""
    package = file.resolve().parent.parent
    wheels = [package.parent / wheel for wheel in ("cuda_runtime", "cuda_nvcc", "cuda_crt", "cuda_cccl")]
    folders = [home / "include" for home in (package, package.parent.parent, *wheels)]
    return [folder for folder in folders if folder.is_dir()]


def missing_headers(folders):
    """The headers that are in none of the folders. Since CUDA 13, those of CCCL have a folder of their own."""
    places = [place for folder in folders for place in (folder, folder / "cccl")]
    return [header for header in HEADERS if not any((place / header).exists() for place in places)]


def link(source, to):
    """A second name of the file, or a copy on another file system. Of two files for one name, the first stays."""
    if not os.path.lexists(to):
        try:
            os.link(os.path.realpath(source), to)
        except OSError:
            shutil.copyfile(source, to)


def merged_nvrtc(file, folders):
    """A folder with this NVRTC and all of these headers. It has no symbolic links, because Kiln looks for headers next
    to the real file."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="kiln-nvrtc-"))
    package = home / "nvidia" / "cu13"
    (package / "lib").mkdir(parents=True)
    for library in [file, *file.resolve().parent.glob("libnvrtc-builtins.so.*")]:
        link(library, package / "lib" / library.name)
    for folder in folders:
        shutil.copytree(folder, package / "include", copy_function=link, dirs_exist_ok=True)
    return home
