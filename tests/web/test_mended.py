"""What once went wrong on the page, in a real browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="the browser tests need playwright")

from PIL import Image
from playwright.sync_api import Browser, expect

from pixelplan.cli.options import parse_family
from pixelplan.envs.noise_config import Noise
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.web.thinkers import Models
from tests.web.browser import BROWSER, KEYS, Visitor, solution
from tests.web.client import running

pytestmark = BROWSER
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 740}, "has_touch": True, "is_mobile": True}


@contextmanager
def server_process() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server of its own that may be killed."""
    command = [sys.executable, "-m", "pixelplan", "web", "--port", "0", "--no-open", "--model", "oracle"]
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env=environment)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split(" is at ")[1].split()[0].rstrip("/"), process
    finally:
        process.kill()
        process.wait(20)
        process.stdout.close()


def test_a_model_of_other_boards_is_not_asked(browser: Browser) -> None:
    family = parse_family("ice-slider", ("size=16",), None, Noise())
    with running(Models(None, family)) as address:
        visitor = Visitor(browser, address)
        page = visitor.open("?level=3000")
        expect(page.locator("#model-note")).to_contain_text("trained on boards that look different")
        page.locator("#plan").click()
        level = get_level(make_puzzle("ice-slider", size=16), 3000)
        expect(page.locator("#facts")).to_contain_text(f"Found: {len(level.shortest_path(level.start) or ())} moves")
        visitor.leave()


@pytest.mark.parametrize("planner", ["one-shot", "full"])
def test_thinking_takes_no_less_than_its_plans(visitor: Visitor, planner: str) -> None:
    for level in (3000, 3001, 3002, 3003):
        page = visitor.open(f"?env=ice-slider&level={level}&planner={planner}&show=run")
        expect(page.locator("#facts")).to_contain_text("ms of thinking")
        thinking = re.search(r"([\d.]+) ms of thinking", page.locator("#facts").inner_text())
        plans = re.findall(r", (\d+) ms,", page.locator("#log").inner_text())
        assert thinking and float(thinking[1]) > 0
        assert float(thinking[1]) >= sum(map(int, plans)) - len(plans), "each is rounded to a whole millisecond"


def test_a_failed_frame_is_asked_for_again(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address)  # the browser reports the failure, rightly
    page = visitor.open("?env=ice-slider&level=3000")
    page.route("**/api/frames/**", lambda route: route.abort())
    first = solution("ice-slider", 3000)[0]
    page.keyboard.press(KEYS[first])
    expect(page.locator("#problem")).to_contain_text("A picture did not arrive")
    before = page.evaluate("document.querySelector('#board canvas').toDataURL()")
    page.unroute("**/api/frames/**")
    page.keyboard.press("u")
    page.keyboard.press(KEYS[first])
    expect(page.locator("#problem")).to_be_hidden()
    page.wait_for_function(
        "before => document.querySelector('#board canvas').toDataURL() !== before", arg=before, timeout=10_000
    )
    visitor.context.close()


def test_a_gateway_that_answers_for_the_server_is_reported(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address)  # the browser reports the failure, rightly
    page = visitor.open("?env=ice-slider&level=3000")
    sorry = {"status": 502, "content_type": "text/html", "body": "<html>Bad Gateway</html>"}
    page.route("**/api/games/**", lambda route: route.fulfill(**sorry))
    for press in ("#plan", "#save-png"):
        page.locator(press).click()
        expect(page.locator("#problem")).to_contain_text("The server does not answer")
        page.locator("#board").focus()
    page.unroute("**/api/games/**")
    page.locator("#plan").click()
    expect(page.locator("#facts")).to_contain_text("Found:")
    visitor.context.close()


def test_a_killed_server_stops_a_run(browser: Browser) -> None:
    with server_process() as (address, process):
        visitor = Visitor(browser, address)
        page = visitor.open("?env=procgen-maze&level=3005", speed=1)
        page.keyboard.press("e")
        expect(page.locator("#status")).to_contain_text("The machine's step 2")
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        expect(page.locator("#problem")).to_be_visible()
        expect(page.locator("#problem")).to_contain_text("may be out of date")
        expect(page.locator("html")).to_have_attribute("data-stale", "yes")
        output = page.locator("#status").inner_text()
        page.wait_for_timeout(1500)
        assert page.locator("#status").inner_text() == output, "no step goes on over a board that is not there"
        visitor.context.close()


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?env=ice-slider&level=3001&goal=50.50", "can never stand in row 50"),
        ("?env=ice-slider&level=3001&goal=here", "goal “here” is not a row and a column"),
        ("?env=ice-slider&level=abc", "There is no level “abc”"),
        ("?env=ice-slider&level=-5", "There is no level “-5”"),
        ("?env=ice-slider&level=3001&moves=rdx", "moves “rdx” have other letters"),
        ("?env=ice-slider&level=3001&planner=magic", "There is no planner “magic”"),
        ("?env=ice-slider&level=3001&show=magic", "show “magic” is none of"),
    ],
)
def test_bad_links_say_so(browser: Browser, address: str, query: str, sentence: str) -> None:
    visitor = Visitor(browser, address)
    page = visitor.open(query)
    expect(page.locator("#problem")).to_be_visible()
    expect(page.locator("#problem")).to_contain_text(sentence)
    expect(page.locator("#status")).to_contain_text("0 steps")
    number = "3000" if "There is no level" in sentence else "3001"
    expect(page.locator("#level")).to_have_value(number)
    visitor.context.close()


