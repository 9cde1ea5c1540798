"""Draw a level, bring a picture, look into the machine, race it, count, learn: in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="the browser tests need playwright")

from PIL import Image
from playwright.sync_api import Browser, expect

from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.drawn_levels import as_drawable
from tests.web.browser import BROWSER, KEYS, Visitor, point_at_cell, query_of, solution

pytestmark = BROWSER


def test_a_level_is_painted_planned_and_shared(visitor: Visitor, browser: Browser, address: str) -> None:
    puzzle = make_puzzle("ice-slider")
    drawing = as_drawable(puzzle).drawing(get_level(puzzle, 3001))
    page = visitor.open("?env=ice-slider&level=3001")
    page.locator("#edit").click()
    rock = next(cell for cell, kind in enumerate(drawing.cells) if kind == "1")
    page.locator('#kinds [data-value="0"]').click()
    page.mouse.click(*point_at_cell(page, rock))
    cells = drawing.cells[:rock] + "0" + drawing.cells[rock + 1 :]
    expect(page.locator("#level")).to_have_value("drawn")
    assert query_of(page)["level"] == f"{drawing.start}-{drawing.goal}-{cells}"
    page.locator('#kinds [data-value="goal"]').click()
    page.mouse.click(*point_at_cell(page, rock))
    expect(page.locator("#status")).to_contain_text("0 steps")
    page.wait_for_function("goal => new URL(location).searchParams.get('level').split('-')[1] === goal", arg=str(rock))
    page.locator("#edit-done").click()
    page.locator("#plan").click()
    expect(page.locator("#why-words")).to_contain_text("goal")
    other = Visitor(browser, address)
    there = other.open(page.url.removeprefix(f"{address}/"))
    expect(there.locator("#level")).to_have_value("drawn")
    expect(there.locator("#status")).to_have_text(page.locator("#status").inner_text())
    other.context.close()
    with page.expect_download() as download:
        page.locator("#save-png").click()
    assert download.value.suggested_filename == "ice-slider-drawn.png"


def test_a_level_is_made_harder(visitor: Visitor, name: str) -> None:
    # The page tries changes at random, and in some attempts no change makes a maze harder.
    seeded = "let state = 1; Math.random = () => (state = (state * 48271) % 2147483647) / 2147483647;"
    visitor.context.add_init_script(seeded)
    page = visitor.open(f"?env={name}&level=3002")
    page.locator("#edit").click()
    before = len(solution(name, 3002))
    page.locator("#harder").click()
    expect(page.locator("#notice")).to_contain_text("The shortest solution now has")
    moves = "Number(/shortest solution has (\\d+)/.exec(document.getElementById('status').textContent)?.[1])"
    page.wait_for_function(f"before => {moves} > before", arg=before)


def test_a_maze_is_painted_with_keys(visitor: Visitor) -> None:
    page = visitor.open("?env=procgen-maze&level=3005")
    page.locator("#edit").click()
    page.locator('#kinds [data-value="0"]').click()
    page.locator("#board").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_function("() => new URL(location).searchParams.get('level').split('-')[2]?.[1] === '0'")


@pytest.mark.parametrize("how", ["chosen", "pasted", "dropped"])
def test_a_picture_is_cropped_and_planned_from(visitor: Visitor, how: str, tmp_path: Path) -> None:
    level = get_level(make_puzzle("ice-slider"), 3004)
    whole = Image.new("RGB", (700, 500), (30, 30, 40))  # a screenshot with the board somewhere in it
    whole.paste(Image.fromarray(level.frame(level.start)).resize((320, 320), Image.Resampling.NEAREST), (300, 100))
    path = tmp_path / "screen.jpg"
    whole.save(path, quality=75)
    page = visitor.open("?env=ice-slider&level=3000")
    if how == "chosen":
        page.locator("#bring").click()
        page.locator("#crop-file").set_input_files(path)
    else:
        page.evaluate(
            """([bytes, how]) => {
                const files = new DataTransfer();
                files.items.add(new File([new Uint8Array(bytes)], "screen.jpg", { type: "image/jpeg" }));
                const event = how === "pasted"
                    ? new ClipboardEvent("paste", { clipboardData: files, bubbles: true })
                    : new DragEvent("drop", { dataTransfer: files, bubbles: true });
                document.body.dispatchEvent(event);
            }""",
            [list(path.read_bytes()), how],
        )
    expect(page.locator("#crop-tools")).to_be_visible()
    page.locator("#crop-size").fill("320")
    box = page.locator("#crop-picture").bounding_box()
    assert box is not None
    scale = box["width"] / 700
    begin = (box["x"] + 350 * scale, box["y"] + 250 * scale)  # the square is in the middle: 190 to 510, 90 to 410
    page.mouse.move(*begin)
    page.mouse.down()
    page.mouse.move(begin[0] + 110 * scale, begin[1] + 10 * scale, steps=5)
    page.mouse.up()
    page.locator("#crop-picture").focus()
    for _ in range(3):  # and back and forth by single pixels
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
    page.locator("#crop-read").click()
    expect(page.locator("#notice")).to_contain_text("agree with the true rules")
    expect(page.locator("#notice")).to_contain_text("It sees the agent where it is;")
    drawing = as_drawable(make_puzzle("ice-slider")).drawing(level)
    assert query_of(page)["level"] == str(drawing)
    page.locator("#plan").click()
    expect(page.locator("#facts")).to_contain_text(f"Found: {len(solution('ice-slider', 3004))} moves")
    expect(page.locator("#why-words")).to_contain_text("leads to the goal")


def test_nodes_show_what_they_stand_for_and_are_gone_to(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3001&show=plan")
    expect(page.locator("#why-words")).to_contain_text("leads to the goal")
    before = page.evaluate("document.querySelector('#board canvas').toDataURL()")
    page.locator("#graph").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#tip")).to_contain_text("imagined correctly")
    page.wait_for_function("before => document.querySelector('#board canvas').toDataURL() !== before", arg=before)
    expect(page.locator("#board")).to_have_class(re.compile("imagined"))
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("1 step;")


def test_the_timeline_leads_back(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3001&planner=one-shot&show=run")
    expect(page.locator("#status")).to_contain_text("Solved in")
    page.locator("#timeline").scroll_into_view_if_needed()
    box = page.locator("#timeline svg").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2 * 15 + 5, box["y"] + 50)
    expect(page.locator("#board")).to_have_class(re.compile("imagined"))
    page.mouse.click(box["x"] + 2 * 15 + 5, box["y"] + 50)
    expect(page.locator("#status")).to_contain_text("2 steps")


def test_you_race_the_machine_and_get_a_card(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3000")
    page.keyboard.press(KEYS[solution("ice-slider", 3000)[0]])
    page.locator("#race").click()
    expect(page.locator("#status")).to_contain_text("0 steps")
    for action in solution("ice-slider", 3000):
        page.keyboard.press(KEYS[action])
    you = page.locator('[data-planner="you"]')
    expect(you.locator(".verdict")).to_contain_text(f"solved after {len(solution('ice-slider', 3000))} steps")
    expect(page.locator("#card")).to_be_visible()
    expect(you).to_have_class("lane winner")
    with page.expect_download() as download:
        page.locator("#card-save").click()
    assert download.value.suggested_filename == "pixelplan-race.png"
    assert Image.open(download.value.path()).size == (720, 400)
    page.keyboard.press("u")
    expect(page.locator("#race-panel")).to_be_hidden()


def test_the_level_of_the_day_is_the_same_for_everyone(visitor: Visitor, browser: Browser, address: str) -> None:
    page = visitor.open("?env=ice-slider&level=3000")
    page.clock.set_fixed_time("2026-03-01T12:00:00")
    page.locator("#today").click()
    page.wait_for_function("() => document.getElementById('level').value !== '3000'")
    number = int(page.locator("#level").input_value())
    assert 3000 <= number < 10_000
    page.clock.set_fixed_time("2026-03-02T12:00:00")
    page.locator("#today").click()
    page.wait_for_function("number => document.getElementById('level').value !== number", arg=str(number))


def test_a_model_that_errs_shows_where(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3000")
    page.locator("#models").select_option("ice-slider-10-levels")
    expect(page.locator("#model-note")).to_contain_text("only 10 levels")
    assert query_of(page)["model"] == "ice-slider-10-levels"
    page.locator("#plan").click()
    expect(page.locator("#why-words")).to_contain_text("the model is wrong: what it predicts and what is seen are")
    expect(page.locator("#why-predicted canvas")).to_be_visible()
    page.locator("#read").click()
    expect(page.locator("#notice")).to_contain_text("disagree with the true rules")
    page.locator("#execute").click()
    expect(page.locator("#log")).to_contain_text("Replan", timeout=60_000)
    expect(page.locator("#facts")).to_contain_text("of thinking", timeout=60_000)


def test_noise_is_added_to_the_pictures(visitor: Visitor) -> None:
    page = visitor.open("?env=ice-slider&level=3000")
    page.locator("#models").select_option("~40")
    expect(page.locator("#model-note")).to_contain_text("standard deviation 40")
    assert query_of(page)["level"] == "3000~40"
    page.locator("#next").click()
    expect(page.locator("#level")).to_have_value("3001~40")
    page.locator("#plan").click()
    expect(page.locator("#facts")).to_contain_text("ms.")


def test_many_levels_are_played_and_stopped(visitor: Visitor) -> None:
    page = visitor.open("?env=digit-jump&level=3000")
    page.locator("#play-many").click()
    row = page.locator('.score[data-planner="full"]')
    expect(row.locator(".words")).to_contain_text("95 % interval")
    page.locator("#score-stop").click()
    played = row.get_attribute("data-played")
    page.wait_for_timeout(500)
    assert row.get_attribute("data-played") == played


def test_a_file_that_is_no_picture_is_reported(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address)
    page = visitor.open("?env=ice-slider&level=3001")
    page.locator("#bring").click()
    nonsense = {"name": "photo.heic", "mimeType": "image/heic", "buffer": b"not for this browser"}
    page.locator("#crop-file").set_input_files(nonsense)
    expect(page.locator("#problem")).to_contain_text("not a picture that this browser can read")
    expect(page.locator("#crop")).to_be_hidden()
    page.evaluate(
        """() => {
          const brought = new DataTransfer();
          brought.items.add(new File(["a letter"], "letter.pdf", { type: "application/pdf" }));
          document.getElementById("problem").hidden = true;
          document.dispatchEvent(new DragEvent("drop", { dataTransfer: brought, cancelable: true }));
        }"""
    )
    expect(page.locator("#problem")).to_be_visible()
    visitor.leave()
