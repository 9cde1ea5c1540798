// Embeddings on paper: the two directions in which they differ most, by power iteration.

export class Projection {
  /** Of embeddings, the start's first, and the goal's, which lies to the right of the start. */
  constructor(embeddings, goal) {
    const points = [...embeddings, goal];
    const size = goal.length;
    this.centre = Array.from(
      { length: size },
      (_, at) => points.reduce((sum, point) => sum + point[at], 0) / points.length,
    );
    const centred = points.map((point) => Array.from(point, (value, at) => value - this.centre[at]));
    this.axes = [];
    for (let axis = 0; axis < 2; axis++) {
      let vector = Array.from({ length: size }, (_, at) => Math.sin(at * 12.9898 + axis + 1));
      for (let round = 0; round < 60; round++) {
        const next = Array(size).fill(0);
        for (const point of centred) {
          const share = dot(point, vector);
          for (let at = 0; at < size; at++) next[at] += share * point[at];
        }
        for (const other of this.axes) {
          const share = dot(next, other);
          for (let at = 0; at < size; at++) next[at] -= share * other[at];
        }
        const length = Math.sqrt(dot(next, next));
        if (length < 1e-12) break;
        vector = next.map((value) => value / length);
      }
      this.axes.push(vector);
    }
    const [start, end] = [this.at(embeddings[0]), this.at(goal)];
    this.axes = this.axes.map((axis, index) => (end[index] < start[index] ? axis.map((value) => -value) : axis));
  }

  at(embedding) {
    return this.axes.map((axis) => axis.reduce((sum, value, at) => sum + value * (embedding[at] - this.centre[at]), 0));
  }
}

const dot = (one, other) => one.reduce((sum, value, at) => sum + value * other[at], 0);
