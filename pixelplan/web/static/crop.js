// A picture of a level: dropped, pasted, photographed or chosen; cropped by hand to its board, and then planned from.

import * as api from "./api.js";
import { find, plural } from "./dom.js";
import { attempt, inTurn, notice, page } from "./page.js";
import { base64, decode, scaled } from "./picture.js";
import { open } from "./play.js";

let image = null;
let square = { x: 0, y: 0, side: 1 }; // the part of the picture that is the board
let from = null; // where a drag began

export function listenToPictures() {
  const dialog = find("crop");
  find("bring").onclick = () => (dialog.showModal(), show(null));
  find("crop-file").onchange = (event) => {
    const [file] = event.target.files;
    if (file) bring(file);
    event.target.value = "";
  };
  find("crop-close").onclick = () => dialog.close();
  find("crop-read").onclick = () => inTurn(read);
  find("crop-size").oninput = (event) => resize(Number(event.target.value));
  document.addEventListener("paste", (event) => bringOne(event.clipboardData));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    bringOne(event.dataTransfer);
  });
  const canvas = find("crop-picture");
  canvas.addEventListener("pointerdown", (event) => {
    if (!image) return;
    canvas.setPointerCapture(event.pointerId);
    from = { ...at(event), x0: square.x, y0: square.y };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    const here = at(event);
    move(from.x0 + here.x - from.x, from.y0 + here.y - from.y);
  });
  canvas.addEventListener("pointerup", () => (from = null));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step || !image) return;
    event.preventDefault();
    move(square.x + step[0], square.y + step[1]);
  });
}

/** The first picture of what was pasted or dropped; if there is none, any file, to say that it is none. */
function bringOne(brought) {
  const files = [...(brought?.files ?? [])];
  const file = files.find((file) => file.type.startsWith("image/")) ?? files[0];
  if (file) bring(file);
}

const bring = (file) =>
  attempt(async () => {
    try {
      const next = await decode(file);
      if (!find("crop").open) find("crop").showModal();
      show(next);
    } catch (problem) {
      find("crop").close(); // the message is on the page behind it
      throw problem;
    }
  });

/** Begin with the largest square in the middle; a screenshot of this page's board or frame is whole already. */
function show(next) {
  image = next;
  find("crop-tools").hidden = !image;
  find("crop-hint").hidden = Boolean(image);
  if (!image) return;
  const most = Math.min(image.width, image.height);
  Object.assign(find("crop-size"), { min: Math.max(8, Math.round(most / 20)), max: most, value: most });
  square = { x: (image.width - most) / 2, y: (image.height - most) / 2, side: most };
  draw();
}

function at(event) {
  const box = find("crop-picture").getBoundingClientRect();
  return {
    x: ((event.clientX - box.left) * image.width) / box.width,
    y: ((event.clientY - box.top) * image.height) / box.height,
  };
}

function move(x, y) {
  square.x = Math.min(Math.max(0, Math.round(x)), image.width - square.side);
  square.y = Math.min(Math.max(0, Math.round(y)), image.height - square.side);
  draw();
}

function resize(side) {
  const [x, y] = [square.x + (square.side - side) / 2, square.y + (square.side - side) / 2];
  square.side = side;
  move(x, y);
}

const cropped = () =>
  scaled(image, page.level.pixels, page.level.height, [square.x, square.y, square.side, square.side]);

function draw() {
  const canvas = find("crop-picture");
  canvas.width = image.width;
  canvas.height = image.height;
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  pen.fillStyle = "#000a";
  pen.beginPath();
  pen.rect(0, 0, image.width, image.height);
  pen.rect(square.x, square.y, square.side, square.side);
  pen.fill("evenodd");
  pen.strokeStyle = "#ffd23f";
  pen.lineWidth = Math.max(2, image.width / 200);
  pen.strokeRect(square.x, square.y, square.side, square.side);
  const preview = find("crop-preview");
  preview.width = page.level.pixels;
  preview.height = page.level.height;
  preview.getContext("2d").drawImage(cropped(), 0, 0);
}

async function read() {
  const blob = await new Promise((resolve) => cropped().toBlob(resolve, "image/png"));
  find("crop").close();
  const reading = await api.readPicture(page.env, await base64(blob));
  await open({ env: page.env, level: reading.level, model: page.model });
  const size = `${Math.round(square.side)} × ${Math.round(square.side)}`;
  const doubts = reading.doubtful.length
    ? ` ${plural(reading.doubtful.length, "cell")} look like nothing known (row ${reading.doubtful[0].row + 1}, column ${reading.doubtful[0].column + 1}, …).`
    : "";
  notice(
    `This is your picture (${size} pixels of it, at ${page.level.pixels} × ${page.level.height}). The planner sees these pixels; the level read from it judges the plan, and is what a link would show.${doubts}`,
  );
  await import("./reading.js").then(({ showReading }) => showReading(true));
}
