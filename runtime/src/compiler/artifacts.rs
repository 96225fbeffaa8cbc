//! The disk cache of compiled artifacts. It is content-addressed, verifies each file that it reads, and has a maximum
//! size.
//!
//! The name of a file is the hash of everything that the result of the compile depends on. The last field of a file
//! is the hash of its content, so a damaged file is a cache miss and never a wrong kernel. Files are written
//! atomically, and any number of processes may share a folder.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use kiln_spec::cache_folder::cache_folder;
use kiln_spec::codegen::Target;
use kiln_spec::{Backend, Hash};

use crate::compiler::{Artifact, BuildKind, CompileError, CompileRequest, Compiler, headers};
use crate::device::DeviceError;

/// Maximum size of the cache in bytes, unless `KILN_CACHE_BYTES` is set.
pub const DEFAULT_MAX_BYTES: u64 = 2 << 30;

/// The environment variable that sets the maximum size of the cache.
const BYTES_VARIABLE: &str = "KILN_CACHE_BYTES";

/// The name of the artifacts' folder inside Kiln's cache folder.
const FOLDER: &str = "artifacts";

const MAGIC: &[u8] = b"kiln artifact 1\n";

/// Parses the value of [`BYTES_VARIABLE`].
fn bytes_of(text: &OsStr) -> Result<u64, DeviceError> {
    let bytes = text.to_str().and_then(|text| text.parse().ok());
    bytes.ok_or_else(|| DeviceError::Setting {
        what: BYTES_VARIABLE.into(),
        problem: format!("{text:?}, which is not a number of bytes"),
        help: format!("set it to a whole number such as {DEFAULT_MAX_BYTES}, or unset it"),
    })
}

/// A folder of compiled artifacts with a maximum size.
#[derive(Clone, Debug)]
pub struct ArtifactCache {
    folder: PathBuf,
    max_bytes: u64,
}

impl ArtifactCache {
    /// The cache in a folder. The first write creates the folder.
    pub fn at(folder: impl Into<PathBuf>, max_bytes: u64) -> ArtifactCache {
        ArtifactCache {
            folder: folder.into(),
            max_bytes,
        }
    }

    /// The user's cache: `$KILN_CACHE/artifacts`, else `$XDG_CACHE_HOME/kiln/artifacts`, else
    /// `$HOME/.cache/kiln/artifacts`. `None` if none of these variables is set, or if the first one that is set is
    /// not an absolute path.
    pub fn of_user() -> Option<ArtifactCache> {
        let cache = cache_folder(|name| std::env::var_os(name)).ok()?;
        Some(ArtifactCache::in_cache(&cache).unwrap_or_else(|error| {
            // An invalid `KILN_CACHE_BYTES` does not make a launch fail. It makes `tune` fail.
            log::warn!(target: "kiln", "{error}");
            ArtifactCache::at(cache.join(FOLDER), DEFAULT_MAX_BYTES)
        }))
    }

    /// The artifact cache inside Kiln's cache folder. The maximum size always comes from `KILN_CACHE_BYTES`, because a
    /// process with a smaller maximum would evict artifacts that other processes still need. An invalid value of the
    /// variable is an error.
    pub fn in_cache(cache: &Path) -> Result<ArtifactCache, DeviceError> {
        let max_bytes = match std::env::var_os(BYTES_VARIABLE) {
            None => DEFAULT_MAX_BYTES,
            Some(text) => bytes_of(&text)?,
        };
        Ok(ArtifactCache::at(cache.join(FOLDER), max_bytes))
    }

    /// Returns the artifact of a request from the cache. If the cache does not have it, compiles the request and stores
    /// the artifact.
    ///
    /// # Errors
    /// If the compiler fails. A cache that cannot be read or written causes no error; the request is compiled instead.
    pub fn compile(
        &self,
        compiler: &dyn Compiler,
        backend: Backend,
        request: &CompileRequest,
    ) -> Result<Artifact, CompileError> {
        let key = compile_key(compiler, backend, request);
        if let Some(artifact) = self.get(key) {
            return Ok(artifact);
        }
        let artifact = compiler.compile(request)?;
        // The artifact is valid even if it cannot be stored.
        let _ = self.put(key, &artifact);
        Ok(artifact)
    }

