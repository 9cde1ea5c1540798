// How far each observation was from its prediction, step by step, and what the planner did about it.

import { names, sequence, sign } from "./actions.js";
import { colour, find, make, makeSvg, plural } from "./dom.js";

const [HEIGHT, TOP, WIDTH] = [92, 12, 15];

export class Timeline {
  constructor() {
    this.onpoint = () => {}; // a step under the pointer, null for none
    this.onjump = () => {};
    this.clear();
    const box = find("timeline");
    box.addEventListener("pointermove", (event) => this.onpoint(this.stepAt(event)));
    box.addEventListener("pointerleave", () => this.onpoint(null));
    box.addEventListener("click", (event) => {
      const step = this.stepAt(event);
      if (step) this.onjump(step);
    });
  }

  /** The step under a pointer. */
  stepAt(event) {
    const svg = find("timeline").firstElementChild;
    if (!svg || !this.steps.length) return null;
    const number = Math.round((event.clientX - svg.getBoundingClientRect().left - 5) / WIDTH);
    return this.steps[Math.min(Math.max(number, 1), this.steps.length) - 1];
  }

  clear() {
    this.steps = [];
    this.plans = [];
    find("timeline-box").hidden = true;
    find("timeline").replaceChildren();
    find("log").replaceChildren();
  }

  addPlan(message) {
    this.plans.push(message.step);
    find("timeline-box").hidden = false;
    const { plan, step, intent } = message;
    const moves = sequence(plan.actions) || "–";
    const aim = {
      goal: "to the goal",
      explore: "to look at something new, because the goal was not found",
      "": "nothing left to try",
    }[intent];
    const what = this.plans.length === 1 ? "Plan" : "Replan";
    const sure = plan.chance == null ? "" : `, chance of success ${plan.chance.toFixed(2)}`;
    const text = ` ${plural(plan.nodes, "node")}, ${(1000 * plan.seconds).toFixed(0)} ms${sure}, ${aim}: ${moves}`;
    this.log(make("li", {}, make("b", {}, step ? `${what} after step ${step}.` : `${what}.`), text));
    const fixed = plan.graph?.corrected.length;
    if (fixed)
      this.log(
        make(
          "li",
          {},
          `Memory overruled the model at ${plural(fixed, "transition")} that it had seen differently (dashed). `,
          make(
            "button",
            { class: "term", type: "button", popovertarget: "word-lookup", "aria-label": "What is the lookup?" },
            "?",
          ),
        ),
      );
    this.draw();
  }

  addStep(message) {
    this.steps.push(message);
    find("timeline-box").hidden = false;
    if (!message.agrees) {
      const text = ` step ${message.step}, ${names[message.action]}: observed ${message.distance.toFixed(2)} away from the prediction, threshold ${message.threshold.toFixed(2)}.`;
      this.log(make("li", { class: "parted" }, make("b", {}, "Parted at"), text));
    }
    this.draw();
  }

  log(item) {
    const list = find("log");
    list.append(item);
    list.scrollTop = list.scrollHeight;
  }

  draw() {
    const measured = this.steps.filter((step) => step.distance !== null);
    const width = Math.max(320, (this.steps.length + 2) * WIDTH + 60);
    const threshold = measured[0]?.threshold ?? 1;
    const most = Math.max(threshold * 1.5, ...measured.map((step) => step.distance));
    const y = (distance) => HEIGHT - 16 - (distance / most) * (HEIGHT - 16 - TOP);
    const svg = makeSvg("svg", { width, height: HEIGHT, role: "img" });
    svg.setAttribute(
      "aria-label",
      `${plural(this.steps.length, "step")}, ${plural(Math.max(0, this.plans.length - 1), "replan")}`,
    );
    const text = (x, at, words, fill, anchor = "middle") => {
      const element = makeSvg("text", { x, y: at, fill, "font-size": 11, "text-anchor": anchor });
      element.textContent = words;
      svg.append(element);
    };
    for (const step of this.steps) {
      const x = step.step * WIDTH;
      text(x + 5, HEIGHT - 3, sign(step.action) ?? names[step.action].slice(0, 2), colour("soft"));
      if (step.distance === null) continue;
      const top = Math.min(y(step.distance), HEIGHT - 18);
      svg.append(
        makeSvg("rect", {
          x,
          y: top,
          width: 10,
          height: HEIGHT - 16 - top,
          rx: 2,
          fill: colour(step.agrees ? "good" : "bad"),
        }),
      );
    }
    if (measured.length) {
      const line = {
        x1: 0,
        x2: width,
        y1: y(threshold),
        y2: y(threshold),
        stroke: colour("ink"),
        "stroke-dasharray": "5 4",
      };
      svg.append(makeSvg("line", line));
      text(width - 4, y(threshold) - 4, `threshold ${threshold.toFixed(2)}`, colour("soft"), "end");
    }
    for (const step of this.plans.slice(1)) {
      const cx = step * WIDTH + 5;
      svg.append(makeSvg("circle", { cx, cy: TOP - 5, r: 4, fill: "none", stroke: colour("bad"), "stroke-width": 2 }));
    }
    find("timeline").replaceChildren(svg);
    find("timeline").scrollLeft = width;
  }
}
