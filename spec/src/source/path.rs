//! Resolves the names of source files. A name is relative to the package and has `/` between its components.

/// The path without `.` and `..` components. `None` if the path is empty, is absolute, leaves the package, or contains
/// a colon, a NUL or a line break.
pub fn normalise(path: &str) -> Option<String> {
    resolve("", path)
}

/// Resolves `path` as written in an `#include` of the file `includer`, relative to the folder of that file. Returns
/// `None` in the same cases as [`normalise`].
pub fn resolve(includer: &str, path: &str) -> Option<String> {
    if path.is_empty() || path.starts_with(['/', '\\']) || path.contains([':', '\0', '\n']) {
        return None;
    }
    let folder = includer.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The names that `path` may mean in an `#include` of the file `includer`: first relative to the folder of that file,
/// then relative to each folder above it, up to the package, and then relative to the folders `include` in all these
/// folders. Empty if `path` leaves the package.
pub fn candidates(includer: &str, path: &str) -> Vec<String> {
    let folders = includer
        .match_indices('/')
        .map(|(end, _)| &includer[..=end]);
    let mut folders: Vec<&str> = folders.collect();
    folders.insert(0, "");
    let mut names: Vec<String> = Vec::new();
    let is_plain = !path.starts_with('.');
    for below in ["", "include/"].into_iter().take(1 + usize::from(is_plain)) {
        for folder in folders.iter().rev() {
            let includer = format!("{folder}{below}");
            names.extend(resolve(&includer, path).filter(|name| !names.contains(name)));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_the_file_that_writes_it() {
        assert_eq!(
            resolve("src/gemm/gemm.cu", "tile.cuh").as_deref(),
            Some("src/gemm/tile.cuh")
        );
        assert_eq!(
            resolve("src/gemm/gemm.cu", "../common/./x.cuh").as_deref(),
            Some("src/common/x.cuh")
        );
        assert_eq!(resolve("gemm.cu", "a/b.cuh").as_deref(), Some("a/b.cuh"));
    }

    #[test]
    fn an_include_is_looked_for_in_the_folders_above_the_file() {
        assert_eq!(
            candidates("src/lib/a.cuh", "lib/b.cuh"),
            [
                "src/lib/lib/b.cuh",
                "src/lib/b.cuh",
                "lib/b.cuh",
                "src/lib/include/lib/b.cuh",
                "src/include/lib/b.cuh",
                "include/lib/b.cuh",
            ]
        );
        assert_eq!(candidates("a.cu", "b.cuh"), ["b.cuh", "include/b.cuh"]);
        assert_eq!(candidates("src/a.cu", "../b.cuh"), ["b.cuh"]);
    }

    #[test]
    fn a_path_never_leaves_its_root() {
        for path in ["../x.cuh", "a/../../x.cuh", "/etc/passwd", "C:\\x", "", "."] {
            assert_eq!(resolve("gemm.cu", path), None, "{path}");
        }
        assert_eq!(resolve("src/gemm.cu", "../../x.cuh"), None);
        assert_eq!(normalise("./src//gemm.cu").as_deref(), Some("src/gemm.cu"));
    }
}