    /// The artifact that is stored under a key. `None` if there is none, or if the folder belongs to another user or
    /// other users can write to it. Removes the file if it is damaged.
    pub fn get(&self, key: CompileKey) -> Option<Artifact> {
        if !key.kept || !is_private(&self.folder) {
            return None;
        }
        let path = self.path(key);
        let bytes = fs::read(&path).ok()?;
        let Some(artifact) = decode(&bytes) else {
            let _ = fs::remove_file(&path);
            return None;
        };
        // The modification time records the last use, which determines what is evicted first.
        let _ = fs::File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(artifact)
    }

    /// Stores an artifact. If the cache may then exceed its maximum size, evicts the least recently used artifacts
    /// until it does not. Does nothing if the compiler's artifacts must not be cached.
    ///
    /// # Errors
    /// If the folder or the file cannot be written, or if other users can write to the folder.
    pub fn put(&self, key: CompileKey, artifact: &Artifact) -> io::Result<()> {
        if !key.kept {
            return Ok(());
        }
        let path = self.path(key);
        let parent = path.parent().unwrap_or(&self.folder);
        create_private(&self.folder)?;
        fs::create_dir_all(parent)?;
        if !is_private(&self.folder) {
            return Err(io::Error::other("the cache folder is open to other users"));
        }
        let mut staged = tempfile::NamedTempFile::new_in(parent)?;
        staged.write_all(&encode(artifact))?;
        staged.persist(&path)?;
        if self.may_be_full(artifact.image.len() as u64) {
            self.evict();
        }
        Ok(())
    }

    /// Whether so much was written since the last check that the folder may exceed its maximum size. A check is
    /// expensive because it lists every file.
    fn may_be_full(&self, written_bytes: u64) -> bool {
        static WRITTEN: AtomicU64 = AtomicU64::new(u64::MAX / 2);
        let written = WRITTEN.fetch_add(written_bytes, Ordering::Relaxed);
        let look = written.saturating_add(written_bytes) > self.max_bytes / 16;
        if look {
            WRITTEN.store(0, Ordering::Relaxed);
        }
        look
    }

    fn path(&self, key: CompileKey) -> PathBuf {
        let name = key.hash.to_string();
        self.folder.join(&name[..2]).join(name)
    }

    /// Removes the least recently used files until the folder is within its maximum size.
    fn evict(&self) {
        let mut files = files_under(&self.folder);
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        files.sort_by_key(|file| file.used);
        for file in files {
            if total <= self.max_bytes {
                break;
            }
            if fs::remove_file(&file.path).is_ok() {
                total -= file.bytes;
            }
        }
    }
}

struct CachedFile {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

fn files_under(folder: &Path) -> Vec<CachedFile> {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    entries(folder)
        .flat_map(|shard| entries(&shard.path()).collect::<Vec<_>>())
        .filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            Some(CachedFile {
                path: entry.path(),
                bytes: meta.len(),
                used: meta.modified().ok()?,
            })
        })
        .collect()
}

fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Whether only this user can write to the folder. This matters because code from the folder runs in this process.
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(folder).is_ok_and(|meta| {
        meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0
    })
}

/// The key under which an artifact is stored in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileKey {
    /// The hash of everything that the result of the compile depends on.
    hash: Hash,
    /// Whether the artifact may be stored: [`Compiler::artifacts_are_kept`].
    kept: bool,
}

