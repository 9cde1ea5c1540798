// A planner at work: its messages arrive as fast as it thinks and are shown as fast as the visitor likes.

import { listen } from "./api.js";

const SPEEDS = [900, 500, 260, 110, 25]; // milliseconds per step
const NAMES = ["very slow", "slow", "normal", "fast", "very fast"];

export class Pace {
  constructor(slider, pause, step, stop) {
    this.slider = slider;
    this.buttons = { pause, step, stop };
    this.paused = false;
    this.owed = 0; // steps that the visitor asked for and has not seen
    this.wake = () => {};
    slider.addEventListener("input", () => slider.setAttribute("aria-valuetext", NAMES[slider.value]));
    pause.addEventListener("click", () => (this.paused ? this.resume() : this.hold()));
    step.addEventListener("click", () => {
      this.hold();
      this.owed++;
      this.wake();
    });
  }

  get milliseconds() {
    return SPEEDS[this.slider.value];
  }

  hold() {
    this.paused = true;
    this.buttons.pause.textContent = "Resume";
  }

  resume() {
    this.paused = false;
    this.buttons.pause.textContent = "Pause";
    this.wake();
  }

  enable(on) {
    for (const button of Object.values(this.buttons)) button.disabled = !on;
    this.owed = 0;
    if (!on) this.resume();
  }

  /** Wait until the next step is due: after a while, or when the visitor asks for it. */
  async tick() {
    if (!this.owed) await this.due();
    this.owed = Math.max(0, this.owed - 1);
  }

  due() {
    return new Promise((resolve) => {
      const timer = this.paused ? 0 : setTimeout(() => (this.paused ? null : resolve()), this.milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Shows the messages of a run one after another; `show` has a function for each type of message. */
export class Run {
  constructor(id, planner, pace, show) {
    this.pace = pace;
    this.show = show;
    this.actions = []; // shown, and not yet made in the game
    this.stopped = false;
    this.stream = listen(`/api/games/${id}/run?planner=${planner}`);
  }

  stop() {
    this.stopped = true;
    this.stream.stop();
    this.pace.wake();
  }

  async play() {
    this.pace.enable(true);
    try {
      for await (const message of this.stream.messages) {
        if (message.type === "step") {
          await this.pace.tick();
          if (this.stopped) break;
          this.actions.push(message.action);
        }
        if (message.type === "done") this.finished = true;
        await this.show[message.type](message, () => !this.stopped);
        if (this.stopped) break;
      }
    } finally {
      this.pace.enable(false);
    }
  }
}
