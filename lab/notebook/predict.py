"""Predictions: questions are put before a step, and set beside what was seen after it.

In a browser an answer is a button; elsewhere it is typed into the cell, or left out, and the
notebook runs on. Knows nothing of what is played.
"""

from lab.notebook import output
from lab.notebook.questions import QUESTIONS

RIGHT, WRONG, NONE = "as you said", "a surprise", "–"


class Predictions:
    """The questions that are open, and what came of those that are settled."""

    def __init__(self):
        self._open = {}  # name: function that returns the answer given, or None
        self.settled = []  # (name, guess or None, truth)

    def ask(self, names, guesses):
        """Put questions, by their names; guesses are answers that are typed in: {name: answer}.

        ValueError for a question that is not known, and for an answer that is not to choose.
        """
        names = list(dict.fromkeys([*names, *guesses]))
        for name in names:
            if name not in QUESTIONS:
                raise ValueError(f"no question is called {name}; there are {', '.join(QUESTIONS)}")
            if name in guesses and guesses[name] not in QUESTIONS[name].choices:
                choices = ", ".join(map(repr, QUESTIONS[name].choices))
                raise ValueError(f"{name} is one of {choices}")
        # Who has answered and runs the same cell once more must not lose the answers.
        kept = {name: read() for name, read in self._open.items() if name in names}
        guesses = {name: guess for name, guess in kept.items() if guess is not None} | guesses
        self._open = {}
        if output.front_end():
            self._ask_with_buttons(names, guesses)
        else:
            self._ask_in_text(names, guesses)

    def _ask_with_buttons(self, names, guesses):
        import ipywidgets as widgets
        from IPython.display import display

        boxes = []
        for name in names:
            question = QUESTIONS[name]
            options = [(str(choice), choice) for choice in question.choices]
            buttons = widgets.ToggleButtons(options=options, value=guesses.get(name))
            buttons.style.button_width = "92px"
            buttons.add_class(f"lease-ask-{name}")
            label = widgets.HTML(
                f'<div style="font-size:16px;line-height:30px">{output.safe(question.text)}</div>',
                layout=widgets.Layout(width="420px"),
            )
            boxes.append(widgets.HBox([label, buttons]))
            self._open[name] = lambda buttons=buttons: buttons.value
        display(widgets.VBox(boxes))

    def _ask_in_text(self, names, guesses):
        asked = [(QUESTIONS[name], name) for name in names]
        rows = [[q.text, " · ".join(map(str, q.choices))] for q, _ in asked]
        lines = [f"{q.text}  {' / '.join(map(str, q.choices))}" for q, _ in asked]
        example = ", ".join(f"{name}={q.choices[0]!r}" for q, name in asked)
        how = f"Your answers go into the brackets: walk.predict({example})"
        table = output.table([[output.safe(c) for c in row] for row in rows], ["predict", "one of"])
        output.show(table, "\n".join([*lines, how]))
        for name in names:
            self._open[name] = lambda name=name: guesses.get(name)

    def settle(self, state):
        """Close the open questions by a state of the stage; return them as (name, guess, truth)."""
        now = [(name, read(), QUESTIONS[name].truth(state)) for name, read in self._open.items()]
        self._open = {}
        self.settled += now
        return now


def beside(settled):
    """Return settled predictions beside what was seen, as (HTML, text); ("", "") for none."""
    if not settled:
        return "", ""
    rows, lines = [], []
    for name, guess, truth in settled:
        came = NONE if guess is None else RIGHT if guess == truth else WRONG
        kind = {RIGHT: "good", WRONG: "bad", NONE: "soft"}[came]
        said = "–" if guess is None else guess
        text = QUESTIONS[name].text
        rows.append([output.safe(text), output.named(said), output.named(truth)])
        rows[-1].append(output.chip(came, kind) if came != NONE else "")
        lines.append(f"{text}  you said: {said}  seen: {truth}  {came if came != NONE else ''}")
    html = output.table(rows, ["question", "you said", "seen", ""])
    remark = kindly(settled)
    return f"{html}<p>{output.safe(remark)}</p>", "\n".join([*lines, remark]).rstrip()


def kindly(settled):
    """Return a sentence about predictions: what went well first, then where to look."""
    tried = [(guess, truth) for _, guess, truth in settled if guess is not None]
    if not tried:
        return ""
    right = sum(guess == truth for guess, truth in tried)
    if right == len(tried):
        return "All as you said."
    start = f"{right} of {len(tried)} as you said. " if right else ""
    return start + "A surprise is worth more than a hit: find the step below that explains it."


def score(settled):
    """Return what all predictions of a walk come to, in a sentence or two."""
    tried = [(guess, truth) for _, guess, truth in settled if guess is not None]
    if not tried:
        return (
            "No prediction was made this time. Restart the kernel, run cell by cell, and answer "
            "before each step: that is where most is learnt."
        )
    right = sum(guess == truth for guess, truth in tried)
    missing = len(settled) - len(tried)
    said = f"You predicted {right} of {len(tried)} as it came."
    if right < len(tried):
        said += f" The other {len(tried) - right} you will not forget."
    if missing:
        said += f" Questions left open: {missing}."
    return said