/// The key of the artifact that a compiler produces for a request.
pub fn compile_key(
    compiler: &dyn Compiler,
    backend: Backend,
    request: &CompileRequest,
) -> CompileKey {
    let identity = compiler.identity();
    let mut hasher = kiln_spec::hash::Hasher::new("kiln compile 1");
    for text in [
        backend.name(),
        &identity.name,
        &identity.version,
        &identity.build,
        compiler.target_arch(),
        request.build.name(),
        &request.source,
    ] {
        hasher.field(text.as_bytes());
    }
    let own = || compiler.flags(request.build);
    let flags = request.flags().map_or_else(own, <[String]>::to_vec);
    for option in flags.iter().chain(&request.options) {
        hasher.field(option.as_bytes());
    }
    if let Some(recipe) = &request.recipe {
        hasher.field(recipe.prelude_hash().to_string().as_bytes());
    }
    let prelude = request.prelude(Target::from(backend).prelude());
    let headers = headers::hash(&request.source, &prelude, &compiler.header_folders());
    if let Some(hash) = headers {
        hasher.field(hash.to_string().as_bytes());
    }
    CompileKey {
        hash: hasher.finish(),
        kept: compiler.artifacts_are_kept(),
    }
}

fn encode(artifact: &Artifact) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for field in [
        artifact.backend.name().as_bytes(),
        artifact.target.as_bytes(),
        artifact.build.name().as_bytes(),
        artifact.log.as_bytes(),
        &artifact.image,
    ] {
        bytes.extend((field.len() as u64).to_le_bytes());
        bytes.extend(field);
    }
    let checksum = Hash::of("kiln artifact file", &bytes).to_string();
    bytes.extend(checksum.as_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<Artifact> {
    let (content, checksum) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
    if Hash::of("kiln artifact file", content)
        .to_string()
        .as_bytes()
        != checksum
    {
        return None;
    }
    let mut rest = content.strip_prefix(MAGIC)?;
    let mut field = || -> Option<&[u8]> {
        let (len, after) = rest.split_first_chunk::<8>()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (field, after) = after.split_at_checked(len)?;
        rest = after;
        Some(field)
    };
    let text = |field: Option<&[u8]>| String::from_utf8(field?.to_vec()).ok();
    let backend = text(field())?.parse().ok()?;
    let target = text(field())?;
    let build = text(field())?;
    let build = [BuildKind::Release, BuildKind::Check, BuildKind::Sanitize]
        .into_iter()
        .find(|kind| kind.name() == build)?;
    let log = text(field())?;
    let image: Arc<[u8]> = field()?.into();
    Some(Artifact::new(backend, &target, build, image, log))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::CompilerIdentity;

    fn artifact(image: &[u8]) -> Artifact {
        Artifact::new(
            Backend::Fake,
            "fake",
            BuildKind::Release,
            image,
            "a warning".into(),
        )
    }

    fn key(text: &str) -> CompileKey {
        CompileKey {
            hash: Hash::of("test", text.as_bytes()),
            kept: true,
        }
    }

    #[test]
    fn a_bound_is_a_whole_number_of_bytes_and_anything_else_an_error_that_shows_it() {
        assert_eq!(bytes_of("1048576".as_ref()), Ok(1 << 20));
        for text in ["", "2GiB", "-1", "1e9", " 5"] {
            let error = bytes_of(text.as_ref()).unwrap_err().to_string();
            let start = format!("KILN_CACHE_BYTES is {text:?}, which is not a number of bytes");
            assert!(error.starts_with(&start), "{error}");
        }
    }

    #[test]
    fn a_stored_artifact_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ArtifactCache::at(folder.path().join("artifacts"), 1 << 20);
        assert_eq!(cache.get(key("a")), None);
        cache.put(key("a"), &artifact(b"image")).unwrap();
        assert_eq!(cache.get(key("a")), Some(artifact(b"image")));
        assert_eq!(cache.get(key("b")), None);
    }

    #[test]
    fn every_damaged_byte_makes_a_miss_and_the_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ArtifactCache::at(folder.path().join("artifacts"), 1 << 20);
        cache.put(key("a"), &artifact(b"image")).unwrap();
        let path = cache.path(key("a"));
        let whole = fs::read(&path).unwrap();
        for i in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[i] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(cache.get(key("a")), None, "byte {i}");
            assert!(!path.exists());
        }
        for len in 0..whole.len() {
            assert!(decode(&whole[..len]).is_none(), "cut at {len}");
        }
    }

    #[test]
    fn the_least_recently_used_artifacts_go_first_when_the_bound_is_reached() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ArtifactCache::at(folder.path().join("artifacts"), 3500);
        for (name, age_s) in [("old", 30), ("older", 60), ("used", 90)] {
            cache.put(key(name), &artifact(&[0; 1000])).unwrap();
            let used = SystemTime::now() - std::time::Duration::from_secs(age_s);
            let file = fs::File::open(cache.path(key(name))).unwrap();
            file.set_modified(used).unwrap();
        }
        assert!(cache.get(key("used")).is_some());
        cache.put(key("new"), &artifact(&[0; 1000])).unwrap();
        assert!(cache.get(key("older")).is_none());
        for name in ["old", "used", "new"] {
            assert!(cache.get(key(name)).is_some(), "{name}");
        }
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let cache = ArtifactCache::at(folder.path().join("artifacts"), 1 << 20);
        cache.put(key("a"), &artifact(b"image")).unwrap();
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(folder.path().join("artifacts"), open).unwrap();
        assert_eq!(cache.get(key("a")), None);
        assert!(cache.put(key("b"), &artifact(b"image")).is_err());
    }

    #[derive(Clone, Debug)]
    struct Named {
        identity: CompilerIdentity,
        arch: String,
        flags: Vec<String>,
    }

    impl Compiler for Named {
        fn identity(&self) -> &CompilerIdentity {
            &self.identity
        }

        fn flags(&self, _: BuildKind) -> Vec<String> {
            self.flags.clone()
        }

        fn target_arch(&self) -> &str {
            &self.arch
        }

        fn compile(&self, _: &CompileRequest) -> Result<Artifact, CompileError> {
            unreachable!("keys are made without compiling")
        }
    }

    #[test]
    fn whatever_goes_into_a_compile_is_in_its_key() {
        let compiler = Named {
            identity: CompilerIdentity {
                name: "g++".into(),
                version: "12.2".into(),
                build: "Debian".into(),
            },
            arch: "native".into(),
            flags: vec!["-O2".into()],
        };
        let request = CompileRequest::new("a", "a source");
        let own = compile_key(&compiler, Backend::Cpu, &request);
        let mut others = vec![
            compile_key(&compiler, Backend::Fake, &request),
            compile_key(
                &compiler,
                Backend::Cpu,
                &CompileRequest::new("a", "another"),
            ),
            compile_key(
                &compiler,
                Backend::Cpu,
                &request.clone().with_build(BuildKind::Check),
            ),
        ];
        let option = CompileRequest {
            options: vec!["-g".into()],
            ..request.clone()
        };
        others.push(compile_key(&compiler, Backend::Cpu, &option));
        let changes: [fn(&mut Named); 5] = [
            |c| c.identity.name = "clang++".into(),
            |c| c.identity.version = "13.1".into(),
            |c| c.identity.build = "Ubuntu".into(),
            |c| c.arch = "x86-64-v3".into(),
            |c| c.flags = vec!["-O3".into()],
        ];
        for change in changes {
            let mut other = compiler.clone();
            change(&mut other);
            others.push(compile_key(&other, Backend::Cpu, &request));
        }
        for (number, other) in others.iter().enumerate() {
            assert_ne!(*other, own, "change {number}");
        }
    }

    #[test]
    fn artifacts_of_a_compiler_that_does_not_keep_them_are_made_anew_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ArtifactCache::at(folder.path().join("artifacts"), 1 << 20);
        let device = crate::open("fake").unwrap();
        let compiler = device.compiler().unwrap();
        assert!(!compiler.artifacts_are_kept());
        let request = CompileRequest::new("a", "a source");
        let passing = compile_key(compiler, Backend::Fake, &request);
        cache.put(passing, &artifact(b"image")).unwrap();
        assert_eq!(cache.get(passing), None);
        assert!(!folder.path().join("artifacts").exists());
        // An artifact that an older version stored is not found either.
        let stored = CompileKey {
            kept: true,
            ..passing
        };
        cache.put(stored, &artifact(b"image")).unwrap();
        assert_eq!(cache.get(passing), None);
        assert!(cache.get(stored).is_some());
    }
}
