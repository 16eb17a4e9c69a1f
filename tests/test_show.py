"""The trace as text and as SVG: right words, right widths, nothing dangerous let through."""

import copy
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from lab.show import changes, frames, html, plot, svg, text, words
from lab.show.cells import columns_of

TRACES = {path.stem: path for path in sorted(Path(__file__).with_name("traces").glob("*.json"))}
HOSTILE = (
    "</script></style><img src=x onerror=document.title='owned'>&\"'{{js}}\x1b[31m\ud800\u202e"
)


def load(name):
    return json.loads(TRACES[name].read_text("utf-8"))


def hostile():
    """Return a trace with markup in every text that a worker or a student can choose."""
    trace = load("stale-finish")
    trace["couriers"] = ["amber", HOSTILE]

    def spoil(value):
        if isinstance(value, dict):
            return {key: spoil(inside) for key, inside in value.items()}
        if isinstance(value, list):
            return [spoil(inside) for inside in value]
        return HOSTILE if isinstance(value, str) and value != "amber" else value

    for key in ("title", "worker", "schedule", "start", "steps", "verdict"):
        trace[key] = spoil(trace[key])
    for step in trace["steps"]:
        step["state"]["redrives"] = [
            {"seq": 1, "id": HOSTILE, "token": 1, "at_ms": 1000, "note": HOSTILE}
        ]
    return trace


def without_colour(said):
    return re.sub(r"\x1b\[[0-9;]*m", "", said)


@pytest.mark.parametrize("draw", [text.lanes, svg.lanes, html.page])
@pytest.mark.parametrize("schema", ["lease-lab/trace/2", None])
def test_another_schema_is_refused_in_one_line(draw, schema):
    with pytest.raises(ValueError, match=r"cannot draw a trace of schema .*lease-lab/trace/1'$"):
        draw({**load("stale-finish"), "schema": schema})


@pytest.mark.parametrize("draw", [text.lanes, svg.lanes, html.page])
def test_what_is_no_trace_is_refused(draw):
    with pytest.raises(ValueError, match="a trace is a dict, not a list"):
        draw([])
    with pytest.raises(ValueError, match="without 'verdict'"):
        draw({k: v for k, v in load("stale-finish").items() if k != "verdict"})


@pytest.mark.parametrize("draw", [text.lanes, svg.lanes, html.page])
@pytest.mark.parametrize("name", TRACES)
def test_the_same_trace_is_drawn_the_same_and_left_as_it_was(draw, name):
    trace = load(name)
    kept = copy.deepcopy(trace)
    assert draw(trace) == draw(copy.deepcopy(trace))
    assert trace == kept


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("width", [60, 80, 132])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_terminal(name, width, unicode):
    for line in text.lanes(load(name), width, unicode=unicode).splitlines():
        assert columns_of(line) <= width, line
        assert unicode or line.isascii()


def test_no_line_of_a_hostile_trace_is_wider_and_none_has_a_control_character():
    said = text.lanes(hostile())
    assert all(columns_of(line) <= 80 for line in said.splitlines())
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff\u202e]", said)


@pytest.mark.parametrize("name", TRACES)
def test_colour_changes_no_letter(name):
    trace = load(name)
    coloured = text.lanes(trace, colour=True)
    assert coloured != text.lanes(trace)
    stripped = [line.rstrip() for line in without_colour(coloured).splitlines()]
    assert stripped == [line.rstrip() for line in text.lanes(trace).splitlines()]


def test_the_lanes_tell_the_story_in_order():
    said = text.lanes(load("kill-after-send"))
    told = [
        "amber │ · update jobs: leased, token",
        "↳ snack-1: pending → leased, token 0 → 1, owner amber, lease until 2000",
        "↳ receiver: requests 0 → 1, effects 0 → 1, inbox row snack-1 ×3",
        "✖ kill -9",
        "◷ clock 1000 → 2000",
        "↳ snack-1: token 1 → 2, owner blue",
        "↳ receiver: requests 1 → 2\n",
        "✔ ok: Two requests, one inbox row, one effect: job done, token 2.",
        "2 requests, 1 inbox row, 1 effect",
    ]
    places = [said.index(part) for part in told]
    assert places == sorted(places)


