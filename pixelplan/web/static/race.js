// You and the planners side by side, always from the level's start: each planner's way is replayed at the same pace.

import { listen } from "./api.js";
import { Board } from "./board.js";
import { calm, copy, download, find, make, plural, reveal, wait } from "./dom.js";

const ENDS = {
  solved: "solved",
  steps: "out of steps",
  exhausted: "stuck with nothing new in reach",
  "plan over": "the plan did not lead there",
  time: "out of time",
};
const CARD = { width: 720, height: 400 };

export function verdict(done) {
  const parts = [`${ENDS[done.ended] ?? done.ended} after ${plural(done.steps, "step")}`];
  if (done.plans) parts.push(plural(done.plans, "plan"), plural(done.nodes, "node"));
  parts.push(`${(1000 * done.seconds).toFixed(done.seconds < 0.01 ? 1 : 0)} ms of thinking`);
  return parts.join(", ");
}

export class Race {
  /** Starts at once; your clock starts with your first move. */
  constructor(game, level, planners, title, pace) {
    Object.assign(this, { level, title, pace, stopped: false, finished: false, began: null, seconds: 0 });
    this.stream = listen(`/api/games/${game.id}/race`);
    find("race-panel").hidden = false;
    find("card").hidden = true;
    this.lanes = new Map();
    const boxes = [{ name: "you", title: "You" }, ...planners].map(({ name, title: label }) => {
      const board = new Board(make("div", { class: "board" }));
      board.setLevel(level);
      board.show(game.state).catch(() => null);
      board.showGoal(game.goal);
      const count = make("span", { class: "count" }, name === "you" ? "0" : "…");
      const note = make("p", { class: "verdict" }, name === "you" ? "your clock starts with your move" : "thinking…");
      const box = make("div", { class: "lane", "data-planner": name }, make("h3", {}, label, count), board.box, note);
      this.lanes.set(name, { name, label, board, count, note, box, message: null });
      return box;
    });
    find("lanes").replaceChildren(...boxes);
    reveal(find("race-panel"));
  }

  stop() {
    this.stopped = true;
    clearInterval(this.timer);
    this.stream.stop();
  }

  /** You moved, undid or restarted. */
  moved(game) {
    const you = this.lanes.get("you");
    if (this.began === null) {
      this.began = performance.now();
      this.timer = setInterval(() => this.tick(), 100);
    }
    you.board.show(game.state).catch(() => null);
    you.board.showAgent(game.way.at(-1));
    you.board.drawWay("trail", game.way, "plan");
    you.count.textContent = String(game.actions.length);
    this.steps = game.actions.length;
    this.tick();
    if (!game.solved) return;
    clearInterval(this.timer);
    this.finished = true;
    you.note.textContent = `solved after ${plural(this.steps, "step")}, ${this.seconds.toFixed(1)} s`;
    this.judge();
  }

  tick() {
    this.seconds = (performance.now() - this.began) / 1000;
    this.lanes.get("you").note.textContent = `on your way… ${this.seconds.toFixed(1)} s`;
  }

  async play() {
    for await (const message of this.stream.messages) this.lanes.get(message.planner).message = message;
    const lanes = [...this.lanes.values()].filter((lane) => lane.message);
    if (this.stopped || !lanes.length) return;
    const longest = Math.max(...lanes.map((lane) => lane.message.done.steps));
    for (let step = 0; step <= longest && !this.stopped; step++) {
      for (const lane of lanes) if (step <= lane.message.done.steps) this.show(lane, step);
      const quick = step > 30 ? 0.3 : 1; // long searches speed up once the planners with a model have finished
      if (!calm()) await wait(this.pace.milliseconds * 0.7 * quick);
    }
    for (const lane of lanes) this.show(lane, lane.message.done.steps);
    this.through = true;
    this.judge();
  }

  show(lane, step) {
    const { message, board, count, note } = lane;
    board.show(message.states[step]).catch(() => null);
    board.showAgent(message.way[step]);
    board.drawWay("trail", message.way.slice(0, step + 1), "plan");
    if (step && message.planned_at.includes(step)) board.addMark(message.way[step]);
    count.textContent = String(step);
    if (step === message.done.steps) {
      note.textContent = verdict(message.done);
      lane.box.classList.toggle("solved", message.done.solved);
    } else note.textContent = "on its way…";
  }

  /** The finisher with the fewest steps so far is ahead; once all have finished, there is a card. */
  judge() {
    if (!this.through) return;
    const solved = [...this.lanes.values()].filter((lane) => this.stepsOf(lane) !== null);
    const best = Math.min(...solved.map((lane) => this.stepsOf(lane)));
    for (const lane of this.lanes.values()) lane.box.classList.toggle("winner", this.stepsOf(lane) === best);
    if (this.finished) this.showCard();
  }

  stepsOf(lane) {
    if (lane.name === "you") return this.finished ? this.steps : null;
    return lane.message?.done.solved ? lane.message.done.steps : null;
  }

  /** The result in words, one line for each. */
  lines() {
    return [...this.lanes.values()].map((lane) => {
      const time = lane.name === "you" ? `${this.seconds.toFixed(1)} s` : thought(lane.message?.done);
      const steps = this.stepsOf(lane);
      return `${lane.label}: ${steps === null ? "not solved" : plural(steps, "step")}${time ? `, ${time}` : ""}`;
    });
  }

  showCard() {
    find("card").hidden = false;
    const canvas = find("card-picture");
    Object.assign(canvas, CARD);
    this.draw(canvas.getContext("2d"));
    canvas.setAttribute("aria-label", [this.title, ...this.lines()].join(". "));
    find("card-save").onclick = () => canvas.toBlob((blob) => download(blob, "pixelplan-race.png"));
    find("card-copy").onclick = async () => {
      const text = [`pixelplan, ${this.title}`, ...this.lines(), location.href].join("\n");
      find("card-copy").textContent = (await copy(text)) ? "Copied" : "There is no clipboard";
      setTimeout(() => (find("card-copy").textContent = "Copy as text"), 2500);
    };
  }

  /** It looks the same in both themes, because people send it to others. */
  draw(pen) {
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, CARD.width, CARD.height);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.lanes.get("you").board.canvas, 24, 72, 256, 256);
    pen.fillStyle = "#1d1f25";
    pen.font = "700 24px system-ui, sans-serif";
    pen.fillText("You against the machine", 24, 46);
    pen.font = "16px system-ui, sans-serif";
    pen.fillText(this.title, 24, 362);
    for (const [index, line] of this.lines().entries()) {
      const lane = [...this.lanes.values()][index];
      pen.font = `${lane.box.classList.contains("winner") ? 700 : 400} 17px system-ui, sans-serif`;
      pen.fillText(line, 304, 100 + 40 * index);
    }
  }
}

const thought = (done) => (done ? `${(1000 * done.seconds).toFixed(0)} ms of thinking` : "");
