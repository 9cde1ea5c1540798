#!/usr/bin/env bash
# Makes the records behind the main table: three puzzles, three training seeds each, levels 0-999 for training,
# 1000-1199 for validation and calibration, 2000-2099 and 10000-10999 for the record. Run it again to go on after an
# interruption; what is finished is not run again. Takes about an hour on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin/pixelplan
for env in ice-slider digit-jump procgen-maze; do
  $bin collect --env $env --levels 0:1000 --out runs/data/$env --resume
  $bin collect --env $env --levels 1000:1200 --out runs/data/$env-validation --resume
done
for seed in 0 1 2; do
  for env in ice-slider digit-jump procgen-maze; do
    model=runs/models/$env-$seed
    $bin train --data runs/data/$env --validation runs/data/$env-validation --out $model --seed $seed --resume
    mkdir -p results/main && cp $model/config.json results/main/$env-training-seed$seed.json
    for levels in 2000:2100 10000:11000; do
      for planner in one-shot full; do
        $bin evaluate --env $env --model $model --levels $levels --planner $planner --workers 2 --resume \
          --json results/main/$env-$planner-${levels%%:*}-seed$seed.json
      done
    done
  done
done
for env in ice-slider digit-jump procgen-maze; do
  for planner in one-shot full; do
    $bin evaluate --env $env --model oracle --levels 2000:2100 --planner $planner --workers 2 --resume \
      --json results/main/$env-$planner-2000-oracle.json
  done
done