def test_a_broken_promise_is_marked_at_its_step():
    said = text.lanes(load("stale-finish-broken"))
    assert re.search(r"^ ✘27 .* commit", said, re.MULTILINE)
    assert "✘ broken at step 27: " in said


def test_a_courier_that_waits_is_marked_until_the_lock_is_free():
    drawn = frames.frames(load("stale-finish"))
    doing = [frame.lanes["amber"].doing for frame in drawn[25:31]]
    assert doing == ["busy", "waiting", "waiting", "waiting", "busy", "busy"]


def test_a_killed_courier_holds_its_lease_until_the_clock_ends_it():
    drawn = frames.frames(load("kill-after-send"))
    killed, ended = drawn[17].lanes["amber"], drawn[32].lanes["amber"]
    assert (killed.doing, killed.leases, killed.over) == ("dead", ("snack-1",), ())
    assert (ended.doing, ended.leases, ended.over) == ("dead", (), ("snack-1",))


def test_a_trace_of_no_steps_and_no_verdict_is_drawn():
    trace = {**load("stale-finish"), "steps": [], "verdict": {}}
    assert "0  1000       start" in text.lanes(trace)
    assert "verdict" not in text.lanes(trace)
    ET.fromstring(svg.lanes(trace))
    assert 'max="0"' in html.page(trace)


def test_lanes_can_be_printed_a_step_at_a_time():
    trace = load("stale-finish")
    live = text.Lanes({k: v for k, v in trace.items() if k not in ("steps", "verdict")})
    lines = [live.head(), *(live.step(step) for step in trace["steps"])]
    lines += ["", live.rows(), "", live.verdict(trace)]
    assert "\n".join(lines) + "\n" == text.lanes(trace)


def test_every_row_that_came_changed_or_went_is_seen():
    before = load("stale-finish")["steps"][0]["state"]
    after = copy.deepcopy(before)
    after["jobs"][0]["token"] = 7
    after["inbox"] = [{"id": "a", "qty": 1}, {"id": "a", "qty": 1}]
    seen = changes.between(before, after)
    assert [(c.table, c.row, c.column, c.was) for c in seen] == [
        ("jobs", 0, "token", 0),
        ("inbox", 0, None, None),
        ("inbox", 1, None, None),
    ]
    gone = changes.between(after, {**after, "jobs": [], "inbox": after["inbox"][:1]})
    assert changes.sentences(gone) == ["jobs: snack-1 is gone", "receiver: inbox row a is gone"]


@pytest.mark.parametrize(
    ("sql", "short"),
    [
        ("begin immediate", "begin immediate"),
        ("BEGIN", "BEGIN"),
        ("pragma journal_mode = delete", "pragma journal_mode = delete"),
        ("select qty\n from jobs where id = 'a'", "select qty from jobs where id"),
        ("create table if not exists jobs (seq integer)", "create table if not exists jobs"),
        ("create table jobs (seq integer)", "create table jobs"),
        ("insert into jobs (id, qty) values ('it''s', 3)", "insert into jobs: it's"),
        ("insert or ignore into jobs (id) values ('a')", "insert or ignore into jobs: a"),
        (
            "insert into jobs (id) values ('a') on conflict do nothing",
            "insert into jobs: a on conflict",
        ),
        ("update jobs set status = 'done' where id = 'a'", "update jobs: done where id"),
        ("update jobs set status = 'done'", "update jobs: done in every row"),
        (
            "update jobs set status='leased', token = token + 1 where id = 'a' returning *",
            "update jobs: leased, token = token + 1 where id returning",
        ),
        (
            "update jobs set status = 'done' where id = 'a' and token = 2 and 1500 < lease_until",
            "update jobs: done where id, token, lease_until >",
        ),
        (
            "update jobs set attempts = 0 where 'dead' = status",
            "update jobs: attempts where status = dead",
        ),
        ("-- why\ndelete from jobs /* all */", "delete from jobs"),
        ("vacuum", "vacuum"),
        ("update", "update"),
        ("", ""),
    ],
)
def test_a_statement_is_shortened_to_what_it_means(sql, short):
    assert words.statement(sql) == short


