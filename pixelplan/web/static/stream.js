// Messages that arrive one by one, from a socket or a worker.

export class Stream {
  /** `close` leaves their source; it may be called more than once. */
  constructor(close) {
    this.close = close;
    this.arrived = [];
    this.over = false;
    this.problem = null;
    this.wake = () => {};
    this.messages = this.read(); // leaving a loop over these closes the source
  }

  push(message) {
    this.arrived.push(message);
    this.wake();
  }

  /** There will be no more messages; a problem is thrown once those that arrived have been read. */
  end(problem = null) {
    if (!this.over) this.problem = problem;
    this.over = true;
    this.wake();
  }

  stop() {
    this.arrived.length = 0;
    this.end();
    this.close();
  }

  async *read() {
    try {
      for (;;) {
        while (this.arrived.length) yield this.arrived.shift();
        if (this.problem) throw this.problem;
        if (this.over) return;
        await new Promise((resolve) => (this.wake = resolve));
      }
    } finally {
      this.close();
    }
  }
}
