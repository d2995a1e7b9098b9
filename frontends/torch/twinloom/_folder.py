"""Where compiled graphs are kept: a folder `torch` in the library's cache folder, with a file a graph, up to the same limit.

A file holds a checksum and a pickle. One that is damaged or cut off is removed; a folder that others may change is not used.
"""
import contextlib
import hashlib
import os
import pathlib
import stat
import tempfile

MAGIC = b"twinloom torch 1\n"
LIMIT = 1 << 30  # bytes, where TWINLOOM_CACHE_BYTES is not set


def limit():
    """Bytes that all files may have; 0 where nothing is kept."""
    given = os.environ.get("TWINLOOM_CACHE_BYTES", "")
    return int(given) if given.isdecimal() else 0 if given else LIMIT


def place():
    """The folder, which need not be there; nothing where there is none."""
    for name, below in (("TWINLOOM_CACHE_DIR", ""), ("XDG_CACHE_HOME", "twinloom"), ("HOME", ".cache/twinloom")):
        given = os.environ.get(name, "")
        if given.startswith("/"):
            return pathlib.Path(given, below, "torch")
        if given and not below:
            return None
    return None


def _opened():
    """The folder, made where it is missing; nothing where it cannot be used or trusted."""
    folder = place()
    if folder is None or not limit() or os.geteuid() != os.getuid():
        return None
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for one in (folder, folder.parent):
            found = one.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
                return None
    except OSError:
        return None
    return folder


def is_open():
    """Whether anything may be kept."""
    return _opened() is not None


def found(key):
    """The contents that were stored under a key, the latest first."""
    folder = _opened()
    files = [] if folder is None else folder.glob(key + "-*")
    for file in sorted(files, key=lambda one: one.name, reverse=True):
        content = _read(file)
        if content is not None:
            yield content


def _read(file):
    with contextlib.suppress(OSError):
        whole = file.read_bytes()
        content = whole[len(MAGIC) + 32:]
        if whole[:len(MAGIC) + 32] == MAGIC + hashlib.sha256(content).digest():
            os.utime(file)  # the least recently used go first
            return content
        file.unlink()
    return None


def store(key, name, content):
    """Stores a content under a key, with a name among others of the key. Whether that was done."""
    folder = _opened()
    if folder is None or len(content) > limit():
        return False
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as file:
            file.write(MAGIC + hashlib.sha256(content).digest() + content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, folder / f"{key}-{name}")
        _keep_within_limit(folder)
    except OSError:
        return False
    return True


def _keep_within_limit(folder):
    files = [(one.stat(), one) for one in folder.iterdir()]
    total = sum(known.st_size for known, _ in files)
    for known, file in sorted(files, key=lambda one: one[0].st_mtime):
        if total <= limit():
            break
        with contextlib.suppress(OSError):
            file.unlink()
        total -= known.st_size
