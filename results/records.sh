#!/usr/bin/env bash
# Makes the records behind the main table: three puzzles, three training seeds each, levels 0-999 for training,
# 1000-1199 for validation and calibration, 2000-2099 and 10000-10999 for the record. Run it again to go on after an
# interruption; what is finished is not run again. Two models train at a time, each on one core; about 40 minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin/pixelplan
puzzles="ice-slider digit-jump procgen-maze"
mkdir -p results/main

train() { # puzzle seed
  $bin train --preset spatial --data runs/data/$1 --validation runs/data/$1-validation --out runs/models/$1-$2 --seed $2 --threads 1 --resume
  cp runs/models/$1-$2/config.json results/main/$1-training-seed$2.json
}

evaluate() { # puzzle planner levels model name
  $bin evaluate --env $1 --planner $2 --levels $3 --model $4 --workers 2 --resume --json results/main/$1-$2-${3%%:*}-$5.json
}

for puzzle in $puzzles; do
  $bin collect --env $puzzle --levels 0:1000 --out runs/data/$puzzle --resume
  $bin collect --env $puzzle --levels 1000:1200 --out runs/data/$puzzle-validation --resume
done
(train procgen-maze 0; train procgen-maze 1) &
(for seed in 0 1 2; do train ice-slider $seed; train digit-jump $seed; done; train procgen-maze 2) &
wait -n && wait
for puzzle in $puzzles; do
  for levels in 2000:2100 10000:11000; do
    for planner in one-shot full; do
      for seed in 0 1 2; do evaluate $puzzle $planner $levels runs/models/$puzzle-$seed seed$seed; done
    done
  done
  for planner in one-shot full; do evaluate $puzzle $planner 2000:2100 oracle oracle; done
done
