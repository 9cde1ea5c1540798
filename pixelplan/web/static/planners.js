// The planners as the page calls them.

export const PLANNERS = [
  ["full", "Full", "Plans, looks after each step, remembers and replans"],
  ["one-shot", "One-shot", "Plans once and moves with closed eyes"],
  ["image-search", "GS on Images", "No model: tries untried moves and remembers frames"],
];

export const MODEL_FREE = ["image-search"];
