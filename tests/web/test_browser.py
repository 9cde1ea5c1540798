"""The page in a real browser: `make test-web`."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

pytest.importorskip("playwright", reason="the browser tests need playwright")

from playwright.sync_api import Browser, expect

from pixelplan.puzzles import get_level, make_puzzle
from tests.own_worlds import CELLS, SIDE
from tests.web.browser import BROWSER, KEYS, Visitor, query_of, solution
from tests.web.client import running
from tests.web.corridor import corridor_models
from tests.web.test_goal_kinds import UNSHOWN, Taught, picture
from tests.web.test_own_world import start

pytestmark = BROWSER


def test_ice_slider_is_played_to_the_end_with_keys(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3000")
    status = page.locator("#status")
    moves = solution("ice-slider", 3000)
    expect(status).to_contain_text(f"the shortest solution has {len(moves)}")
    for action in moves:
        page.keyboard.press(KEYS[action])
    expect(status).to_contain_text(f"Solved in {len(moves)} steps, which is the fewest possible")
    page.keyboard.press("u")
    expect(status).to_contain_text(f"{len(moves) - 1} steps")
    page.keyboard.press("r")
    expect(status).to_contain_text("0 steps")


def test_buttons_play_and_a_dead_end_is_reported(visitor: Visitor) -> None:
    level = get_level(make_puzzle("ice-slider"), 3000)
    page = visitor.open("?env=ice-slider&level=3000")
    queue, seen = [(level.start, ())], {level.start}
    while queue:
        state, moves = queue.pop(0)
        if level.shortest_path(state) is None:
            break
        for action in range(4):
            there = int(level.successors[state, action])
            if there not in seen:
                seen.add(there)
                queue.append((there, (*moves, action)))
    for action in moves:
        page.locator(f'.pad [data-action="{action}"]').click()
    expect(page.locator("#status")).to_contain_text("The goal cannot be reached from here")
    page.locator("#undo").click()
    expect(page.locator("#status")).to_contain_text(f"{len(moves) - 1} step")


def test_every_puzzle_is_planned_and_executed(visitor: Visitor, name: str) -> None:
    page = visitor.open(f"?env={name}&level=3001")
    page.locator("#plan").click()
    expect(page.locator("#facts")).to_contain_text("ms.")
    expect(page.locator("#board polygon").first).to_be_attached()
    assert query_of(page)["show"] == "plan"
    page.locator("#execute").click()
    expect(page.locator("#facts")).to_contain_text("Solved after", timeout=30_000)
    expect(page.locator("#status")).to_contain_text("Solved in")
    expect(page.locator("#timeline rect").first).to_be_attached()
    expect(page.locator("#log li").first).to_contain_text("Plan.")


def test_execution_can_be_paused_stepped_and_stopped(visitor: Visitor) -> None:
    page = visitor.open("?env=procgen-maze&level=3005", speed=0)
    page.keyboard.press("e")
    page.locator("#pause").click()
    page.locator("#step").click()
    expect(page.locator("#timeline rect")).to_have_count(1, timeout=15_000)
    page.locator("#step").click()
    expect(page.locator("#timeline rect")).to_have_count(2)
    page.locator("#stop").click()
    expect(page.locator("#status")).to_contain_text("2 steps")
    assert len(query_of(page)["moves"]) == 2


def test_another_goal_is_clicked_and_reached(visitor: Visitor) -> None:
    level = get_level(make_puzzle("digit-jump"), 3001)
    target = int(level.successors[int(level.successors[level.start].max()), :].max())
    row, column = level.positions[target].tolist()
    page = visitor.open("?env=digit-jump&level=3001")
    page.locator("#choose").click()
    box = page.locator("#board").bounding_box()
    assert box is not None
    y, x = (level.corners[target] + level.patches.shape[1] / 2) / len(level.background)
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
    expect(page.locator("#goal-note")).to_have_text(f"Row {row + 1}, column {column + 1}")
    assert query_of(page)["goal"] == f"{row}.{column}"
    page.locator("#execute").click()
    expect(page.locator("#facts")).to_contain_text("Solved after", timeout=30_000)
    page.locator("#own-goal").click()
    expect(page.locator("#goal-note")).to_have_text("The level's own goal")


def test_a_goal_is_chosen_by_keys_and_by_a_seen_frame(visitor: Visitor) -> None:
    page = visitor.open("?env=digit-jump&level=3001")
    page.keyboard.press("g")
    for key in ("ArrowUp", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#goal-note")).to_have_text("Row 7, column 7")
    page.keyboard.press(KEYS[solution("digit-jump", 3001)[0]])
    expect(page.locator("#strip button")).to_have_count(2)
    page.locator("#strip button").first.click()
    expect(page.locator("#goal-note")).to_have_text("Row 1, column 1")


def test_nodes_tell_what_is_known_of_them(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3001&show=plan")
    expect(page.locator("#facts")).to_contain_text("ms.")
    page.locator("#graph").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tip")).to_contain_text("node 0, depth 0")
    expect(page.locator("#tip canvas")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tip")).to_contain_text("never seen, only imagined")
    for layout in ("layers", "map", "goal"):
        page.locator(f'#layouts [data-value="{layout}"]').click()
    box = page.locator("#graph").bounding_box()
    assert box is not None
    for part in range(40):  # somewhere on the way across there is a node
        page.mouse.move(box["x"] + box["width"] * part / 40, box["y"] + box["height"] / 2)
    page.keyboard.press("p")


def test_race(visitor: Visitor) -> None:
    page = visitor.open("?env=procgen-maze&level=3001")
    page.locator("#race").click()
    for planner in ("full", "image-search"):
        expect(page.locator(f'[data-planner="{planner}"] .verdict')).to_contain_text("after", timeout=60_000)
    expect(page.locator('[data-planner="full"].winner')).to_be_visible()


def test_a_shared_address_restores_the_state(visitor: Visitor, browser: Browser, address: str) -> None:
    page = visitor.open("?env=ice-slider&level=3001&planner=one-shot")
    for action in solution("ice-slider", 3001)[:3]:
        page.keyboard.press(KEYS[action])
    expect(page.locator("#status")).to_contain_text("3 steps")
    page.locator("#plan").click()
    expect(page.locator("#facts")).to_contain_text("ms.")
    other = Visitor(browser, address)
    there = other.open(page.url.removeprefix(f"{address}/"))
    expect(there.locator("#status")).to_have_text(page.locator("#status").inner_text())
    expect(there.locator('#planners [data-value="one-shot"]')).to_have_attribute("aria-checked", "true")
    expect(there.locator("#facts")).to_contain_text("ms.")
    there.locator("#next").click()
    expect(there.locator("#level")).to_have_value("3002")
    there.go_back()
    expect(there.locator("#status")).to_contain_text("3 steps")
    other.leave()


def test_wrong_addresses_are_explained(visitor: Visitor) -> None:
    for query, sentence in (
        ("?env=chess&level=3001", "There is no puzzle"),
        ("?env=ice-slider&level=-1", "There is no level"),
        ("?env=ice-slider&level=1000000000000000000000000000000", "There is no level"),
    ):
        page = visitor.open(query)
        expect(page.locator("#problem")).to_be_visible()
        expect(page.locator("#problem")).to_contain_text(sentence)
        expect(page.locator("#status")).to_contain_text("0 steps")


def test_solutions_are_saved(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3001&moves=rd")
    for ending in ("png", "gif"):
        with page.expect_download() as download:
            page.locator(f"#save-{ending}").click()
        assert download.value.suggested_filename == f"ice-slider-3001.{ending}"


def test_a_dropped_game_continues(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address)  # the browser reports the 404, rightly
    page = visitor.open("?env=ice-slider&level=3000")
    first, second = solution("ice-slider", 3000)[:2]
    page.keyboard.press(KEYS[first])
    expect(page.locator("#status")).to_contain_text("1 step")
    page.evaluate("fetch(document.getElementById('save-png').href.replace('/solution.png', ''), {method: 'DELETE'})")
    page.keyboard.press(KEYS[second])
    expect(page.locator("#status")).to_contain_text("2 steps")
    visitor.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_phones_can_play(browser: Browser, address: str, theme: Any) -> None:
    visitor = Visitor(browser, address, viewport={"width": 360, "height": 740}, has_touch=True, color_scheme=theme)
    page = visitor.open("?env=ice-slider&level=3000")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(f'.pad [data-action="{solution("ice-slider", 3000)[0]}"]').tap()
    expect(page.locator("#status")).to_contain_text("1 step;")
    page.evaluate(
        """() => {
            const board = document.getElementById("board");
            const touch = (type, clientX, clientY) =>
                board.dispatchEvent(new PointerEvent(type, { pointerType: "touch", clientX, clientY, bubbles: true }));
            touch("pointerdown", 100, 300);
            touch("pointerup", 180, 310);
        }"""
    )
    expect(page.locator("#status")).to_contain_text("2 steps;")
    assert parse_qs(urlsplit(page.url).query)["moves"][0][-1] == "r", "a swipe to the right is a move to the right"
    page.locator("#race").tap()
    expect(page.locator('[data-planner="full"] .verdict')).to_contain_text("after", timeout=60_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    small = page.evaluate("[...document.querySelectorAll('.pad button')].filter(b => b.offsetHeight < 40).length")
    assert small == 0
    visitor.leave()


@pytest.mark.parametrize("width", [1280, 390])
def test_an_own_environment_is_played_and_planned(browser: Browser, width: int) -> None:
    with corridor_models() as models, running(models) as address:
        visitor = Visitor(browser, address, viewport={"width": width, "height": 900})
        page = visitor.open("?level=1")  # its corridor begins in the fourth of six places
        status, planned = page.locator("#status"), page.locator("#planned li")
        expect(page.locator("#puzzles [aria-checked=true]")).to_have_text("tests.own_worlds:corridor")
        box = page.locator("#board").bounding_box()
        assert box is not None and box["width"] == pytest.approx(1.5 * box["height"], rel=0.02)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.keyboard.press("1")
        expect(status).to_have_text("1 step.")
        page.locator('.pad [data-action="0"]').click()
        expect(status).to_have_text("2 steps.")
        page.keyboard.press("9")  # there are but two actions
        page.keyboard.press("p")
        expect(planned).to_have_text(["1"] * 4)
        expect(page.locator("#facts")).to_contain_text("Found: 4 moves 1, 1, 1, 1")
        page.keyboard.press("e")
        expect(status).to_have_text("Solved in 6 steps.")
        expect(page.locator("#planned .taken")).to_have_count(4)
        page.keyboard.press("u")
        page.locator("#choose").click()
        expect(page.locator("#goal-note")).to_have_text("Reached in 1 move from the start")
        page.keyboard.press("r")
        expect(status).to_have_text("0 steps.")
        assert query_of(page)["goal"] == "1"
        other = Visitor(browser, address)
        there = other.open(page.url.removeprefix(f"{address}/"))
        expect(there.locator("#goal-note")).to_have_text("Reached in 1 move from the start")
        there.locator("#race").click()
        expect(there.locator('[data-planner="full"].winner')).to_be_visible(timeout=60_000)
        with there.expect_download() as download:
            there.locator("#save-png").click()
        assert download.value.suggested_filename == "own-1.png"
        there.locator('#puzzles [data-value="ice-slider"]').click()
        expect(there.locator(".pad button")).to_have_count(4)
        visitor.leave()
        other.leave()


def test_api_page_is_made_without_another_server(visitor: Visitor) -> None:
    visitor.page.goto(f"{visitor.address}/docs")
    visitor.page.wait_for_selector("html[data-ready]")
    expect(visitor.page.locator("#operations details")).to_have_count(17)
    expect(visitor.page.locator("#messages details")).to_have_count(6)


def test_goals_of_an_own_environment_that_are_not_one_picture(browser: Browser) -> None:
    env = start()
    mask = np.zeros(env.draw(0).shape[:2], bool)
    mask[:, 3 * SIDE :] = True  # the agent is not in the right half
    files = [
        {"name": "goal.png", "mimeType": "image/png", "buffer": base64.b64decode(text)}
        for text in (picture(env.draw(0), mask), picture(env.draw(CELLS - 2)))
    ]
    with corridor_models(UNSHOWN, Taught()) as models, running(models) as address:
        visitor = Visitor(browser, address)
        page = visitor.open("?level=1")
        expect(page.locator("#goal-frame")).to_have_text("solved")
        expect(page.locator("#goal-note")).to_contain_text("by the model's goal test")
        page.locator("#execute").click()
        expect(page.locator("#status")).to_contain_text("Solved in 2 steps")
        page.locator("#restart").click()
        page.locator("#upload").set_input_files(files[:1])
        expect(page.locator("#goal-note")).to_have_text("What is grey does not matter")
        page.locator("#plan").click()
        expect(page.locator("#planned li")).to_have_text(["0"])
        page.locator("#upload").set_input_files(files)
        expect(page.locator("#goal-note")).to_contain_text("Any of 2 pictures")
        page.locator("#own-goal").click()
        expect(page.locator("#goal-frame")).to_have_text("solved")
        visitor.leave()
