"""The desk of notebook 05 in a real JupyterLab, in a real browser: its buttons are pressed."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("chromium is not on the PATH", allow_module_level=True)
if find_spec("jupyterlab") is None:
    reason = "jupyter is not installed: pip install -e '.[notebooks]'"
    pytest.skip(reason, allow_module_level=True)
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
HOUSE = Path(__file__).resolve().parent.parent
TRACKER = "@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
PATIENCE_MS = 120_000  # JupyterLab is slow to come up on a busy machine
pytestmark = [pytest.mark.browser, pytest.mark.timeout(420)]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Run a JupyterLab on a copy of the notebooks, with settings of its own; yield its URL."""
    room = tmp_path_factory.mktemp("jupyter")
    shutil.copytree(HOUSE / "notebooks", room / "notebooks")
    settings = room / "SETTINGS" / TRACKER
    settings.parent.mkdir(parents=True)
    settings.write_text('{"windowingMode": "none"}')  # cells out of sight are on the page, too
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    environ = os.environ | {f"JUPYTER_{name}": str(room / name) for name in names}
    environ |= {f"JUPYTERLAB_{n}_DIR": str(room / n) for n in ("SETTINGS", "WORKSPACES")}
    environ |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(HOUSE)}
    options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token="]
    options += [f"--ServerApp.root_dir={room / 'notebooks'}"]
    with open(room / "server.txt", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=environ,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_for(server, f"http://127.0.0.1:{port}/api", room / "server.txt")
        yield f"http://127.0.0.1:{port}/lab"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


def wait_for(server, address, log):
    """Wait until a server answers, or has ended."""
    while server.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(0.2)
    raise AssertionError(log.read_text())


@pytest.fixture(scope="module")
def page(lab):
    """Open notebook 05 and run it all; yield the page, with the desk on it."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{lab}/tree/05_free_play.ipynb?reset")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        page.get_by_text("| Idle").wait_for()  # else Run All asks for a kernel
        page.keyboard.press("Control+b")  # the file browser goes: a notebook on a projector
        page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
        page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
        sees(page, "Two requests")  # the notebook's last code cell has played its schedule
        yield page
        browser.close()


def press(page, name):
    page.locator(f".lease-desk .lease-{name}").click()


def sees(page, text):
    """Wait until the desk says a text."""
    page.locator(".lease-desk .said", has_text=text).wait_for()


def shows_schedule(page, text):
    """Wait until the desk shows a schedule, which comes by a message of its own."""
    sync_api.expect(page.locator(".lease-desk .schedule")).to_have_text(text)


def test_the_buttons_play_kill_after_send_and_the_desk_finds_one_effect(page):
    press(page, "fresh")
    sees(page, "A new queue")
    press(page, "put")
    sees(page, "snack-1 is in the queue")
    press(page, "amber-to_send")
    sees(page, "amber stands before: send")
    press(page, "amber-next")
    sees(page, "answer to request 1")
    press(page, "amber-kill")
    sees(page, "amber is dead")
    press(page, "tick-1000")
    sees(page, "It is 2000 now")
    press(page, "blue-to_end")
    sees(page, "Two requests, one inbox row, one effect: job done, token 2.")
    shows_schedule(page, "job amber:run_file amber>send amber amber! +1000 blue:run_file blue>end")
    assert page.locator(".lease-desk img").get_attribute("src").startswith("data:image/svg+xml")


def test_a_pasted_schedule_is_played(page):
    pasted = "job amber:claim blue:claim amber>after-claim blue>end"
    page.locator(".lease-desk .lease-paste input").fill(pasted)
    press(page, "play")
    sees(page, "Played.")
    page.locator(".lease-desk td", has_text="waits for amber's lock").wait_for()
    shows_schedule(page, pasted)


def test_everything_on_the_desk_fits_on_a_projector(page):
    box = page.locator(".lease-desk").bounding_box()
    room = page.locator(".jp-WindowedPanel-outer").first.bounding_box()
    assert box["height"] <= room["height"]
