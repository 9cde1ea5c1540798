#!/bin/sh
# The three puzzles with default settings: families race on held-out frames, the winner is judged on levels 2000–2099.
# results/race.sh [SEED] writes results/race/; data and models go to runs/race. What is finished is not run again.
set -eu
seed=${1:-0}
mkdir -p results/race runs/race
for env in ice-slider digit-jump procgen-maze; do
  pixelplan collect --env $env --levels 0:1000 --out runs/race/$env --resume
  pixelplan collect --env $env --levels 1000:1050 --out runs/race/$env-validation --resume
  pixelplan train --data runs/race/$env --validation runs/race/$env-validation --out runs/race/$env-model-$seed \
    --seed "$seed" --threads 1 --resume
  cp runs/race/$env-model-$seed/config.json results/race/$env-training-seed$seed.json
  for planner in one-shot full; do
    pixelplan evaluate --env $env --model runs/race/$env-model-$seed --levels 2000:2100 --planner $planner \
      --json results/race/$env-$planner-seed$seed.json --resume
  done
done
