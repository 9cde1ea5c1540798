"""The page as a folder of plain files, in a real browser and without a server of ours."""

from __future__ import annotations

import functools
import http.server
import io
import re
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("playwright", reason="the browser tests need playwright")
pytest.importorskip("onnxruntime", reason="the page without a server needs the extra onnx")

from PIL import Image
from playwright.sync_api import Browser, Page, expect

import pixelplan
from pixelplan.planning import PLANNERS, one_shot
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.drawn_levels import as_drawable
from pixelplan.web.folder import RUNTIME
from tests.conftest import one_sentence, run_command
from tests.web.browser import BROWSER, KEYS, Visitor, solution
from tests.web.npm import fetch

pytestmark = BROWSER


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A plain file server: no headers of its own, no log."""

    def log_message(self, format: str, *values: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, written by the command."""
    place = tmp_path_factory.mktemp("static")
    runtime = fetch(RUNTIME, place)
    run_command("web", "--static", str(place / "page"), "--runtime", str(runtime))
    return place / "page"


@pytest.fixture(scope="module")
def plain_server(folder: Path) -> Iterator[str]:
    """Its address on a plain file server, in a folder of that server."""
    handler = functools.partial(Quiet, directory=str(folder.parent))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/page"
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.fixture
def guest(browser: Browser, plain_server: str) -> Iterator[Visitor]:
    """A visitor who must see no error and no other server."""
    visitor = Visitor(browser, plain_server)
    yield visitor
    visitor.leave()


def call(page: Page, body: str, argument: Any = None) -> Any:
    """What a function of the page's own modules returns."""
    return page.evaluate(f"async (argument) => {{ {body} }}", argument)


def test_it_is_small_and_contacts_no_other_server(folder: Path) -> None:
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 20_000_000
    assert "http" not in (folder / "index.html").read_text().replace("http-equiv", "")


@pytest.mark.parametrize("env", ["ice-slider", "digit-jump"])
def test_levels_are_pythons_own(guest: Visitor, env: str) -> None:
    page = guest.open("?env=ice-slider&level=3000")
    puzzle = make_puzzle(env)
    made = call(
        page,
        """const [{ drawLevel }, { write, moves, shortest }] =
               await Promise.all([import("./static/levels.js"), import("./static/rules.js")]);
           return Array.from({ length: 1000 }, (_, number) => {
               const drawing = drawLevel(argument, number);
               const table = [...drawing.cells].map((_, cell) => moves(argument, drawing, cell));
               return [write(drawing), table, shortest(argument, drawing)];
           });""",
        env,
    )
    for number, (text, table, way) in enumerate(made):
        level = get_level(puzzle, number)
        assert text == str(as_drawable(puzzle).drawing(level)), number
        standing = [*level.starts.tolist(), level.goal]
        np.testing.assert_array_equal(np.array(table)[standing], level.successors[standing, :4], str(number))
        assert tuple(way) == level.shortest_path(level.start), number


def test_frames_are_pythons_own(guest: Visitor, name: str) -> None:
    page = guest.open("?env=ice-slider&level=3000")
    level = get_level(make_puzzle(name), 3003)
    drawn = call(
        page,
        """const { frame } = await import("./static/api.js");
           const canvas = await frame(argument, 3003, 0);
           const all = [];
           for (const state of [0, 9, 20, 37]) {
               const canvas = await frame(argument, 3003, state);
               all.push([...canvas.getContext("2d").getImageData(0, 0, 64, 64).data]);
           }
           return all;""",
        name,
    )
    for state, pixels in zip((0, 9, 20, 37), drawn, strict=True):
        if name == "ice-slider" and state not in level.starts:
            continue
        np.testing.assert_array_equal(np.array(pixels).reshape(64, 64, 4)[..., :3], level.frame(state))


def test_plans_are_pythons_own(guest: Visitor, name: str) -> None:
    page = guest.open("?env=ice-slider&level=3000")
    model = pixelplan.load(name)
    planned = call(
        page,
        """const { begin, plan } = await import("./static/api.js");
           const all = [];
           for (let level = 3000; level < 3020; level++) {
               const game = await begin({ env: argument, level });
               const { actions, reached, solves, nodes, leaves, parts, graph } = await plan(game.id);
               all.push({ actions, reached, solves, nodes, leaves, parts, right: graph.right });
           }
           return all;""",
        name,
    )
    for number, mine in enumerate(planned, start=3000):
        level = get_level(make_puzzle(name), number)
        right = one_shot(model, level.frame(level.start), level.frame(level.goal))
        assert mine["reached"] and mine["solves"] and mine["parts"] is None and all(mine["right"])
        assert (len(mine["actions"]), mine["nodes"], tuple(mine["leaves"])) == (
            len(right.actions), right.nodes, right.leaves
        ), number  # fmt: skip


def test_games_played_at_once_do_not_mix_up_their_levels(guest: Visitor) -> None:
    """They share a model; every one of them goes by what the model read of its own level."""
    page = guest.open("?env=ice-slider&level=3000")
    played = call(
        page,
        """const { begin, listen } = await import("./static/api.js");
           const score = async (level) => {
               const game = await begin({ env: "ice-slider", level });
               const levels = [];
               for await (const { solved, steps, shortest } of
                       listen(`/api/games/${game.id}/score?planner=one-shot&levels=10`).messages)
                   levels.push([solved, steps - shortest]);
               return levels;
           };
           return Promise.all([3000, 3010].map(score));""",
    )
    assert played == [[[True, 0]] * 10] * 2


