// Pictures that visitors bring: files, screenshots, photographs.

import { Problem } from "./api.js";
import { make } from "./dom.js";

const SMALL = 40_000; // bytes; more than that is not sent at once

/** A picture, one of `count`, as base64 for the server: as it is, or shrunk to a multiple of a level's frame. */
export async function asFrame(blob, level, count = 1) {
  const most = SMALL / count;
  if (blob.size <= most && /^image\/(png|jpeg)$/.test(blob.type)) return base64(blob);
  const image = await decode(blob);
  for (const factor of [4, 2, 1]) {
    const small = await shrink(image, level.pixels * factor, level.height * factor);
    if (small.size <= most) return base64(small);
  }
  throw new Problem(413, "That picture has too much detail to be a frame of this level.");
}

export async function decode(blob) {
  try {
    return await createImageBitmap(blob);
  } catch {
    throw new Problem(422, "That file is not a picture that this browser can read.");
  }
}

/** A picture, or a part [x, y, width, height] of it, at another size; whole factors average whole blocks. */
export function scaled(image, width, height, [x, y, w, h] = [0, 0, image.width, image.height]) {
  const canvas = make("canvas", { width, height });
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.imageSmoothingEnabled = w > width || h > height; // what is enlarged stays crisp
  pen.drawImage(image, x, y, w, h, 0, 0, width, height);
  return canvas;
}

const shrink = (image, width, height) =>
  new Promise((resolve) => scaled(image, width, height).toBlob(resolve, "image/png"));

export async function base64(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
