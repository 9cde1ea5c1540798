"""The command that serves the page."""

from __future__ import annotations

from pathlib import Path


def web(
    *,
    env: str | None = None,
    model: str | None = None,
    heuristic: Path | None = None,
    calibration: Path | None = None,
    option: tuple[str, ...] = (),
    host: str = "127.0.0.1",
    port: int = 8000,
    open: bool = True,
    static: Path | None = None,
    runtime: Path | None = None,
) -> None:
    """Serve a page where you can play the puzzles, or your own environment, and watch the planner think.

    Example: pixelplan web --model runs/ice-model
    Example: pixelplan web --env examples.sokoban:make --model runs/sokoban-model
    Example: pixelplan web --static runs/page

    Args:
        env: What the page opens with: your own environment (package.module:function or a Gymnasium id), which needs its
            own model, or a puzzle. The puzzles are always there.
        model: A folder that train wrote, or oracle for the true rules; by default the shipped model of each puzzle.
        heuristic: A folder that train-heuristic wrote for the model of --env: planners then search best-first.
        calibration: A record of evaluate --planner one-shot with the same model and search (with a heuristic:
            --frontier best-first --weight 3 --node-limit 20000): the page then says how likely plans are to succeed.
        option: Options of the puzzle or environment as name=value, such as size=16 pixels=128.
        host: The address or name to listen on. Anything but the default lets others on the network in.
        port: The port to listen on; 0 takes a free one.
        open: Open the page in a browser, if there is a screen.
        static: Instead of serving, write the page into this new folder as plain files for any file server; playing,
            editing and planning then happen in the browser alone. Only for the puzzles.
        runtime: For static: the npm package onnxruntime-web as a .tgz file; by default npm fetches it.
    """
    from pixelplan.cli.options import parse_family
    from pixelplan.envs.noise_config import Noise
    from pixelplan.types import InputError
    from pixelplan.web.launch import serve

    if static is not None:
        if env is not None or option:
            raise InputError("the page without a server knows only the puzzles; leave out --env and --option")
        from pixelplan.web.folder import write_folder
        from pixelplan.web.launch import check_extra

        check_extra()
        write_folder(static, model, runtime)
        size = sum(path.stat().st_size for path in static.rglob("*") if path.is_file()) / 1e6
        print(f"{static}: {size:.1f} MB; serve it with any file server, such as python -m http.server -d {static}")
        return
    if runtime is not None:
        raise InputError("--runtime is for --static")
    if option and env is None:
        raise InputError("--option belongs to --env; name the puzzle or environment as well")
    family = None if env is None else parse_family(env, option, None, Noise())
    serve(model, host, port, open, family, heuristic, calibration)
