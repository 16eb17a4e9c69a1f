"""What the notebooks use: which worker to run, walks with predictions, tables, and the desk.

Runs in Jupyter and imports IPython and ipywidgets where it needs them; the rest of the kit does not
import it. Knows nothing of any one notebook's prose.
"""

from lab.notebook.choice import begun, pick
from lab.notebook.late import fences
from lab.notebook.mistakes import wrong
from lab.notebook.panel import open_desk
from lab.notebook.session import check, plan
from lab.notebook.survey import find, growth, kills, prove
from lab.notebook.walk import Walk, replay, story

__all__ = ["Walk", "begun", "check", "fences", "find", "growth", "kills", "open_desk", "pick"]
__all__ += ["plan", "prove", "replay", "story", "wrong"]
