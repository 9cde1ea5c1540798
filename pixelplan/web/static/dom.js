// Small helpers for the document.

export const find = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const colours = new Map(); // the theme's, asked for once

export function colour(name) {
  if (!colours.has(name))
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colours.get(name);
}

export const forgetColours = () => colours.clear();
export const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** What the browser remembers between visits: nothing, if it is set to remember nothing. */
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // the next visit is a first one again
  }
}

export const theme = () => kept("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** Scroll as little as needed for something to be seen; on phones it may be screens away. */
export const reveal = (element) => element.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** A row of buttons of which one is chosen; arrow keys move, as in any radio group. */
export function segments(box, choices, onchange) {
  const buttons = choices.map(([value, label, title]) =>
    make("button", { type: "button", role: "radio", "data-value": value, title, onclick: () => choose(value) }, label),
  );
  box.replaceChildren(...buttons);
  function show(value) {
    for (const button of buttons) {
      const chosen = button.dataset.value === value;
      button.setAttribute("aria-checked", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
  }
  function choose(value) {
    show(value);
    onchange(value);
  }
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const now = buttons.indexOf(document.activeElement);
    const next = buttons[(now + step + buttons.length) % buttons.length];
    next.focus();
    choose(next.dataset.value);
  });
  show(choices[0][0]);
  return { show, choose };
}

/** Let the visitor save a blob under a name. */
export function download(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Put text on the clipboard; false if the browser does not allow it. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { class: "hidden-input" }); // pages without encryption have no clipboard
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

/** Draw a frame's picture into a canvas, pixel by pixel. */
export function paint(canvas, image) {
  canvas.width = image.naturalWidth ?? image.width;
  canvas.height = image.naturalHeight ?? image.height;
  canvas.getContext("2d").drawImage(image, 0, 0);
}
