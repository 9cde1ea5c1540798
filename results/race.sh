#!/bin/sh
# Three puzzles and three examples with default settings: families race on held-out frames, the winner is judged.
#   results/race.sh [SEED [COUNT [NAME …]]] writes results/race/; data and models go to runs/race. What is finished is not run again.
# Levels: training 0–999, validation 1000–1049, test 10000–10099. With a COUNT other than 1000, training has only that many
# levels and nothing else: what is chosen on held-out levels is chosen on some of them. STEPS=10000 follows rollouts that
# far (minutes each).
set -eu
seed=${1:-0} count=${2:-1000}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- ice-slider digit-jump procgen-maze tiles minigrid_world sokoban
mkdir -p results/race runs/race
for name in "$@"; do
  env=$name play="" search=""
  case $name in
  sokoban) env=examples.sokoban:make play="--steps 40" search="--cutoff 4096 --node-limit 40000" ;;
  minigrid_world) env=examples.minigrid_world:make play="--episodes 10 --steps 60" ;;
  tiles) env=examples.tiles:make ;;
  esac
  few="" held="--validation runs/race/$name-validation"
  if [ "$count" != 1000 ]; then few=-$count held=""; fi
  pixelplan collect --env $env --levels 0:$count $play --out runs/race/$name$few --resume
  pixelplan collect --env $env --levels 1000:1050 $play --out runs/race/$name-validation --resume
  model=runs/race/$name$few-model-$seed record=results/race/$name$few
  pixelplan train --data runs/race/$name$few $held --out $model --seed "$seed" --threads 1 --resume
  cp $model/config.json $record-training-seed$seed.json
  for planner in one-shot full; do
    pixelplan evaluate --env $env --model $model --levels 10000:10100 --planner $planner $search \
      --json $record-$planner-seed$seed.json --resume
  done
  python benchmarks/exactness.py "$name$few=$model:runs/race/$name-validation" \
    --steps "${STEPS:-1000}" --json results/race/exactness-seed$seed.json
done
