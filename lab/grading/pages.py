"""Grades as HTML: a page a submission with the report that its author would read, and an index.

A race that was found is a page of its own, to step through (lab.show.html). Everything that comes
from a submission is escaped. Knows nothing of files: names in, text out.
"""

import hashlib
import re
from html import escape
from pathlib import Path

from lab.grading.points import shown
from lab.show import html

INDEX = "index.html"


def file_name(name, what=""):
    """Return the name of the file for a submission's page: plain ASCII, and its own."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain}-{digest}{what}.html".lstrip("-")


def page(title, body):
    """Return a whole page; body is HTML, title is not."""
    pieces = {"title": escape(title), "body": body}
    form = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: pieces[found[1]], form)


def submission(grade, verdict):
    """Yield (file name, HTML) of the page of a submission, and of its trace if there is one.

    verdict is that of its checks, or None where the Grade has a problem.
    """
    trace = verdict and verdict.get("trace")
    body = [f"<p>{shown(grade.points)} of {shown(grade.worth)} points; file: "]
    body += [f"<code>{escape(grade.file) or '-'}</code></p>"]
    if grade.problem:
        body += [f"<p>It could not be graded: {escape(grade.problem)}.</p>"]
    else:
        rows = [
            f"<tr><td>step {one.step}</td><td>{'passed' if one.ok else 'not passed'}</td>"
            f'<td class="n">{one.passed} of {one.total} checks</td>'
            f'<td class="n">{shown(one.points)} of {shown(one.worth)} points</td></tr>'
            for one in grade.steps
        ]
        body += ["<table>", *rows, "</table>"]
    if trace:
        name = file_name(grade.name, "-trace")
        body += [f'<p><a href="{name}">Step through what happened</a>: {escape(trace["title"])}']
        body += [f"<br><code>{escape(trace['schedule'])}</code></p>"]
        yield name, html.page(trace)
    if verdict:
        body += [f"<pre>{escape(verdict['text'])}</pre>"]
    body += [f'<p><a href="{INDEX}">all submissions</a></p>']
    yield file_name(grade.name), page(grade.name, "\n".join(body))


def index(grades):
    """Return the page that lists all submissions."""
    head = "".join(f"<th>{step.step}</th>" for step in grades[0].steps) if grades else ""
    rows = [f'<tr><th>submission</th>{head}<th class="n">points</th><th>first failure</th></tr>']
    for grade in grades:
        marks = "".join(f"<td>{'✔' if one.ok else '✘'}</td>" for one in grade.steps)
        rows += [
            f'<tr><td><a href="{file_name(grade.name)}">{escape(grade.name)}</a></td>{marks}'
            f'<td class="n">{shown(grade.points)}</td><td>{escape(grade.why)}</td></tr>'
        ]
    return page("Submissions", "\n".join(["<table>", *rows, "</table>"]))
