// The exported model in onnxruntime: encode, context and step, as the planners ask for them.

import { checked, fetched, fetchedJson } from "./fetched.js";
import * as ort from "./ort/ort.wasm.min.mjs";

ort.env.wasm.wasmPaths = new URL("./ort/", import.meta.url).href;
ort.env.wasm.numThreads = 1; // more would need headers that a plain file server does not send
ort.env.logLevel = "error";

/** Put the runtime into place: it comes packed. */
async function unpack() {
  if (ort.env.wasm.wasmBinary) return;
  const packed = await fetched(new URL("./ort/ort-wasm-simd-threaded.wasm.packed", import.meta.url).href);
  const whole = packed.body.pipeThrough(new DecompressionStream("gzip"));
  ort.env.wasm.wasmBinary = await new Response(whole).arrayBuffer();
}

export class Model {
  static async open(folder) {
    const [about] = await Promise.all([fetchedJson(`${folder}/model.json`), unpack()]);
    const open = async (name) =>
      ort.InferenceSession.create(await checked(`${folder}/${name}.onnx`, about.sha256[name]));
    const model = new Model();
    const [encoder, reader, stepper] = [await open("encode"), await open("context"), await open("step")];
    return Object.assign(model, about, { encoder, reader, stepper, contexts: new Map() });
  }

  frames(frames) {
    const all = new Uint8Array(frames.length * frames[0].length);
    frames.forEach((frame, index) => all.set(frame, index * frame.length));
    return new ort.Tensor("uint8", all, [frames.length, this.height, this.width, 3]);
  }

  /** Embeddings of frames, each a Float32Array. */
  async encode(frames) {
    const { z } = await this.encoder.run({ frames: this.frames(frames) });
    return split(z.data, this.dimensions);
  }

  /** The rules of a level, as read from a frame. Games that are played at once share the model, so each keeps its own. */
  async read(frame) {
    if (!this.contexts.has(frame)) {
      if (this.contexts.size > 20) this.contexts.clear();
      this.contexts.set(frame, await this.reader.run({ frames: this.frames([frame]) }));
    }
    return this.contexts.get(frame);
  }

  /** The embeddings after each action from each of some, by the rules of a level: [points][actions]. */
  async step(points, context) {
    const all = new Float32Array(points.length * this.dimensions);
    points.forEach((point, index) => all.set(point, index * this.dimensions));
    const inputs = { z: new ort.Tensor("float32", all, [points.length, this.dimensions]) };
    for (const name of this.step_inputs) if (name !== "z") inputs[name] = context[name];
    const { after } = await this.stepper.run(inputs);
    const rows = split(after.data, this.dimensions);
    return points.map((_, index) => rows.slice(index * this.actions, (index + 1) * this.actions));
  }
}

function split(data, width) {
  return Array.from({ length: data.length / width }, (_, index) => data.slice(index * width, (index + 1) * width));
}
