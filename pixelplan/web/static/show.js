// What is shown: the game, the thoughts, the colours.

import { names, sequence, setNames, sign, tint } from "./actions.js";
import * as api from "./api.js";
import { colour, find, forgetColours, make, plural } from "./dom.js";
import { drawFrame } from "./frames.js";
import { board, chosenPlanner, graph, page, report, timeline } from "./page.js";
import { forgetReading } from "./reading.js";
import { splitNoise } from "./rules.js";
import { forgetWhy, sayWhy } from "./why.js";

const TRIANGLES = ["▲", "▶", "◀", "▼"]; // the puzzles' first actions

export function showGame(celebrate = false) {
  const { game } = page;
  board.show(game.state).catch(report);
  board.showAgent(game.way.at(-1));
  board.drawWay("trail", game.way, "trail");
  board.showGoal(game.goal);
  drawFrame(find("goal-frame"), game.goal.state);
  find("goal-note").textContent = goalNote(game.goal);
  find("own-goal").hidden = game.goal.own;
  const status = find("status");
  const steps = plural(game.actions.length, "step");
  const unknown = game.dead_end === null ? "" : "; the goal cannot be reached from the start";
  const best = game.shortest === null ? unknown : `; the shortest solution has ${game.shortest}`;
  status.className = `status ${game.solved ? "good" : game.dead_end ? "bad" : ""}`;
  if (game.solved)
    status.textContent = `Solved in ${steps}${game.actions.length === game.shortest ? ", which is the fewest possible. ★" : `${best}.`}`;
  else if (game.dead_end)
    status.textContent = `${steps}. The goal cannot be reached from here: ${game.actions.length ? "undo or restart" : "choose another goal"}.`;
  else status.textContent = `${steps}${best}.`;
  if (celebrate && game.solved) {
    board.box.classList.remove("celebrate");
    requestAnimationFrame(() => board.box.classList.add("celebrate"));
  }
  find("undo").disabled = find("restart").disabled = !game.actions.length;
  for (const ending of ["png", "gif"]) find(`save-${ending}`).href = api.pictureAddress(game.id, ending, page.ran);
  find("strip").replaceChildren(
    ...game.seen.map((state) => {
      const button = make("button", {
        type: "button",
        "aria-label": `State ${state}: choose as the goal`,
        "aria-pressed": String(state === game.goal.state),
        "data-state": state,
      });
      drawFrame(button, state);
      return button;
    }),
  );
  find("strip").scrollLeft = find("strip").scrollWidth;
}

function goalNote({ own, row, column, moves, note }) {
  if (own) return page.puzzle.goal;
  if (note) return note;
  if (row !== null) return `Row ${row + 1}, column ${column + 1}`;
  return moves ? `Reached in ${plural(moves.length, "move")} from the start` : "A picture that play has not met yet";
}

export function showGrid(on) {
  find("grid").setAttribute("aria-pressed", String(on));
  board.showGrid(on);
}

export function showPuzzle() {
  const { puzzle, level } = page;
  const cells = level.places.length > 0;
  setNames(puzzle.actions);
  showPad(cells);
  showLegend();
  showGrid(puzzle.name === "digit-jump"); // if digits touch, people cannot tell them apart
  find("grid").hidden = !cells;
  find("random").textContent = cells ? "Random unseen" : "Random";
  page.choices.puzzle.show(puzzle.name);
  const { trained } = puzzle.models.find(({ name }) => name === page.model) ?? puzzle;
  page.choices.layout.choose(trained ? "goal" : "layers"); // the true rules have no distances worth showing
  find("rules").textContent = puzzle.rules;
  find("edit").hidden = find("bring").hidden = find("read").hidden = find("play-many").hidden = !level.drawing;
  find("today").hidden = !level.drawing;
  showModels();
}

/** The models to choose from, and noise on the usual one's frames. */
function showModels() {
  const { puzzle, level } = page;
  const [, noise = ""] = splitNoise(page.number);
  const choices = puzzle.models.map(({ name, label }) => [name, label]);
  if (level.drawing && puzzle.models[0].trained)
    for (const strength of [40, 80])
      choices.splice(-1, 0, [`~${strength}`, `${choices[0][1]}, behind noise ${strength}`]);
  find("models").replaceChildren(...choices.map(([value, label]) => make("option", { value }, label)));
  find("models").value = noise ? `~${noise}` : page.model;
  const chosen = puzzle.models.find(({ name }) => name === page.model);
  const note = noise ? `Every picture has noise of standard deviation ${noise}.` : (chosen?.note ?? "");
  find("model-note").textContent = note;
  find("model-note").hidden = !note;
}

