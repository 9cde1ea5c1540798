// The words of Python's random.Random(seed): the Mersenne Twister, from which levels are drawn.

const [N, M] = [624, 397];

export class Words {
  /** `seed` is a whole number from 0 to 2³² − 1. */
  constructor(seed) {
    this.state = new Uint32Array(N);
    this.at = N;
    const { state } = this;
    state[0] = 19650218;
    for (let i = 1; i < N; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
    let i = 1;
    for (let k = 0; k < N; k++) {
      state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1664525)) + seed; // a key of one word
      if (++i >= N) ((state[0] = state[N - 1]), (i = 1));
    }
    for (let k = 0; k < N - 1; k++) {
      state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1566083941)) - i;
      if (++i >= N) ((state[0] = state[N - 1]), (i = 1));
    }
    state[0] = 0x80000000;
  }

  next() {
    const { state } = this;
    if (this.at >= N) {
      for (let k = 0; k < N; k++) {
        const y = (state[k] & 0x80000000) | (state[(k + 1) % N] & 0x7fffffff);
        state[k] = state[(k + M) % N] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
      }
      this.at = 0;
    }
    let y = state[this.at++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** A whole number from 0 to bound − 1, as randint(0, bound − 1) draws it: top bits, until they are in range. */
  below(bound) {
    const shift = 32 - (32 - Math.clz32(bound));
    for (;;) {
      const value = this.next() >>> shift;
      if (value < bound) return value;
    }
  }
}
