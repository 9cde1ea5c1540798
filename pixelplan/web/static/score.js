// Many levels, planner by planner: how many are solved, and how sure that is.

import { listen } from "./api.js";
import { find, make, plural, reveal } from "./dom.js";

const percent = (share) => `${(100 * share).toFixed(0)} %`;

export class Score {
  constructor(game, planners, count) {
    this.count = count;
    this.stopped = false;
    find("score-panel").hidden = false;
    this.rows = planners.map(({ name: planner, title: label }) => {
      const fill = make("i");
      const reach = make("b");
      const words = make("span", { class: "words" }, "…");
      const bar = make("div", { class: "bar", role: "img", "aria-label": label }, fill, reach);
      const row = make("div", { class: "score", "data-planner": planner }, make("strong", {}, label), bar, words);
      return {
        planner,
        row,
        bar,
        fill,
        reach,
        words,
        steps: 0,
        stream: listen(`/api/games/${game.id}/score?planner=${planner}&levels=${count}`),
      };
    });
    find("scores").replaceChildren(...this.rows.map(({ row }) => row));
    find("score-note").textContent =
      `${plural(count, "level")} from ${game.level} on. The dark line is the 95 % interval. Models were trained on levels 0 to 999.`;
    reveal(find("score-panel"));
  }

  stop() {
    this.stopped = true;
    for (const { stream } of this.rows) stream.stop();
  }

  async play() {
    await Promise.all(this.rows.map((row) => this.follow(row)));
  }

  async follow(row) {
    for await (const message of row.stream.messages) {
      const { played, successes, interval, solved, steps } = message;
      if (solved) row.steps += steps;
      row.fill.style.width = `${(100 * successes) / played}%`;
      row.reach.style.left = `${100 * interval[0]}%`;
      row.reach.style.width = `${100 * (interval[1] - interval[0])}%`;
      const mean = successes ? `, ${(row.steps / successes).toFixed(1)} steps on average` : "";
      row.words.textContent = `${successes} of ${played} solved; 95 % interval ${percent(interval[0])} to ${percent(interval[1])}${mean}`;
      row.bar.setAttribute("aria-label", row.words.textContent);
      row.row.dataset.played = played;
    }
  }
}
