// The server: JSON requests, frames, and sockets as async streams of messages.

import { Problem } from "./problem.js";
import { Stream } from "./stream.js";

export { Problem };

const SILENT =
  "The server does not answer. Is pixelplan web still running? What is shown here may be out of date.";

async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Problem(0, SILENT);
  }
  if (answer.status === 204) return null;
  const value = await answer.json().catch(() => null); // a proxy in between answers in HTML
  if (value === null) throw new Problem(0, SILENT);
  if (!answer.ok) throw new Problem(answer.status, value.problem ?? "The server refused.");
  return value;
}

export const puzzles = () => ask("GET", "/api/puzzles");
export const planners = () => ask("GET", "/api/planners");
export const level = (env, number) => ask("GET", `/api/levels/${env}/${number}`);
export const begin = (wish) => ask("POST", "/api/games", wish);
export const look = (id) => ask("GET", `/api/games/${id}`);
export const move = (id, actions) => ask("POST", `/api/games/${id}/moves`, { actions });
export const undo = (id) => ask("POST", `/api/games/${id}/undo`);
export const restart = (id) => ask("POST", `/api/games/${id}/restart`);
export const aim = (id, goal) => ask("PUT", `/api/games/${id}/goal`, goal);
export const reading = (id) => ask("GET", `/api/games/${id}/reading`);
export const readPicture = (env, frame) => ask("POST", "/api/pictures", { env, frame });
export const plan = (id) => ask("POST", `/api/games/${id}/plan`);
export const leave = (id) => ask("DELETE", `/api/games/${id}`).catch(() => null);
/** A picture of the game, to be saved. */
export async function picture(path) {
  const answer = await fetch(path).catch(() => {
    throw new Problem(0, SILENT);
  });
  if (!answer.ok) throw new Problem(answer.status, (await answer.json().catch(() => ({}))).problem ?? SILENT);
  return answer.blob();
}

export const pictureAddress = (id, ending, ran) =>
  `/api/games/${id}/solution.${ending}${ran ? `?planner=${ran.planner}&since=${ran.since}` : ""}`;

const images = new Map(); // address → promise of a picture; the browser keeps the bytes

export function frame(env, number, state) {
  const address = `/api/frames/${env}/${number}/${state}.png`;
  if (!images.has(address)) {
    if (images.size > 3000) images.clear();
    const image = new Image();
    image.src = address;
    const decoded = image.decode().then(
      () => image,
      () => {
        images.delete(address); // so that the next request tries again
        throw new Problem(0, `A picture did not arrive. ${SILENT}`);
      },
    );
    images.set(address, decoded);
  }
  return images.get(address);
}

/** The messages of a run, race or score. */
export function listen(path) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}${path}`);
  const stream = new Stream(() => socket.close());
  socket.onmessage = (event) => {
    const message = JSON.parse(event.data);
    if (message.type === "problem") stream.end(new Problem(422, message.problem));
    else stream.push(message);
  };
  socket.onclose = (event) => stream.end(event.code === 1000 ? null : new Problem(0, SILENT));
  return stream;
}
