// A board: a frame, crisp, with ways, rings and a cell cursor drawn over it.

import { frame } from "./api.js";
import { make, makeSvg, paint } from "./dom.js";

export class Board {
  constructor(box) {
    this.box = box;
    this.canvas = make("canvas", { class: "pixels" });
    this.svg = makeSvg("svg", { "aria-hidden": "true" });
    box.replaceChildren(this.canvas, this.svg);
    this.level = null;
    this.layers = {};
    for (const name of ["grid", "reading", "trail", "way", "marks", "agent", "goal", "cursor"]) {
      this.layers[name] = makeSvg("g");
      this.svg.append(this.layers[name]);
    }
  }

  /** `level` says how large frames and cells are and where the agent can stand. */
  setLevel(level) {
    this.level = level;
    this.svg.setAttribute("viewBox", `0 0 ${level.pixels} ${level.height}`);
    this.box.style.setProperty("--ratio", level.pixels / level.height); // never taller than the screen
    for (const layer of Object.values(this.layers)) layer.replaceChildren();
  }

  /** Lines between the cells: people need them more than the model does. */
  showGrid(on) {
    const { cell, places } = this.level;
    const squares = places.map(({ x, y }) =>
      makeSvg("rect", {
        x: x - cell / 2,
        y: y - cell / 2,
        width: cell,
        height: cell,
        fill: "none",
        stroke: "#ffffff",
        "stroke-opacity": 0.75,
        "stroke-width": cell * 0.05,
      }),
    );
    this.layers.grid.replaceChildren(...(on ? squares : []));
  }

  /** Where the agent is, for frames in which it is only a few pixels; it may be unknown. */
  showAgent(place) {
    this.layers.agent.replaceChildren();
    if (!place || this.level.cell > 5) return;
    const [cy, cx] = place;
    for (const [stroke, width] of [
      ["#15171c", 0.9],
      ["#ffe14d", 0.45],
    ])
      this.layers.agent.append(
        makeSvg("circle", { cx, cy, r: this.level.cell * 0.8, fill: "none", stroke, "stroke-width": width }),
      );
  }

  async show(state) {
    const wanted = (this.wanted = `${this.level.env}/${this.level.level}/${state}`);
    const image = await frame(this.level.env, this.level.level, state);
    if (this.wanted === wanted) paint(this.canvas, image);
  }

  /** Arrows along places (y, x): white with a dark edge for a plan, thin for what was played. */
  drawWay(name, way, style = "plan") {
    const layer = this.layers[name];
    layer.replaceChildren();
    const thick = this.level.cell * (style === "plan" ? 0.14 : 0.08);
    const [edge, core] = style === "plan" ? ["#15171c", "#ffffff"] : ["#ffffffb0", "#1b3fc4"];
    for (let index = 1; index < way.length; index++) {
      const [y1, x1] = way[index - 1];
      const [y2, x2] = way[index];
      const length = Math.hypot(x2 - x1, y2 - y1);
      if (length < 0.01) continue;
      const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
      const head = this.level.cell * (style === "plan" ? 0.42 : 0.26);
      const [nx, ny] = [x2 - dx * head, y2 - dy * head];
      const wing = head * 0.55;
      const points = `${x2},${y2} ${nx - dy * wing},${ny + dx * wing} ${nx + dy * wing},${ny - dx * wing}`;
      const line = { x1, y1, x2: nx, y2: ny, "stroke-linecap": "round" };
      layer.append(
        makeSvg("line", { ...line, stroke: edge, "stroke-width": thick * 2 }),
        makeSvg("polygon", {
          points,
          fill: core,
          stroke: edge,
          "stroke-width": thick,
          "stroke-linejoin": "round",
          "paint-order": "stroke",
        }),
        makeSvg("line", { ...line, stroke: core, "stroke-width": thick }),
      );
    }
  }

  /** A circle where the planner changed its plan, as in the paper's figure. */
  addMark(place) {
    if (!place) return;
    const [cy, cx] = place;
    const r = this.level.cell * 0.44;
    for (const [stroke, width] of [
      ["#15171c", 0.16],
      ["#ffffff", 0.09],
    ])
      this.layers.marks.append(
        makeSvg("circle", { cx, cy, r, fill: "none", stroke, "stroke-width": this.level.cell * width }),
      );
  }

