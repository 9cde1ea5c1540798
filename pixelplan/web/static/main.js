// The page: what the visitor does, what the server answers, and what is shown.

import { directionOf, named, ofKey } from "./actions.js";
import * as api from "./api.js";
import * as address from "./address.js";
import { copy, download, find, keep, segments, theme } from "./dom.js";
import { attempt, board, graph, inTurn, page, remember, report, timeline } from "./page.js";
import { editing, edit, listenToPainter, paintKey } from "./editor.js";
import { begin, isNew, listenToNewcomer } from "./first.js";
import { listenToPictures } from "./crop.js";
import {
  aim,
  aimAtPictures,
  aimAtState,
  choose,
  chosen,
  goTo,
  move,
  open,
  openLevel,
  openNext,
  plain,
  restart,
  undo,
  wanted,
} from "./play.js";
import { forgetThoughts, setTheme, showGame, showGrid } from "./show.js";
import { showReading } from "./reading.js";
import { splitNoise } from "./rules.js";
import { execute, plan, playMany, race, stopAct } from "./think.js";

const LAYOUTS = [
  ["goal", "Goal", "How far every node is from the goal"],
  ["map", "PCA", "The two directions in which the embeddings differ most"],
  ["layers", "Layers", "By the number of actions from the start"],
];
page.choices.layout = segments(find("layouts"), LAYOUTS, (layout) => graph.setLayout(layout));

function listenToVisitor() {
  find("level-form").addEventListener("submit", (event) => event.preventDefault());
  find("level").addEventListener("change", () => inTurn(() => open({ env: page.env, level: wanted() })));
  find("previous").onclick = () => openNext(-1);
  find("next").onclick = () => openNext(1);
  find("random").onclick = () => openLevel(3000 + Math.floor(Math.random() * 7000)); // neither trained nor judged on
  find("today").onclick = () => openLevel(ofTheDay());
  find("pad").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) move(Number(button.dataset.action));
  });
  find("undo").onclick = undo;
  find("restart").onclick = restart;
  find("plan").onclick = () => inTurn(plan);
  find("execute").onclick = () => inTurn(execute);
  find("race").onclick = () => inTurn(race);
  find("play-many").onclick = () => inTurn(playMany);
  find("score-stop").onclick = () => inTurn(stopAct);
  find("read").onclick = () => inTurn(() => showReading());
  find("models").onchange = (event) => inTurn(() => thinkWith(event.target.value));
  find("stop").onclick = () => inTurn(stopAct);
  find("choose").onclick = () => choose(!page.choosing);
  find("goal-frame").onclick = () => choose(true);
  find("own-goal").onclick = () => inTurn(() => aim({}));
  find("upload").onchange = (event) => {
    const files = [...event.target.files];
    if (files.length) inTurn(() => aimAtPictures(files));
    event.target.value = "";
  };
  find("grid").onclick = () => showGrid(find("grid").getAttribute("aria-pressed") !== "true");
  find("share").onclick = async () => {
    find("share").textContent = (await copy(location.href)) ? "Copied" : "Copy it from the address bar";
    setTimeout(() => (find("share").textContent = "Copy link"), 2500);
  };
  for (const ending of ["png", "gif"])
    find(`save-${ending}`).onclick = (event) => {
      event.preventDefault();
      const path = event.currentTarget.getAttribute("href");
      const name = `${page.env}-${plain(page.number) ?? "drawn"}.${ending}`;
      inTurn(async () => download(await api.picture(path), name));
    };
  find("theme").onclick = () => {
    const other = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    keep("theme", other);
    setTheme(other);
  };
  find("strip").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) inTurn(() => aimAtState(Number(button.dataset.state)));
  });
  board.box.addEventListener("click", (event) => {
    const place = board.placeAt(event);
    if (page.choosing && place) chosen(place);
  });
  board.box.addEventListener(
    "pointermove",
    (event) => page.choosing && board.showCursor(board.placeAt(event) ?? page.choosing),
  );
  let touched = null; // where a finger came down
  board.box.addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch" && !page.choosing ? [event.clientX, event.clientY] : null;
  });
  board.box.addEventListener("pointerup", (event) => {
    if (!touched) return;
    const [x, y] = [event.clientX - touched[0], event.clientY - touched[1]];
    touched = null;
    if (Math.max(Math.abs(x), Math.abs(y)) < 24) return;
    const across = Math.abs(x) > Math.abs(y);
    const action = named(across ? (x > 0 ? "right" : "left") : y > 0 ? "down" : "up");
    if (action >= 0) move(action);
  });
  listenToPainter();
  listenToPictures();
  listenToNewcomer();
  graph.onpoint = imagine;
  graph.onjump = (actions) => page.show === "plan" && goTo([...page.game.actions, ...actions]);
  timeline.onpoint = (step) => follow(step ? step.state : null, step ? step.agrees : true);
  timeline.onjump = (step) => page.ran && !page.act && goTo(page.game.actions.slice(0, page.ran.since + step.step));
  document.addEventListener("keydown", pressed);
  addEventListener("popstate", () => inTurn(restore));
}