def test_it_plays_plans_executes_and_races(guest: Visitor, name: str) -> None:
    page = guest.open(f"?env={name}&level=3001")
    page.keyboard.press(KEYS[solution(name, 3001)[0]])
    expect(page.locator("#status")).to_contain_text("1 step;")
    page.keyboard.press("r")
    page.locator("#plan").click()
    expect(page.locator("#why-words")).to_contain_text("this plan leads to the goal")
    page.locator("#execute").click()
    expect(page.locator("#facts")).to_contain_text("Solved after")
    expect(page.locator("#status")).to_contain_text("Solved in")
    page.locator("#race").click()
    for planner in PLANNERS:
        expect(page.locator(f'[data-planner="{planner}"] .verdict')).to_contain_text("after")
    with page.expect_download() as download:
        page.locator("#save-png").click()
    assert Image.open(download.value.path()).size == (320, 320)


def test_it_edits_reads_scores_and_errs(guest: Visitor, tmp_path: Path) -> None:
    page = guest.open("?env=ice-slider&level=3002")
    page.locator("#edit").click()
    page.locator("#harder").click()
    expect(page.locator("#notice")).to_contain_text("The shortest solution now has")
    page.locator("#edit-done").click()
    page.locator("#plan").click()
    expect(page.locator("#facts")).to_contain_text("ms.")
    level = get_level(make_puzzle("ice-slider"), 3004)
    path = tmp_path / "level.jpg"
    Image.fromarray(level.frame(level.start)).resize((256, 256), Image.Resampling.NEAREST).save(path, quality=75)
    page.locator("#bring").click()
    page.locator("#crop-file").set_input_files(path)
    page.locator("#crop-read").click()
    expect(page.locator("#notice")).to_contain_text("agree with the true rules")
    page.locator("#plan").click()
    expect(page.locator("#facts")).to_contain_text(f"Found: {len(solution('ice-slider', 3004))} moves")
    guest.open("?env=ice-slider&level=3000&model=ice-slider-10-levels")
    page.locator("#plan").click()
    expect(page.locator("#why-words")).to_contain_text("the model is wrong")
    page.locator("#execute").click()
    expect(page.locator("#log")).to_contain_text("Replan", timeout=60_000)
    guest.open("?env=digit-jump&level=3000")
    page.locator("#play-many").click()
    for planner in PLANNERS:  # side by side: none waits until another has played its 100 levels
        expect(page.locator(f'.score[data-planner="{planner}"] .words')).to_contain_text(
            "95 % interval", timeout=120_000
        )
    assert all(int(row.get_attribute("data-played") or 0) < 100 for row in page.locator(".score").all())
    page.locator("#score-stop").click()


def test_a_damaged_or_missing_model_is_named_and_the_next_try_can_work(
    browser: Browser, plain_server: str, folder: Path
) -> None:
    path = folder / "models" / "ice-slider" / "step.onnx"
    whole = path.read_bytes()
    visitor = Visitor(browser, plain_server, service_workers="block")
    page = visitor.open("?env=ice-slider&level=3001")
    try:
        for left, words in ((whole[:-9] + b"damaged!!", "is damaged"), (None, "did not arrive")):
            path.write_bytes(left) if left is not None else path.unlink()
            page.locator("#plan").click()
            expect(page.locator("#problem")).to_contain_text(f"ice-slider/step.onnx {words}")
    finally:
        path.write_bytes(whole)
    page.locator("#plan").click()
    expect(page.locator("#why-words")).to_contain_text("this plan leads to the goal")
    visitor.context.close()


def test_both_interfaces_have_the_same_functions(guest: Visitor) -> None:
    served = (Path(pixelplan.__file__).parent / "web" / "static" / "api.js").read_text()
    wanted = set(re.findall(r"export (?:async )?(?:const|function|class) (\w+)", served))
    page = guest.open("?env=ice-slider&level=3000")
    assert wanted <= set(call(page, 'return Object.keys(await import("./static/api.js"));'))


def folder_entry(name: str) -> tarfile.TarInfo:
    """A folder in an archive."""
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.DIRTYPE
    return entry


def test_what_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert "is not empty" in one_sentence(run_command("web", "--static", str(tmp_path / "full"), code=2))
    broken = tmp_path / "broken.tgz"
    target = tmp_path / "page"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("package/dist/ort.wasm.min.mjs"), io.BytesIO())
        archive.addfile(folder_entry("package/dist/ort-wasm-simd-threaded.mjs"))
    damaged = bytearray(packed.getvalue())
    damaged[30] ^= 255
    for data in (b"nothing", packed.getvalue(), packed.getvalue()[:-20], bytes(damaged)):
        broken.write_bytes(data)
        output = one_sentence(run_command("web", "--static", str(target), "--runtime", str(broken), code=2))
        assert "is not the package onnxruntime-web" in output and not target.exists()
    for words in (["--env", "ice-slider"], ["--option", "size=16"]):
        output = one_sentence(run_command("web", *words, "--static", str(target), code=2))
        assert "leave out --env and --option" in output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.tgz", "full"], "nothing is left behind"
