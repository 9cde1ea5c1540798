// Lists of numbers.

/** How far two embeddings are apart. */
export function distance(one, other) {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += (one[index] - other[index]) ** 2;
  return Math.sqrt(sum);
}

/** Where the least of some values is; the first of several. */
export const least = (values) => values.indexOf(Math.min(...values));
