// Files of this folder: each as it was written, or a sentence that names it.

import { Problem } from "./problem.js";

const nameOf = (address) => new URL(address).pathname.split("/").slice(-2).join("/");

export async function fetched(address) {
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) throw new Problem(0, `${nameOf(address)} did not arrive; is the whole folder on the server?`);
  return answer;
}

export async function fetchedJson(address) {
  const answer = await fetched(address);
  return answer.json().catch(() => {
    throw new Problem(0, `${nameOf(address)} is damaged; write the folder again`);
  });
}

/** The bytes of a file that has this SHA-256, as far as the browser can tell: on this machine and over https. */
export async function checked(address, sha256) {
  const data = await (await fetched(address)).arrayBuffer();
  if (crypto.subtle) {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    const hexadecimal = Array.from(digest, (octet) => octet.toString(16).padStart(2, "0")).join("");
    if (hexadecimal !== sha256) throw new Problem(0, `${nameOf(address)} is damaged; write the folder again`);
  }
  return new Uint8Array(data);
}
