// The planners side by side: each one's whole way, replayed at the same pace.

import { listen } from "./api.js";
import { Board } from "./board.js";
import { calm, find, make, plural, wait } from "./dom.js";

const ENDS = {
  solved: "solved",
  steps: "out of steps",
  exhausted: "stuck with nothing new in reach",
  "plan over": "the plan did not lead there",
  time: "out of time",
};

export function verdict(done) {
  const parts = [`${ENDS[done.ended] ?? done.ended} after ${plural(done.steps, "step")}`];
  if (done.plans) parts.push(plural(done.plans, "plan"), plural(done.nodes, "node"));
  parts.push(`${(1000 * done.seconds).toFixed(done.seconds < 0.01 ? 1 : 0)} ms of thinking`);
  return parts.join(", ");
}

export class Race {
  /** Starts at once from where the game stands. */
  constructor(game, level, planners, pace) {
    this.pace = pace;
    this.stopped = false;
    this.stream = listen(`/api/games/${game.id}/race`);
    find("race-panel").hidden = false;
    this.lanes = new Map();
    const boxes = planners.map(({ name, title }) => {
      const board = new Board(make("div", { class: "board" }));
      board.setLevel(level);
      board.show(game.state);
      board.showGoal(game.goal);
      const count = make("span", { class: "count" }, "…");
      const note = make("p", { class: "verdict" }, "thinking…");
      const box = make("div", { class: "lane", "data-planner": name }, make("h3", {}, title, count), board.box, note);
      this.lanes.set(name, { board, count, note, box, message: null });
      return box;
    });
    find("lanes").replaceChildren(...boxes);
    find("race-panel").scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  }

  stop() {
    this.stopped = true;
    this.stream.stop();
  }

  async play() {
    for await (const message of this.stream.messages) this.lanes.get(message.planner).message = message;
    const lanes = [...this.lanes.values()].filter((lane) => lane.message);
    if (this.stopped || !lanes.length) return;
    const longest = Math.max(...lanes.map((lane) => lane.message.done.steps));
    for (let step = 0; step <= longest && !this.stopped; step++) {
      for (const lane of lanes) if (step <= lane.message.done.steps) this.show(lane, step);
      const quick = step > 30 ? 0.3 : 1; // long searches are sped up once the planners with a model are through
      if (!calm()) await wait(this.pace.milliseconds * 0.7 * quick);
    }
    for (const lane of lanes) this.show(lane, lane.message.done.steps);
    const solved = lanes.filter((lane) => lane.message.done.solved);
    const best = Math.min(...solved.map((lane) => lane.message.done.steps));
    for (const lane of solved) if (lane.message.done.steps === best) lane.box.classList.add("winner");
  }

  show(lane, step) {
    const { message, board, count, note } = lane;
    board.show(message.states[step]);
    board.showAgent(message.way[step]);
    board.drawWay("trail", message.way.slice(0, step + 1), "plan");
    if (step && message.planned_at.includes(step)) board.addMark(message.way[step]);
    count.textContent = String(step);
    if (step === message.done.steps) {
      note.textContent = verdict(message.done);
      lane.box.classList.toggle("solved", message.done.solved);
    } else note.textContent = "on its way…";
  }
}