  /** What a model reads: an arrow for each move it predicts, red if the true rules disagree. */
  drawReading(reading) {
    const layer = this.layers.reading;
    layer.replaceChildren();
    if (!reading) return;
    const cell = this.level.cell;
    for (const [y1, x1, , y2, x2, right] of reading.moves) {
      const length = Math.hypot(x2 - x1, y2 - y1);
      if (length < 0.01 && right) continue;
      const stroke = right ? "#0b7a4b" : "#d5141c";
      const [dx, dy] = length ? [(x2 - x1) / length, (y2 - y1) / length] : [0, 0];
      const far = Math.min(length, cell * 0.42); // a short arrow: where it leads is drawn thin
      if (!length)
        layer.append(
          makeSvg("circle", { cx: x1, cy: y1, r: cell * 0.3, fill: "none", stroke, "stroke-width": cell * 0.08 }),
        );
      layer.append(
        makeSvg("line", { x1, y1, x2, y2, stroke, "stroke-width": cell * 0.03, "stroke-opacity": right ? 0.35 : 0.9 }),
        makeSvg("line", {
          x1: x1 + dx * cell * 0.16,
          y1: y1 + dy * cell * 0.16,
          x2: x1 + dx * far,
          y2: y1 + dy * far,
          stroke,
          "stroke-width": cell * 0.1,
          "stroke-linecap": "round",
        }),
      );
    }
    const { x: cx, y: cy } = this.place(reading.agent.row, reading.agent.column);
    const stroke = reading.right ? "#0b7a4b" : "#d5141c";
    layer.append(makeSvg("circle", { cx, cy, r: cell * 0.5, fill: "none", stroke, "stroke-width": cell * 0.12 }));
  }

  /** The cell of a drawing under the keys, and one that was just painted. */
  showCell(cell, side) {
    this.layers.cursor.replaceChildren(this.cellSquare(cell, side));
  }

  markCell(cell, side) {
    this.layers.cursor.append(this.cellSquare(cell, side));
  }

  cellSquare(cell, side) {
    const size = this.level.pixels / side;
    const [x, y] = [(cell % side) * size, Math.floor(cell / side) * size];
    return makeSvg("rect", {
      x,
      y,
      width: size,
      height: size,
      fill: "#ffd23f66",
      stroke: "#15171c",
      "stroke-width": size * 0.08,
    });
  }

  clearPlan() {
    this.layers.way.replaceChildren();
    this.layers.marks.replaceChildren();
  }

  showGoal(goal) {
    this.layers.goal.replaceChildren();
    if (!goal || goal.own) return;
    const place = this.place(goal.row, goal.column);
    if (place) this.layers.goal.append(this.square(place, "#1fae62", "5 3"));
  }

  showCursor(place) {
    this.layers.cursor.replaceChildren();
    if (place) this.layers.cursor.append(this.square(place, "#ffd23f"));
  }

  square(place, stroke, dashes) {
    const side = this.level.cell;
    const width = Math.max(0.5, side * 0.09);
    const box = {
      x: place.x - side / 2,
      y: place.y - side / 2,
      width: side,
      height: side,
      rx: side * 0.1,
      fill: "none",
    };
    const scale = this.level.pixels / 448;
    const dash = dashes
      ? {
          "stroke-dasharray": dashes
            .split(" ")
            .map((part) => part * scale * 2)
            .join(" "),
        }
      : {};
    return makeSvg(
      "g",
      {},
      makeSvg("rect", { ...box, stroke: "#15171c", "stroke-width": width * 1.9 }),
      makeSvg("rect", { ...box, ...dash, stroke, "stroke-width": width }),
    );
  }

  place(row, column) {
    return this.level.places.find((place) => place.row === row && place.column === column);
  }

  /** The place nearest to a point of the screen, if the point is on its cell. */
  placeAt(event) {
    const box = this.box.getBoundingClientRect();
    const scale = this.level.pixels / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const near = this.nearest(x, y);
    return Math.max(Math.abs(near.x - x), Math.abs(near.y - y)) <= this.level.cell * 0.6 ? near : null;
  }

  nearest(x, y, among = this.level.places) {
    return among.reduce((best, place) =>
      Math.hypot(place.x - x, place.y - y) < Math.hypot(best.x - x, best.y - y) ? place : best,
    );
  }

  /** The next place from one in a direction, for choosing by keys. */
  neighbour(place, direction) {
    const [dx, dy] = { up: [0, -1], right: [1, 0], left: [-1, 0], down: [0, 1] }[direction];
    const ahead = this.level.places.filter(
      (other) => (other.x - place.x) * dx + (other.y - place.y) * dy > this.level.cell / 2,
    );
    const cost = (other) => Math.abs(other.x - place.x) * (dx ? 1 : 3) + Math.abs(other.y - place.y) * (dy ? 1 : 3);
    return ahead.length ? ahead.reduce((best, other) => (cost(other) < cost(best) ? other : best)) : place;
  }
}
