// What the model reads from a frame: where it sees the agent, and where it thinks moves lead.

import * as api from "./api.js";
import { find } from "./dom.js";
import { board, notice, page, withGame } from "./page.js";

export const forgetReading = () => {
  find("read").setAttribute("aria-pressed", "false");
  board.drawReading(null);
};

export async function showReading(on = find("read").getAttribute("aria-pressed") !== "true") {
  forgetReading();
  if (!on) return;
  const reading = await withGame(api.reading);
  find("read").setAttribute("aria-pressed", "true");
  board.drawReading(reading);
  const wrong = reading.moves.filter((move) => !move.at(-1)).length;
  const agent = reading.right ? "It sees the agent where it is" : "It sees the agent where it is not (circle)";
  const moves = wrong
    ? `of ${reading.moves.length} moves that it predicts, ${wrong} ${wrong === 1 ? "disagrees" : "disagree"} with the true rules (red)`
    : `all ${reading.moves.length} moves that it predicts agree with the true rules`;
  notice(`${find("notice").hidden ? "" : `${find("notice").textContent} `}${agent}; ${moves}.`);
  page.show = page.show === "plan" ? null : page.show;
}
