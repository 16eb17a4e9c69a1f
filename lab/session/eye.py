"""An eye on one file: it tells when what is in it has become something else.

It follows the path and not the file, as many editors put a new file in the old one's place; and it
looks for itself, as on network drives nobody tells. Knows nothing of what is in the file.
"""

import hashlib
import os
import stat

ROUND = 8  # the text itself is read once in so many looks, even if nothing points to a change


class Eye:
    """Looks at a path when it is told to; what is there at first is known."""

    def __init__(self, path):
        self.path = path
        self.marks = self.seen = None
        self.looks = 0
        self.known = self.seen = self.at_present()

    def look(self):
        """Look; tell whether there is something new, and it was the same at the last look.

        So a file that is still being written, or is away for a moment, is given time.
        """
        before, self.seen = self.seen, self.at_present()
        if self.seen != before or self.seen == self.known:
            return False
        self.known = self.seen
        return True

    def at_present(self):
        """Return a digest of the file's bytes, or a word for why there is none.

        A time of change that is kept coarsely, or a clock that was set back, can hide a change; so
        the bytes are read anew once in a while.
        """
        self.looks += 1
        try:
            there = os.stat(self.path)
            marks = (there.st_ino, there.st_size, there.st_mtime_ns)
            if not stat.S_ISREG(there.st_mode):
                raise IsADirectoryError  # or a pipe, which would be waited for
            if marks == self.marks and self.looks % ROUND:
                return self.seen
            with open(self.path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            self.marks = None
            return f"{type(error).__name__}"
        self.marks = marks
        return digest
