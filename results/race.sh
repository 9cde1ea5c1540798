#!/bin/sh
# Three puzzles and three examples with default settings: families race on held-out frames, the winner is judged.
# results/race.sh [SEED] writes results/race/; data and models go to runs/race. What is finished is not run again.
# Levels: training 0–999, validation 1000–1049, test 10000–10099.
set -eu
seed=${1:-0}
mkdir -p results/race runs/race
for name in ice-slider digit-jump procgen-maze tiles minigrid_world sokoban; do
  env=$name play="" search=""
  case $name in
  sokoban) env=examples.sokoban:make play="--steps 40" search="--cutoff 4096 --node-limit 40000" ;;
  minigrid_world) env=examples.minigrid_world:make play="--episodes 10 --steps 60" ;;
  tiles) env=examples.tiles:make ;;
  esac
  pixelplan collect --env $env --levels 0:1000 $play --out runs/race/$name --resume
  pixelplan collect --env $env --levels 1000:1050 $play --out runs/race/$name-validation --resume
  pixelplan train --data runs/race/$name --validation runs/race/$name-validation --out runs/race/$name-model-$seed \
    --seed "$seed" --threads 1 --resume
  cp runs/race/$name-model-$seed/config.json results/race/$name-training-seed$seed.json
  for planner in one-shot full; do
    pixelplan evaluate --env $env --model runs/race/$name-model-$seed --levels 10000:10100 --planner $planner $search \
      --json results/race/$name-$planner-seed$seed.json --resume
  done
  python benchmarks/exactness.py "$name=runs/race/$name-model-$seed:runs/race/$name-validation" \
    --json results/race/exactness-seed$seed.json
done
