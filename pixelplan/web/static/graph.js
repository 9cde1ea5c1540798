// The latent graph on a canvas: nodes where their embeddings lie, or in layers, growing as the search grew.

import { names, tint } from "./actions.js";
import { calm, colour, find, wait } from "./dom.js";
import { describe } from "./tip.js";
import { dot, label, line, ring } from "./pen.js";

const [MARGIN, CAPTION] = [26, 22];

export class Graph {
  constructor(canvas, tip) {
    this.canvas = canvas;
    this.tip = tip;
    this.layout = "goal";
    this.onpoint = () => {}; // a node under the pointer, -1 for none
    this.onjump = () => {};
    this.clear();
    new ResizeObserver(() => this.draw()).observe(canvas);
    canvas.addEventListener("pointermove", (event) => this.point(this.nodeAt(event)));
    canvas.addEventListener("pointerdown", (event) => {
      this.touched = event.pointerType === "touch"; // a tap shows the tip and does not go there
      this.point(this.nodeAt(event), true);
    });
    canvas.addEventListener("pointerleave", (event) => event.pointerType === "touch" || this.point(-1));
    canvas.addEventListener("click", (event) => event.detail === 1 && !this.touched && this.jump());
    canvas.addEventListener("blur", () => this.point(-1));
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.pointed >= 0)
        return (event.preventDefault(), event.stopPropagation(), this.jump());
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step || !this.plan?.graph) return;
      event.preventDefault();
      event.stopPropagation();
      const count = this.plan.graph.x.length;
      this.point((this.pointed + step + count) % count);
    });
  }

  clear() {
    this.plan = null;
    this.level = null;
    this.depth = -1; // layers shown
    this.lit = false; // whether the path is lit
    this.here = null; // {predicted, observed, agrees}
    this.pointed = -1;
    this.tip.hidden = true;
    this.caption();
    this.draw();
  }

  caption() {
    const words = {
      goal: "The goal in the middle: distances to it are exact, directions a projection.",
      map: "The two directions in which the embeddings differ most; some nodes only seem near the goal.",
      layers: "From left to right: how many actions it takes.",
    };
    find("caption").textContent = this.plan ? words[this.layout] : "";
  }

  /** Show a plan for a level, layer by layer within some milliseconds in all; `alive()` false ends it early. */
  async grow(plan, level, milliseconds, onlayer = () => {}, alive = () => true) {
    this.plan = plan;
    this.level = level;
    this.here = null;
    this.lit = false;
    this.point(-1);
    this.caption();
    if (!plan.graph) return this.draw();
    this.deepest = Math.max(...plan.graph.depth);
    this.place();
    const pause = calm() ? 0 : milliseconds / (this.deepest + 1);
    for (this.depth = 0; this.depth < this.deepest && pause > 4; this.depth++) {
      this.draw();
      onlayer(this.depth);
      await wait(pause);
      if (!alive() || this.plan !== plan) break;
    }
    if (this.plan !== plan) return;
    this.depth = this.deepest;
    this.lit = true;
    onlayer(this.deepest);
    this.draw();
  }

  setLayout(layout) {
    this.layout = layout;
    this.caption();
    this.place();
    this.draw();
  }

  /** Where the last step was predicted to lead and where it led. */
  setHere(here) {
    this.here = here;
    this.draw();
  }

  place() {
    const graph = this.plan?.graph;
    if (!graph) return;
    if (this.layout !== "layers") {
      this.points = graph.x.map((x, node) => this.spot([x, graph.y[node], graph.distance[node]]));
      const far = this.layout === "goal" ? Math.max(...graph.distance, this.plan.threshold) : 0;
      this.extra = far
        ? [
            [-far, 0],
            [far, 0],
            [0, -far],
            [0, far],
          ]
        : [this.plan.goal];
      return;
    }
    const rows = []; // nodes of a depth, in the order of their parents
    graph.depth.forEach((depth, node) => (rows[depth] ??= []).push(node));
    this.points = [];
    for (const [depth, nodes] of rows.entries()) {
      if (depth)
        nodes.sort(
          (one, other) => this.points[graph.parent[one]][1] - this.points[graph.parent[other]][1] || one - other,
        );
      nodes.forEach((node, index) => (this.points[node] = [depth, (index + 0.5) / nodes.length]));
    }
    this.extra = [];
  }

  /** Where an embedding (x, y, distance to the goal) lies; around the goal its distance is exact, its direction PCA's. */
  spot([x, y, distance]) {
    if (this.layout === "map") return [x, y];
    const length = Math.hypot(x, y) || 1;
    return [(distance * x) / length, (distance * y) / length];
  }

  /** From the graph's coordinates to the canvas's; a map keeps its proportions, so that a circle is a circle. */
  scale(width, whole) {
    const height = whole - CAPTION;
    const all = [...this.points, ...this.extra];
    const [xs, ys] = [all.map((point) => point[0]), all.map((point) => point[1])];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    let sx = (width - 2 * MARGIN) / Math.max(right - left, 1e-6);
    let sy = (height - 2 * MARGIN) / Math.max(bottom - top, 1e-6);
    if (this.layout !== "layers") sx = sy = Math.min(sx, sy);
    else if (bottom - top < 1e-6) sy = 1;
    return {
      at: ([x, y]) => [width / 2 + (x - (left + right) / 2) * sx, CAPTION + height / 2 + (y - (top + bottom) / 2) * sy],
      unit: sx,
    };
  }

  draw() {
    const { canvas, plan } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    if (!plan?.graph || !width) return;
    const { at, unit } = this.scale(width, height);
    const graph = plan.graph;
    this.screen = this.points.map(at);
    const shown = (node) => node >= 0 && graph.depth[node] <= this.depth;
    if (this.layout === "goal") this.drawScale(pen, at([0, 0]), unit);
    if (this.layout !== "layers")
      this.drawGoal(pen, at(this.layout === "goal" ? [0, 0] : plan.goal), plan.threshold * unit);
    this.drawEdges(pen, shown);
    if (this.lit) this.drawPath(pen);
    const size = this.screen.length > 600 ? 2.2 : this.screen.length > 150 ? 3.2 : 4.6;
    for (const [node, [x, y]] of this.screen.entries()) {
      if (!shown(node)) continue;
      const fresh = graph.depth[node] === this.depth && !this.lit;
      if (fresh) dot(pen, x, y, size * 2.1, colour("primary") + "40");
      dot(pen, x, y, fresh ? size * 1.25 : size, colour(fresh ? "primary" : graph.seen[node] >= 0 ? "ink" : "node"));
    }
    if (this.lit) for (const node of plan.path) dot(pen, ...this.screen[node], size * 1.2, colour("path"));
    const [x, y] = this.screen[0];
    ring(pen, x, y, size + 5, colour("ink"), 2);
    label(pen, "start", x, y - size - 9);
    if (this.layout === "layers" && plan.reached && this.lit) {
      const [gx, gy] = this.screen[plan.path.at(-1)];
      ring(pen, gx, gy, size + 5, colour("ring"), 2.5);
      label(pen, "goal", gx, gy - size - 9);
    }
    if (this.here && this.layout !== "layers") this.drawHere(pen, at);
    if (this.pointed >= 0 && shown(this.pointed))
      ring(pen, ...this.screen[this.pointed], size + 4, colour("primary"), 2.5);
  }

  drawScale(pen, [x, y], unit) {
    for (const distance of [0.5, 1, 1.5, 2]) {
      if (distance > this.extra[1][0] * 1.08) break;
      ring(pen, x, y, distance * unit, colour("line"), 1);
      pen.font = "11px system-ui, sans-serif";
      pen.textAlign = "center";
      pen.fillStyle = colour("soft");
      pen.fillText(distance.toFixed(1), x, y + distance * unit - 4);
    }
  }

  drawGoal(pen, [x, y], radius) {
    pen.setLineDash([6, 4]);
    ring(pen, x, y, Math.max(radius, 6), colour("ring"), 2);
    pen.setLineDash([]);
    dot(pen, x, y, Math.max(radius, 6), colour("ring") + "1c");
    pen.fillStyle = colour("ring");
    pen.fillRect(x - 1.5, y - 6, 3, 12);
    pen.fillRect(x - 6, y - 1.5, 12, 3);
    label(pen, "goal", x, y - Math.max(radius, 6) - 6, colour("ring"));
  }

  drawEdges(pen, shown) {
    const { graph } = this.plan;
    const corrected = new Set(graph.corrected.map(([node, action]) => `${node}.${action}`));
    const many = this.screen.length > 400;
    for (const action of names.keys()) {
      pen.strokeStyle = colour(tint(action));
      for (const tree of [false, true]) {
        pen.globalAlpha = tree ? 0.85 : many ? 0.12 : 0.28;
        pen.lineWidth = tree ? 1.7 : 1;
        pen.beginPath();
        for (const [node, successors] of graph.successors.entries()) {
          const there = successors[action];
          if (there === undefined || there === node || !shown(node) || !shown(there)) continue;
          const discovered = graph.parent[there] === node && graph.action[there] === action;
          if (discovered !== tree) continue;
          const [[x1, y1], [x2, y2]] = [this.screen[node], this.screen[there]];
          pen.moveTo(x1, y1);
          const bend = tree ? 0 : 0.14; // edges that meet again are bent, so that both directions can be seen
          pen.quadraticCurveTo((x1 + x2) / 2 - (y2 - y1) * bend, (y1 + y2) / 2 + (x2 - x1) * bend, x2, y2);
        }
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
    for (const key of corrected) {
      const [node, action] = key.split(".").map(Number);
      const there = graph.successors[node][action];
      if (!shown(node) || !shown(there)) continue;
      pen.strokeStyle = colour("memory");
      pen.lineWidth = 3;
      pen.setLineDash([3, 3]);
      line(pen, this.screen[node], this.screen[there]);
      pen.setLineDash([]);
      ring(pen, ...this.screen[node], 9, colour("memory"), 2);
    }
  }

  drawPath(pen) {
    for (const [width, stroke] of [
      [9, colour("path") + "38"],
      [3.4, colour("path")],
    ]) {
      pen.strokeStyle = stroke;
      pen.lineWidth = width;
      pen.lineJoin = "round";
      pen.beginPath();
      this.plan.path.forEach((node, index) => pen[index ? "lineTo" : "moveTo"](...this.screen[node]));
      pen.stroke();
    }
  }

  drawHere(pen, at) {
    const { predicted, observed, agrees } = this.here;
    const [[px, py], [ox, oy]] = [at(this.spot(predicted)), at(this.spot(observed))];
    const tint = colour(agrees ? "good" : "bad");
    pen.strokeStyle = tint;
    pen.lineWidth = 2;
    line(pen, [px, py], [ox, oy]);
    ring(pen, px, py, 9, tint, 2);
    dot(pen, ox, oy, 6, tint);
    label(pen, agrees ? "as predicted" : "observed", ox, oy + 22, tint);
    if (!agrees) label(pen, "predicted", px, py - 14, tint);
  }

  nodeAt(event) {
    if (!this.screen || !this.plan?.graph) return -1;
    const box = this.canvas.getBoundingClientRect();
    let [best, far] = [-1, event.pointerType === "touch" ? 28 : 16];
    for (const [node, [x, y]] of this.screen.entries()) {
      if (this.plan.graph.depth[node] > this.depth) continue;
      const distance = Math.hypot(x - event.clientX + box.left, y - event.clientY + box.top);
      if (distance < far) [best, far] = [node, distance];
    }
    return best;
  }

  /** Go to the node that is pointed at. */
  jump() {
    if (this.pointed < 0 || !this.plan?.graph) return;
    const { parent, action } = this.plan.graph;
    const actions = [];
    for (let node = this.pointed; parent[node] >= 0; node = parent[node]) actions.unshift(action[node]);
    this.onjump(actions);
  }

  /** Say what is known of a node. */
  point(node, again = false) {
    if (node === this.pointed && !again) return;
    this.pointed = node;
    this.draw();
    this.onpoint(node);
    this.tip.hidden = node < 0 || !this.screen;
    if (this.tip.hidden) return;
    describe(this.tip, this.plan, node, this.level);
    const [x, y] = this.screen[node];
    this.tip.style.left = `${Math.min(Math.max(8, x + 14), this.canvas.clientWidth - 238)}px`;
    this.tip.style.top = `${Math.max(8, Math.min(y + 14, this.canvas.clientHeight - 230))}px`;
  }
}