def test_statements_that_differ_in_a_guard_are_not_shortened_to_the_same():
    guards = ["lease_until <= 5", "lease_until < 5", "not lease_until < 5", "lease_until = 5"]
    guards += ["lease_until is null", "lease_until <= deadline", "status = 'leased'", "1", "0"]
    short = {words.statement(f"update jobs set status = 'dead' where {guard}") for guard in guards}
    assert len(short) == len(guards)


def test_a_table_too_wide_goes_on_below_with_its_first_column():
    rows = [{"id": "a", "one": "x" * 30, "two": "y" * 30, "three": None}]
    said = text.table(rows, 50)
    assert [line.split() for line in said.splitlines()] == [
        ["id", "one"],
        ["a", "x" * 30],
        ["id", "two", "three"],
        ["a", "y" * 30, "-"],
    ]
    assert text.table([]) == "  none"


class Stream(io.StringIO):
    def __init__(self, terminal, encoding="utf-8"):
        super().__init__()
        self.terminal, self.coding = terminal, encoding

    def isatty(self):
        return self.terminal

    @property
    def encoding(self):
        return self.coding


@pytest.mark.parametrize(
    ("terminal", "environ", "coloured"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {}, True),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(terminal, environ, coloured):
    assert text.use_colour(Stream(terminal), environ) is coloured


@pytest.mark.parametrize(("encoding", "can"), [("utf-8", True), ("ascii", False), (None, False)])
def test_marks_are_plain_where_the_encoding_has_no_others(encoding, can):
    assert text.use_unicode(Stream(True, encoding)) is can


@pytest.mark.parametrize("name", TRACES)
def test_the_svg_is_xml_that_stands_alone(name):
    said = svg.lanes(load(name))
    said.encode("utf-8")
    root = ET.fromstring(said)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not re.search(r"href|url\((?!#)|@import", said)


def test_every_rule_of_the_svg_is_kept_to_the_svg():
    sheets = svg.beside("lanes.css") + svg.beside("svg.css")
    selectors = re.findall(r"^\s*([.\w][^{}@]*)\{", sheets, re.MULTILINE)
    assert selectors
    assert all(".lease-lanes" in part for line in selectors for part in line.split(","))


def test_markup_in_a_trace_stays_text():
    trace = hostile()
    root = ET.fromstring(svg.lanes(trace))
    assert {element.tag.split("}")[1] for element in root.iter()} <= {
        *("svg", "title", "style", "defs", "pattern", "path", "rect", "g", "text", "circle")
    }
    page = html.page(trace)
    page.encode("utf-8")
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert page.count("</style>") == 1


# Plots -------------------------------------------------------------------------------------------


def texts_of(picture):
    """Return the texts of an SVG as (text, x, y)."""
    found = ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    return [(one.text, float(one.get("x")), float(one.get("y"))) for one in found]


def test_the_labels_of_curves_keep_the_order_of_their_ends_and_do_not_overlap():
    series = {"top": [(0, 0), (9, 100)], "low": [(0, 0), (9, 1)], "middle": [(0, 5), (9, 99)]}
    told = {said: y for said, _, y in texts_of(plot.curves(series, "x", "y")) if ":" in said}
    high, middle, low = told["top: 100"], told["middle: 99"], told["low: 1"]
    assert middle - high > 23
    assert low - middle > 100


@pytest.mark.parametrize(("last", "marks"), [(3, "0 1 2 3"), (500, "0 100 200 300 400 500")])
def test_an_axis_has_a_few_round_marks(last, marks):
    found = texts_of(plot.curves({"a": [(0, 1), (last, 1)]}, "x", "y"))
    foot = max(y for said, _, y in found if said.isdigit())
    assert " ".join(said for said, _, y in found if y == foot) == marks
