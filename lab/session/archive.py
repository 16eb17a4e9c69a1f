"""One archive of the work and its history, which unpacks to a session that goes on.

Knows nothing of who reads it, and nothing of what is right.
"""

import io
import time
import zipfile
from pathlib import Path

from lab.session import files, history, state
from lab.session.place import USUAL, WORKER
from lab.session.work import text_of


def save(folder, now=None):
    """Write the archive into folder, named by its date; return its path. OSError, TooLarge, Busy.

    An archive that is there stays: the second one of a day is called -2.
    """
    now = time.time() if now is None else now
    date = time.strftime("%Y-%m-%d", time.localtime(now))
    with files.locked(state.lock_of(folder)):
        data = packed(folder, time.localtime(now))
        number = 1
        while True:
            path = folder / f"{USUAL}-{date}{'' if number == 1 else f'-{number}'}.zip"
            try:
                files.create(path, data)
                return path
            except FileExistsError:
                number += 1


def packed(folder, when):
    """Return the archive as bytes: lease/worker.py, and beside it the state and the snapshots."""
    inside = Path(USUAL)
    parts = [(folder / WORKER, inside / WORKER), (state.file_of(folder), state.file_of(inside))]
    parts += [
        (entry.path, history.folder_of(inside) / entry.path.name)
        for entry in history.entries(folder)
    ]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for source, name in parts:
            if source.exists():
                info = zipfile.ZipInfo(name.as_posix(), max(when[:6], (1980, 1, 1, 0, 0, 0)))
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = files.MODE << 16
                archive.writestr(info, text_of(source))
    return out.getvalue()
