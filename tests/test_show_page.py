"""The page in a real browser: keys, buttons, deep links, both colour schemes, and no network."""

import json
import shutil
from pathlib import Path

import pytest
from test_show import hostile

from lab.show import html

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("chromium is not on the PATH", allow_module_level=True)
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
LAST = 54
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that opens a trace's page; in the end no error and no request was made."""
    opened, troubles = [], []

    def show(trace, address="", **options):
        if isinstance(trace, str):
            path = Path(__file__).with_name("traces") / f"{trace}.json"
            trace = json.loads(path.read_text("utf-8"))
        file = tmp_path / "page.html"
        file.write_text(html.page(trace), "utf-8")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, **options})
        opened.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request",
            lambda sent: sent.url.startswith(file.as_uri()) or troubles.append(sent.url),
        )
        page.goto(file.as_uri() + address)
        return page

    yield show
    for context in opened:
        context.close()
    assert troubles == []


def step_of(page):
    assert page.locator("#count").text_content() == f"{page.input_value('#slider')} / {LAST}"
    return int(page.input_value("#slider"))


def test_keys_go_forward_back_to_the_start_and_to_the_end(show):
    page = show("kill-after-send")
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "PageDown"):
        page.keyboard.press(key)
        seen.append(step_of(page))
    assert seen == [1, 2, 1, LAST, LAST, 0, 1]


def test_buttons_do_what_the_keys_do(show):
    page = show("kill-after-send")
    seen = []
    for button in ("#forward", "#forward", "#back", "#last", "#first"):
        page.click(button)
        seen.append(step_of(page))
    assert seen == [1, 2, 1, LAST, 0]
    assert page.is_disabled("#back")
    assert page.is_enabled("#forward")


def test_the_slider_and_a_row_of_the_lanes_go_to_a_step(show):
    page = show("kill-after-send")
    page.fill("#slider", "17")
    assert page.locator("#now-text").text_content().startswith("kill -9")
    page.locator("#lanes li").nth(13).click()
    assert step_of(page) == 14


def test_space_plays_and_pauses_and_playing_stops_at_the_end(show):
    page = show("kill-after-send", f"#step={LAST - 1}")
    page.keyboard.press("Space")
    assert page.get_attribute("#play", "aria-label") == "Pause"
    page.keyboard.press("Space")
    assert page.get_attribute("#play", "aria-label") == "Play"
    assert step_of(page) == LAST - 1
    page.click("#play")
    page.wait_for_selector("#play[aria-label=Play]")
    assert step_of(page) == LAST


def test_an_address_opens_the_page_at_a_step_and_follows_it(show):
    page = show("kill-after-send", "#step=7")
    assert step_of(page) == 7
    page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == "#step=8"
    page.evaluate("location.hash = '#step=9999'")
    page.wait_for_function(f"document.getElementById('slider').value === '{LAST}'")
    page.reload()
    assert step_of(page) == LAST


def test_a_broken_promise_links_to_its_step(show):
    page = show("stale-finish-broken")
    page.click("#verdict a")
    page.wait_for_function("document.getElementById('slider').value === '27'")
    assert "broken" in page.locator("#lanes li.current").get_attribute("class")


def test_what_a_step_changed_is_marked_with_what_it_was(show):
    page = show("kill-after-send", "#step=14")
    changed = page.locator("#state .changed").all_inner_texts()
    assert [" ".join(text.split()) for text in changed] == [
        "write lock amber free",
        "leased",
        "token 0 1",
        "owner null A amber",
        "lease until null 2000",
        "attempts 0 1 of 3",
    ]
    style = "e => getComputedStyle(e).outlineStyle"
    assert page.locator("#jobs dl .changed").first.evaluate(style) == "solid"


def test_the_step_is_told_to_a_screen_reader(show):
    page = show("kill-after-send", "#step=32")
    assert page.get_attribute("#now", "aria-live") == "polite"
    assert "1000 → 2000" in page.locator("#now").inner_text()
    unnamed = "[...document.querySelectorAll('button')].filter(b => !(b.ariaLabel || b.innerText))"
    assert page.evaluate(f"{unnamed}.length") == 0


def test_the_schedule_is_copied(show):
    page = show("kill-after-send", permissions=["clipboard-read", "clipboard-write"])
    page.click("#copy")
    page.wait_for_selector("#copied:not(:empty)")
    assert page.locator("#copied").text_content() == "Copied"
    assert page.evaluate("navigator.clipboard.readText()") == page.input_value("#schedule")


@pytest.mark.parametrize("name", ["kill-after-send", "stale-finish", "stale-finish-broken", "edge"])
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (390, 844)])
def test_nothing_runs_out_of_the_window(show, name, size):
    page = show(name, viewport={"width": size[0], "height": size[1]})
    page.keyboard.press("End")
    page.evaluate("document.fonts.ready")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    if size[0] > 820:
        assert page.evaluate("document.documentElement.scrollHeight") <= size[1]


def contrast(page, selector):
    """Return the contrast of an element's text with the paper, as WCAG counts it."""

    def light(colour):
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    ink = page.locator(selector).first.evaluate("e => getComputedStyle(e).color")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    one, two = sorted((light(ink), light(paper)))
    return (two + 0.05) / (one + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes_are_legible(show, scheme):
    page = show("kill-after-send", "#step=54", color_scheme=scheme)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(paper[4:].split(",")[0]) > 128) == (scheme == "light")
    for selector in ("#now-text", "#verdict", "dt", ".words.amber b", ".words.blue b", ".status"):
        assert contrast(page, selector) >= 4.5, selector


def test_who_wants_no_motion_gets_none(show):
    page = show("kill-after-send", reduced_motion="reduce")
    assert page.locator("#lanes").evaluate("e => getComputedStyle(e).scrollBehavior") == "auto"


def test_markup_in_a_trace_is_shown_and_never_run(show):
    page = show(hostile())
    page.keyboard.press("End")
    assert page.locator("img").count() == 0
    assert "owned" not in page.title().split("'")[0]
    assert "<img src=x" in page.locator("#jobs").inner_text()
    assert "<img src=x" in page.locator("#redrives").inner_text()
    assert "\x1b" not in page.locator("body").inner_text()


def test_a_trace_of_no_steps_is_a_page(show):
    trace = json.loads(
        (Path(__file__).with_name("traces") / "stale-finish.json").read_text("utf-8")
    )
    page = show({**trace, "steps": [], "verdict": {}})
    page.keyboard.press("Space")
    assert page.locator("#count").text_content() == "0 / 0"
    assert "No verdict." in page.locator("#verdict").inner_text()
