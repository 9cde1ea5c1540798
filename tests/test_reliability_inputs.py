"""Nothing believed: models, records, pictures and options that are damaged or impossible are refused."""

from __future__ import annotations

import base64
import json
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import pixelplan
from pixelplan.by_name.open_model import SHIPPED
from pixelplan.exchange.picture_files import decode_picture
from pixelplan.experiments import demo
from pixelplan.files import level_numbers, parse_levels, read_json, write_json
from pixelplan.model.checkpoint import load_model
from pixelplan.puzzles import make_puzzle
from pixelplan.types import InputError
from pixelplan.web.uploads import decode as web_decode
from tests.conftest import one_sentence, run_command


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of a shipped model."""
    shutil.copytree(SHIPPED / "digit-jump", tmp_path / "model")
    return tmp_path / "model"


def test_flips_in_weights_are_noticed(model: Path) -> None:
    path, random = model / "weights.safetensors", np.random.default_rng(0)
    good = path.read_bytes()
    for place in random.integers(len(good), size=24):
        changed = bytearray(good)
        changed[place] ^= 1 << int(random.integers(8))
        path.write_bytes(changed)
        with pytest.raises(InputError, match=r"weights\.safetensors is damaged"):
            load_model(model)


def test_every_shipped_model_has_a_checksum_and_a_seal() -> None:
    for folder in SHIPPED.iterdir():
        if folder.is_dir():
            assert {"weights_sha256", "seal"} <= set(json.loads((folder / "config.json").read_text())), folder


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), -1, 0, None, "0.5", True])
def test_impossible_thresholds_are_refused(model: Path, threshold: object) -> None:
    write_json(model / "config.json", {**read_json(model / "config.json"), "threshold": threshold})
    with pytest.raises(InputError, match="threshold is"):
        load_model(model)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("sizes", "reach", 10**6),
        ("sizes", "rows", 10**9),
        ("sizes", "actions", 0),
        ("model", "encoder_blocks", 10**7),
        ("model", "dimensions", -3),
        ("model", "context_width", float("nan")),
    ],
)
def test_impossible_numbers_are_refused_before_networks_are_built(
    model: Path, part: str, name: str, value: float
) -> None:
    config = read_json(model / "config.json")
    write_json(model / "config.json", {**config, part: {**config[part], name: value}})
    with pytest.raises(InputError, match=f"{name} is "):
        load_model(model)


@pytest.mark.parametrize(
    ("part", "name", "value", "why"),
    [
        ("sizes", "glide", "7", "glide is 7"),
        ("data", "options", [1], "options of the data is"),
        ("data", "worlds", [3], "data is 3"),
        ("data", "worlds", [{"env": "x"}], "actions of a world"),
        ("data", "action_names", [None] * 5, "action_names of the data are"),
        ("findings", "warnings", 7, "what training found cannot be read"),
    ],
)
def test_a_config_of_another_form_is_refused(model: Path, part: str, name: str, value: object, why: str) -> None:
    config = read_json(model / "config.json")
    write_json(model / "config.json", {**config, part: {**config.get(part, {}), name: value}})
    with pytest.raises(InputError, match=why):
        load_model(model)


def test_possible_numbers_can_be_too_much_together(model: Path) -> None:
    config = read_json(model / "config.json")
    write_json(
        model / "config.json", {**config, "sizes": {**config["sizes"], "rows": 128, "columns": 128, "reach": 99}}
    )
    with pytest.raises(InputError, match="is too large"):
        load_model(model)
    wide = {**config["model"], "context_width": 512}
    write_json(model / "config.json", {**config, "model": wide, "sizes": {**config["sizes"], "reach": 40}})
    with pytest.raises(InputError, match="parameters"):
        load_model(model)


def test_an_edited_config_is_noticed_and_one_without_a_seal_is_read(model: Path) -> None:
    text = (model / "config.json").read_text()
    (model / "config.json").write_text(text.replace('"commit": "', '"commit": "x'))
    with pytest.raises(InputError, match="damaged or edited"):
        load_model(model)
    write_json(model / "config.json", {**json.loads(text), "data": None})
    assert "data is None" in one_sentence(run_command("inspect", model, code=2))
    (model / "config.json").write_text(json.dumps(read_json(SHIPPED / "digit-jump" / "config.json")))
    load_model(model)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shortest", {}),
        ("chance", {}),
        ("steps", 1.5),
        ("solved", 1),
        ("far", -1),
        ("error", 7),
        ("seconds", float("inf")),
    ],
)
def test_a_record_in_which_no_level_can_have_gone_so_is_refused(tmp_path: Path, name: str, value: object) -> None:
    words = [
        "evaluate",
        "--env",
        "digit-jump",
        "--model",
        "oracle",
        "--levels",
        "0:2",
        "--json",
        tmp_path / "record.json",
    ]
    run_command(*words)
    record = read_json(tmp_path / "record.json")
    record["episodes"][1][name] = value
    (tmp_path / "record.json").write_text(json.dumps(record))
    assert "its levels contradict themselves" in one_sentence(run_command(*words, "--resume", code=2))


def test_levels_are_counted_before_they_are_listed() -> None:
    with pytest.raises(InputError, match="too many for one command"):
        level_numbers(parse_levels("0:2000000000"))
    with pytest.raises(InputError, match="too far"):
        parse_levels("9" * 5000)


def test_a_picture_is_measured_before_it_is_read(tmp_path: Path) -> None:
    Image.new("1", (5000, 10)).save(tmp_path / "wide.png")
    with pytest.raises(InputError, match="5000 × 10 pixels"):
        decode_picture(tmp_path / "wide.png", "it")
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(50_000))), (b"IEND", b"")):
        bomb += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    (tmp_path / "bomb.png").write_bytes(bomb)
    with pytest.raises(InputError, match="it claims far too many pixels"):
        decode_picture(tmp_path / "bomb.png", "it")
    with pytest.raises(InputError, match="the picture claims far too many pixels"):
        web_decode(base64.b64encode(bomb).decode())


def test_noise_is_no_goal(tmp_path: Path) -> None:
    env = pixelplan.puzzles.get_level(pixelplan.puzzles.make_puzzle("ice-slider"), 3007)
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    for name, frame in (("start", env.frame(env.start)), ("goal", env.frame(env.goal)), ("noise", noise)):
        Image.fromarray(frame).save(tmp_path / f"{name}.png")
    words = ["solve", "--frame", tmp_path / "start.png", "--model", "ice-slider", "--goal"]
    assert run_command(*words, tmp_path / "goal.png").stdout.startswith("a plan of ")
    assert "no plan was found: 100% of the goal picture" in run_command(*words, tmp_path / "noise.png").stdout
    both = run_command(*words, tmp_path / "noise.png", tmp_path / "goal.png").stdout
    assert both.splitlines()[1:] == run_command(*words, tmp_path / "goal.png").stdout.splitlines()[1:]
    part = np.dstack([noise, np.zeros((64, 64), np.uint8)])
    part[16:32, 16:48, 3] = 255  # most of it does not matter, the rest is noise
    Image.fromarray(part).save(tmp_path / "part.png")
    assert "no plan was found: 100% of the goal picture" in run_command(*words, tmp_path / "part.png").stdout
    short = run_command(*words, tmp_path / "goal.png", "--depth-limit", "2").stdout
    assert short.startswith("no plan was found, ") and "actions away and" in short
    assert "seed is -1" in one_sentence(run_command(*words, tmp_path / "goal.png", "--seed", "-1", code=2))


def test_sentences_keep_their_brackets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object) -> None:
        raise InputError("install it with: pip install 'pixelplan[procgen]'")

    monkeypatch.setattr(demo, "PUZZLES", {"procgen-maze": demo.PUZZLES["procgen-maze"]})
    monkeypatch.setattr(demo, "get_level", missing)
    monkeypatch.setattr(demo, "sheet", lambda *_, **__: Image.new("RGB", (1, 1)))
    demo.demo(tmp_path)
    assert "pip install 'pixelplan[procgen]'" in capsys.readouterr().out.replace("\n", " ")


def test_a_word_for_a_number_is_refused_by_name() -> None:
    refused = run_command("web", "--port", "abc", code=2).stderr
    assert "--port" in refused and "'abc'" in refused and "Traceback" not in refused


@pytest.mark.parametrize("value", [[8], "8", {"a": 1}, 8.5])
def test_an_option_of_another_kind_is_refused(value):
    with pytest.raises(InputError, match=r"size of ice-slider cannot be .*; it is a whole number"):
        make_puzzle("ice-slider", size=value)
