// Shapes on a canvas.

import { colour } from "./dom.js";

export function dot(pen, x, y, radius, fill) {
  pen.fillStyle = fill;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  pen.fill();
}

export function ring(pen, x, y, radius, stroke, width) {
  pen.strokeStyle = stroke;
  pen.lineWidth = width;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  pen.stroke();
}

export function line(pen, from, to) {
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}

export function label(pen, text, x, y, fill = colour("ink")) {
  pen.font = "600 12px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.lineWidth = 4;
  pen.strokeStyle = colour("raised");
  pen.strokeText(text, x, y);
  pen.fillStyle = fill;
  pen.fillText(text, x, y);
}
