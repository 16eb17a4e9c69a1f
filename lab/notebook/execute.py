"""Run notebooks from top to bottom, and write them back with what came out, the same each time.

    python -m lab.notebook.execute notebooks/*.ipynb

Nothing in a file tells when, where, or on which Python it was run. Needs jupyter. Knows nothing of
what is in the notebooks.
"""

import os
import sys
from pathlib import Path

LIMIT_S = 120  # for one cell, on a slow machine
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def execute(path):
    """Run the notebook at path in its own folder; return it executed, as nbformat has it."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    os.environ.pop("JPY_SESSION_NAME", None)  # nobody is there to press a button
    NotebookClient(
        notebook,
        timeout=LIMIT_S,
        record_timing=False,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(Path(path).parent)}},
    ).execute()
    return clean(notebook, Path(path).stem)


def clean(notebook, stem):
    """Take out of a notebook what differs from run to run; return it."""
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{stem[:2]}-{number:02}"
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    return notebook


def _joined(outputs):
    """Return outputs with the pieces of a stream, cut wherever the kernel flushed, as one."""
    joined = []
    for one in outputs:
        last = joined[-1] if joined else {}
        if one.output_type == "stream" and one.get("name") == last.get("name"):
            last["text"] += one.text
        else:
            joined.append(one)
    return joined


def main(paths):
    """Execute notebooks and write them back."""
    import nbformat

    for path in paths:
        nbformat.write(execute(path), path)
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