/** The board shows what a node stands for: the true frame of the state to which its moves really lead. */
function imagine(node) {
  const { states = [], right = [] } = graph.plan?.graph ?? {};
  follow(node >= 0 ? (states[node] ?? null) : null, right[node]);
}

function follow(state, right) {
  if (!page.game || page.act) return; // a run has the board
  board.box.classList.toggle("imagined", state !== null && right);
  board.box.classList.toggle("wrong", state !== null && !right);
  board.show(state ?? page.game.state).catch(report);
}

/** Another model, or noise on the usual one's frames; the level stays. */
function thinkWith(choice) {
  const [level] = splitNoise(page.number);
  const noise = choice.startsWith("~") ? choice : "";
  const name = noise || plain(level) === null ? level + noise : Number(level);
  return open({ env: page.env, level: name, model: noise ? "" : choice });
}

/** The level of the day, by the visitor's calendar; among levels that no model was trained or judged on. */
function ofTheDay(now = new Date()) {
  const day = Math.floor(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / 86_400_000);
  return 3000 + ((day * 2654435761) % 7000);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("#level, dialog, select")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key.startsWith("Arrow") && event.target.closest("input, [role=radiogroup], #graph")) return; // they use them themselves
  if (editing() && !event.target.closest("button") && paintKey(key)) return event.preventDefault();
  if (page.choosing) {
    if (key === "Escape") (choose(false), showGame());
    else if (key === "Enter" || key === " ") chosen(page.choosing);
    else if (directionOf(key)) board.showCursor((page.choosing = board.neighbour(page.choosing, directionOf(key))));
    else return;
    return event.preventDefault();
  }
  const keys = {
    u: undo,
    r: restart,
    g: () => choose(true),
    p: () => inTurn(plan),
    e: () => inTurn(execute),
    n: () => openNext(1),
  };
  if (ofKey(key) >= 0) move(ofKey(key));
  else if (key in keys) keys[key]();
  else return;
  event.preventDefault();
}

async function restore() {
  const wish = address.read(page.env);
  if (page.planners.some(({ name }) => name === wish.planner)) page.planner = wish.planner;
  else if (wish.planner !== null) wish.problems.push(`There is no planner “${wish.planner.slice(0, 40)}”.`);
  page.choices.planner.show(page.planner);
  const { moves, goal, goal_moves, problems } = wish;
  let env = wish.env;
  if (!page.puzzles.some((puzzle) => puzzle.name === env)) {
    problems.push(`There is no puzzle “${env.slice(0, 40)}”; choose one of these.`);
    env = page.env;
  }
  let level = page.number;
  const { model } = wish;
  const tries = [() => open({ env, level, model, moves, goal, goal_moves }, false), () => open({ env, level }, false)];
  try {
    if (wish.level !== null) level = wanted(wish.level);
    await tries[0]();
  } catch (problem) {
    if (!(problem instanceof api.Problem) || problem.status !== 422) throw problem;
    problems.push(problem.message);
    await tries[1]();
  }
  if (problems.length) throw new api.Problem(422, `${problems.join(" ")} This is level ${level} as it begins.`);
  const shows = { plan, run: execute, race };
  if (wish.show) await shows[wish.show]();
}

async function start() {
  const first = isNew(); // soon the page has an address
  setTheme(theme());
  [page.puzzles, page.planners] = await Promise.all([api.puzzles(), api.planners()]);
  page.env = page.puzzles[0].name;
  const planners = page.planners.map(({ name, title, about }) => [name, title, about[0].toUpperCase() + about.slice(1)]);
  page.choices.planner = segments(find("planners"), planners, (planner) => {
    page.planner = planner;
    if (!page.act) forgetThoughts(); // what is shown was another planner's
    remember();
  });
  const choices = page.puzzles.map((puzzle) => [puzzle.name, puzzle.title, ""]);
  page.choices.puzzle = segments(find("puzzles"), choices, (env) =>
    inTurn(() => (edit(false), open({ env, level: plain(page.number) ?? 3000 }))),
  );
  listenToVisitor();
  await attempt(restore);
  document.documentElement.dataset.ready = "yes";
  if (first) begin();
}

attempt(start);