@pytest.mark.parametrize("kind", ["saved", "jpeg"])
def test_any_picture_of_a_state_is_a_goal(visitor: Visitor, kind: str, tmp_path: Path) -> None:
    page = visitor.open("?env=ice-slider&level=3001")
    path = tmp_path / "picture"
    level = get_level(make_puzzle("ice-slider"), 3001)
    state = level.start if kind == "saved" else int(level.successors[level.start].max())
    if kind == "saved":
        with page.expect_download() as download:
            page.locator("#save-png").click()
        path = path.with_suffix(".png")
        download.value.save_as(path)
        assert Image.open(path).size == (320, 320)
    else:
        path = path.with_suffix(".jpg")
        Image.fromarray(level.frame(state)).resize((1280, 1280), Image.Resampling.NEAREST).save(path, quality=40)
    page.locator("#upload").set_input_files(path)
    row, column = level.positions[state].tolist()
    expect(page.locator("#goal-note")).to_have_text(f"Row {row + 1}, column {column + 1}")
    expect(page.locator("#notice")).to_contain_text("The picture was scaled down from")


def test_a_planner_without_a_model_shows_no_search(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3001&show=plan")
    expect(page.locator("#facts")).to_contain_text("ms.")
    page.locator('#planners [data-value="image-search"]').click()
    expect(page.locator("#plan")).to_be_disabled()
    expect(page.locator("#facts")).to_have_text("")
    expect(page.locator("#graph-empty")).to_contain_text("imagines nothing")
    page.keyboard.press("p")
    page.locator("#execute").click()
    expect(page.locator("#facts")).to_contain_text("after")
    expect(page.locator("#graph-empty")).not_to_contain_text("Press Plan")


def test_a_race_begins_at_the_start_and_a_move_ends_it(visitor: Visitor) -> None:
    moves = solution("ice-slider", 3000)
    letters = "".join("urld"[action] for action in moves)
    page = visitor.open(f"?env=ice-slider&level=3000&moves={letters}")
    expect(page.locator("#status")).to_contain_text("Solved")
    page.locator("#race").click()
    verdict = page.locator('[data-planner="full"] .verdict')
    expect(verdict).to_contain_text(f"solved after {len(moves)} steps")
    for action in moves:
        page.keyboard.press(KEYS[action])
    expect(page.locator("#card")).to_be_visible()
    page.keyboard.press("r")
    expect(page.locator("#race-panel")).to_be_hidden()


def test_there_is_no_level_before_the_first(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=0")
    expect(page.locator("#previous")).to_be_disabled()
    page.locator("#next").click()
    expect(page.locator("#previous")).to_be_enabled()


def test_a_goal_out_of_reach_asks_for_another_one(visitor: Visitor) -> None:
    level = get_level(make_puzzle("ice-slider"), 3000)
    reachable = level.reachable(level.start)
    state = next(int(start) for start in level.starts if not reachable[start])
    row, column = level.positions[state].tolist()
    page = visitor.open(f"?env=ice-slider&level=3000&goal={row}.{column}")
    expect(page.locator("#status")).to_contain_text("choose another goal")
    expect(page.locator("#undo")).to_be_disabled()


def test_a_picture_that_cannot_be_made_says_why(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address)
    page = visitor.open(f"?env=ice-slider&level=3000&moves={'lr' * 51}")
    page.locator("#save-gif").click()
    expect(page.locator("#problem")).to_contain_text("at most 100 moves")
    visitor.context.close()


def test_copied_is_said_only_if_it_is_so(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3000")
    page.evaluate("""() => {
        Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
        document.execCommand = () => false;
    }""")
    page.locator("#share").click()
    expect(page.locator("#share")).to_have_text("Copy it from the address bar")


def test_a_tapped_node_tells_of_itself(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address, **PHONE)
    page = visitor.open("?env=ice-slider&level=3001&show=plan")
    expect(page.locator("#facts")).to_contain_text("ms.")
    page.locator('#layouts [data-value="layers"]').tap()
    page.locator("#graph").scroll_into_view_if_needed()
    box = page.locator("#graph").bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + 26, box["y"] + 22 + (box["height"] - 22) / 2)  # the start, on the left
    page.wait_for_timeout(300)
    expect(page.locator("#tip")).to_be_visible()
    expect(page.locator("#tip")).to_contain_text("node 0")
    visitor.context.close()


def test_phones_see_the_graph_of_a_plan_and_the_whole_board(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address, **PHONE)
    page = visitor.open("?env=ice-slider&level=3001")
    page.locator("#plan").tap()
    expect(page.locator("#facts")).to_contain_text("ms.")
    page.wait_for_timeout(800)
    expect(page.locator("#graph")).to_be_in_viewport(ratio=0.9)
    page.set_viewport_size({"width": 740, "height": 360})
    box = page.locator("#board").bounding_box()
    assert box is not None and box["height"] <= 360
    visitor.leave()


def test_something_is_shown_without_scripts_and_while_loading(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert "draws and plays with JavaScript" in page.content()
    expect(page.locator("h1")).to_have_text("pixelplan")
    expect(page.locator("#status")).to_have_text("Loading the level…")
    context.close()


def test_the_printed_address_can_be_opened() -> None:
    command = [sys.executable, "-m", "pixelplan", "web", "--host", "0.0.0.0", "--port", "0", "--no-open"]
    process = subprocess.Popen([*command, "--model", "oracle"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    process.kill()
    process.wait(20)
    process.stdout.close()
    assert "http://127.0.0.1:" in lines[1]
