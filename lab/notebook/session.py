"""The session's plan, and a step's checks as a table.

Knows nothing of how checks are run: that is `checks.run`.
"""

from importlib.util import find_spec

from checks import texts
from checks.results import PASSED
from lab.notebook import output
from lab.notebook.choice import NotYet, shown

MINUTES = 110
MARKS = {"passed": "✔", "failed": "✘", "crashed": "✖", "unchecked": "?"}
DEADLINE_S = 60.0


def plan():
    """Show the session: a row a step, with its function, its clauses and its minutes."""
    words = texts.load()
    rows, clock = [], MINUTES - sum(step["minutes"] for step in words["step"].values())
    rows.append(["", "read CONTRACT.md", "", "0.1 to 0.12", str(clock), f"0 to {clock}"])
    for number, step in words["step"].items():
        last = len([c for c in words["clause"] if c.split(".")[0] == number])
        row = [number, step["title"], f"<code>{step['function']}</code>", f"{number}.1 to"]
        row[-1] += f" {number}.{last}"
        rows.append([*row, str(step["minutes"]), f"{clock} to {clock + step['minutes']}"])
        clock += step["minutes"]
    heads = ["step", "what it does", "function", "clauses", "minutes", "of the session"]
    lines = ["  ".join(row).replace("<code>", "").replace("</code>", "") for row in rows]
    output.show(output.table(rows, heads), "\n".join(lines))


def check(step, worker):
    """Check one step of a worker, and show what came of it as a table, a row a clause."""
    if find_spec("pytest") is None:
        raise NotYet("The checks need pytest: pip install pytest pytest-timeout")
    from checks.run import run

    results, _ = run(worker, [step], deadline_s=DEADLINE_S)
    words = texts.load()
    rows, lines = [], []
    for clause in dict.fromkeys(result.clause for result in results):
        mine = [result for result in results if result.clause == clause]
        rows.append(_row(clause, mine, words))
        lines.append(f"{_mark(mine)} {clause} {texts.clause(words, clause)['sentence']}")
    passed = sum(result.result == PASSED for result in results)
    function = words["step"][str(step)]["function"]
    said = f"Step {step}, {function}: {passed} of {len(results)} checks passed."
    first = next((result for result in results if result.result != PASSED), None)
    html = f"<p>{output.chip(said, 'bad' if first else 'good')}</p>"
    if first is None:
        table = output.table(rows, ["", "clause", "what it asks", "checks"])
        html += f"<details><summary>clause by clause</summary>{table}</details>"
    else:
        html += _failure(first, words, worker)
        html += output.table(rows, ["", "clause", "what it asks", "checks"])
    lines += _failure_lines(first) if first else []
    output.show(html, "\n".join([said, *lines]))


def _mark(results):
    worst = next((one.result for one in results if one.result != PASSED), PASSED)
    return MARKS[worst]


def _row(clause, results, words):
    passed = sum(result.result == PASSED for result in results)
    mark = output.chip(_mark(results), "good" if passed == len(results) else "bad")
    sentence = output.safe(texts.clause(words, clause)["sentence"])
    return [mark, clause, sentence, f"{passed} of {len(results)}"]


def _failure(result, words, worker):
    """Return the first result that is no pass, as HTML: what was done, expected and seen; hints."""
    clause = texts.clause(words, result.clause)
    labels = words["report"]
    title = labels[f"{result.result}_title"].format(
        step=result.step, clause=result.clause, name=result.name
    )
    rows = [
        [labels[name], "<br>".join(map(output.safe, getattr(result.evidence, name)))]
        for name in ("did", "expected", "saw")
        if getattr(result.evidence, name)
    ]
    if result.evidence.lines:
        where = ", ".join(f"line {n}, in {name}" for n, name in result.evidence.lines)
        rows.append([f"where in {shown(worker)}", output.safe(where)])
    html = f'<p class="head">{output.safe(title)}</p>'
    html += f"<p>{output.safe(clause['sentence'])}</p>"
    html += output.table(rows, []) if rows else ""
    if result.evidence.lanes:
        html += f"<pre>{output.safe(result.evidence.lanes)}</pre>"
    if result.evidence.schedule:
        words_of_it = output.safe(repr(result.evidence.schedule))
        html += f"<p>To see it: <code>replay({words_of_it}, worker)</code></p>"
    for number, hint in enumerate(clause["hints"], 1):
        html += f"<details><summary>hint {number}</summary>{output.safe(hint)}</details>"
    return html


def _failure_lines(result):
    evidence = result.evidence
    return [result.name, *evidence.did, *evidence.expected, *evidence.saw, evidence.schedule or ""]
