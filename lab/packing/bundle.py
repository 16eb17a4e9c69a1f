"""An archive as bytes: of the same files always the same bytes. Knows nothing of what is in it."""

import io
import zipfile

BEFORE_ALL = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive can say
UNIX = 3
RUNS = b"#!"


def pack(files):
    """Return a zip archive of files, {name: bytes}; what begins with #! can be run."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, BEFORE_ALL)
            info.create_system = UNIX
            info.external_attr = (0o100755 if files[name].startswith(RUNS) else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, files[name])
    return out.getvalue()