/** Buttons for the moves: arrows on a board of cells, names and keys in any other world. */
function showPad(cells) {
  const pad = find("pad");
  pad.classList.toggle("named", !cells);
  const all = names.map((name, action) => {
    const number = action < 9 ? action + 1 : null;
    const key = name === "no-op" ? number : (sign(action) ?? number); // directions have arrow keys
    const words = /^\d+$/.test(name) ? `action ${name}` : name; // a number alone would look like a key
    const label = cells ? [TRIANGLES[action]] : [words, ...(key ? [make("kbd", {}, key)] : [])];
    return make("button", { type: "button", "data-action": action, "aria-label": name }, ...label);
  });
  pad.replaceChildren(...(cells ? all.slice(0, TRIANGLES.length) : all)); // a puzzle's no-op needs no button
}

/** A plan: arrows on the board, or its actions by name if the agent's place is unknown. */
export function showWay({ way, actions }) {
  board.drawWay("way", way);
  find("planned").hidden = page.level.places.length > 0 || !actions.length;
  find("planned").replaceChildren(...actions.map((action) => make("li", {}, names[action])));
}

/** The next action of the plan was taken. */
export function tickOff() {
  find("planned").querySelector("li:not(.taken)")?.classList.add("taken");
}

export function forgetThoughts() {
  graph.clear();
  timeline.clear();
  board.clearPlan();
  forgetReading();
  forgetWhy();
  find("planned").hidden = true;
  find("facts").textContent = "";
  find("graph-empty").hidden = false;
  showPlanner();
}

/** A planner without a model imagines nothing: there is neither a plan to ask for nor a graph. */
export function showPlanner() {
  const { title, needs_model } = chosenPlanner();
  find("plan").disabled = !needs_model;
  const words = make("span");
  if (!needs_model)
    words.append(`${title} has no model and imagines nothing: press `, make("b", {}, "Execute"), " to see it try.");
  else
    words.append(
      "Press ",
      make("b", {}, "Plan"),
      ": the machine looks at the frame and the goal, and imagines every move, layer by layer, until what it imagines" +
        " looks like the goal.",
    );
  find("graph-empty").replaceChildren(words);
}

export function sayPlan(plan, depth, intent = "goal") {
  if (!plan.graph) return;
  const last = depth >= Math.max(...plan.graph.depth);
  const shown = plan.graph.depth.filter((level) => level <= depth).length;
  const expanded = plan.leaves.slice(0, last ? plan.leaves.length : depth).reduce((sum, count) => sum + count, 0);
  let merged = 0; // predictions that led to a node found before
  for (const [node, successors] of plan.graph.successors.entries())
    for (const [action, there] of successors.entries())
      if (
        there >= 0 &&
        plan.graph.depth[node] < depth &&
        !(plan.graph.parent[there] === node && plan.graph.action[there] === action)
      )
        merged++;
  const now = `${plural(shown, "node")}, ${plural(last ? plan.leaves.length : depth, "layer")}; of ${expanded * names.length} predictions ${merged} were reidentified as known nodes and merged`;
  const end = plan.reached
    ? `Found: ${plural(plan.actions.length, "move")} ${sequence(plan.actions)}`
    : intent === "explore"
      ? "No path to the goal is known yet: off to something new"
      : "Goal not found; the plan leads to the node nearest to it";
  const term = {
    class: "term",
    type: "button",
    popovertarget: "word-reidentified",
    "aria-label": "What is reidentified?",
  };
  find("facts").replaceChildren(
    make("b", {}, last ? `${end}. ` : `Layer ${depth}. `),
    `${now}. ${last ? `${(1000 * plan.seconds).toFixed(1)} ms. ` : ""}${last && plan.chance != null ? `Chance of success ${plan.chance.toFixed(2)}. ` : ""}`,
    ...(last ? [make("button", term, "?")] : []),
  );
  if (last && intent === "goal") sayWhy(plan);
}

export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  forgetColours();
  showLegend();
  graph.draw();
  timeline.draw();
}

export function showLegend() {
  const lines = names.slice(0, page.level?.places.length ? 4 : 9).map((name, action) => [tint(action), "", name]);
  const dots = [
    ["primary", "dot", "new"],
    ["node", "dot", "visited"],
    ["ink", "dot", "seen for real"],
    ["path", "", "the plan"],
    ["ring", "ring", "nearer than the threshold to the goal"],
    ["memory", "dashes", "memory's correction"],
  ];
  find("legend").replaceChildren(
    ...[...lines, ...dots].map(([name, kind, words]) => {
      const swatch = make("i", { class: kind });
      if (kind === "dot") swatch.style.background = colour(name);
      swatch.style.borderColor = colour(name);
      return make("span", {}, swatch, words);
    }),
  );
}
