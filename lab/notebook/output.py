"""What a cell shows: HTML or a picture, each with a plain text for where neither can be seen.

The colours work on a light and on a dark page. Knows nothing of what is shown.
"""

import base64
import os
from html import escape
from importlib.util import find_spec

STYLE = """<style>
.lease { font-size: 15px; line-height: 1.4; }
.lease table { border-collapse: collapse; font-size: 15px; margin: 2px 0 8px; table-layout: auto; }
.lease td, .lease th { padding: 3px 10px !important; text-align: left !important;
  border: 1px solid rgba(128, 128, 128, .4); vertical-align: top; white-space: normal !important;
  max-width: none !important; }
.lease th { font-weight: 700; white-space: nowrap !important;
  background: rgba(128, 128, 128, .14); }
.lease td.n { text-align: right !important; font-variant-numeric: tabular-nums; }
.lease .beside { display: flex; flex-wrap: wrap; gap: 2px 24px; align-items: flex-start; }
.lease .beside > :first-child { max-width: 500px; }
.lease .tight :is(td, th) { padding: 3px 7px !important; }
.lease p { margin: 4px 0 6px; }
.lease .head { font-weight: 700; margin: 4px 0 2px; }
.lease .chip { border-radius: 4px; padding: 1px 8px; white-space: nowrap; }
.lease .amber { background: #f0a202; color: #1b1c20; font-weight: 700; }
.lease .blue { background: #1f5fd6; color: #fff; font-weight: 700; }
.lease .good { background: rgba(46, 160, 67, .28); font-weight: 700; }
.lease .bad { background: rgba(218, 54, 51, .32); font-weight: 700; }
.lease .soft { background: rgba(128, 128, 128, .2); }
.lease pre { font-size: 14px; overflow-x: auto; padding: 6px 8px !important;
  background: rgba(128, 128, 128, .1) !important; }
.lease summary { cursor: pointer; font-weight: 700; }
.jp-RenderedSVG img, .jp-RenderedSVG svg { max-width: 100%; height: auto; }
[data-jp-theme-light="false"] :is(.jp-RenderedSVG, .lease) img { color-scheme: dark; }
[data-jp-theme-light="true"] :is(.jp-RenderedSVG, .lease) img { color-scheme: light; }
</style>"""


def front_end():
    """Tell whether somebody looks on who can press widgets: a kernel that Jupyter's server runs."""
    return bool(os.environ.get("JPY_SESSION_NAME")) and find_spec("ipywidgets") is not None


def show(html, text):
    """Show HTML, or text where there is none."""
    _display({"text/html": f'{STYLE}\n<div class="lease">{html}</div>', "text/plain": text})


def picture(svg, text):
    """Show an SVG, or text where pictures cannot be seen.

    Its size and its colours on a dark page come with the STYLE of a show() in the same cell.
    """
    _display({"image/svg+xml": svg, "text/plain": text})


def image(svg):
    """Return an SVG as an HTML image, which keeps its style to itself."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img style="max-width: 100%" src="data:image/svg+xml;base64,{data}">'


def code(text):
    """Show Python source."""
    _display({"text/markdown": f"```python\n{text}```", "text/plain": text})


def _display(data):
    from IPython.display import display

    display(data, raw=True)


def safe(value):
    """Return a value as text that may stand in HTML; None is an en dash."""
    return "–" if value is None else escape(str(value))


def chip(text, kind=""):
    """Return a text with a coloured ground; kind is good, bad, soft, or the name of a courier."""
    return f'<span class="chip {kind or text}">{safe(text)}</span>'


def named(value):
    """Return a value as HTML, the name of a courier in its colour."""
    return chip(value) if value in ("amber", "blue") else safe(value)


def table(rows, heads=None):
    """Return rows as an HTML table; a row is a dict, or a list of HTML if heads are given.

    Without any heads, [], it has no row of them.
    """
    if heads is None:
        heads = [name.replace("_", " ") for name in rows[0]] if rows else []
        rows = [[named(value) for value in row.values()] for row in rows]
    top = "".join(f"<th>{safe(head)}</th>" for head in heads)
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
    top = f"<thead><tr>{top}</tr></thead>" if top else ""
    return f"<table>{top}<tbody>{body}</tbody></table>"


def _cell(cell):
    number = str(cell).isdecimal()
    return f'<td class="n">{cell}</td>' if number else f"<td>{cell}</td>"
