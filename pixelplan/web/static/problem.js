// What the visitor asked for and cannot be done, in one sentence.

export class Problem extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}
