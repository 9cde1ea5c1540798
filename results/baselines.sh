#!/usr/bin/env bash
# Makes the records of the baselines in the order of how much they tell. Run it again to go on after an interruption.
# SECONDS_EACH limits the training of each run; what does not finish is reported at the budget it reached.
# PPO takes about ten minutes for a million steps on one core, GLAMOR a quarter of an hour for 50,000, DreamerV2 ten
# minutes for 10,000 with few gradient steps. DreamerV2 runs from .venv-extras, which `make .venv-extras/installed` makes.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-.venv/bin}
dreamer_bin=${DREAMER_BIN:-.venv-extras/bin}
limit=${SECONDS_EACH:+--seconds $SECONDS_EACH}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}

complete() { # record: whether it is there and its run reached all of its steps
  test -e "$1" && "$bin/python" -c "import json, sys
budget = json.load(open(sys.argv[1]))['budget']
sys.exit(budget['environment_steps'] < budget['wanted_steps'])" "$1"
}

record() { # baseline puzzle seed [arguments]
  local file=results/baselines/$2-$1-2000-seed$3.json from=$bin
  test "$1" != dreamer || from=$dreamer_bin
  complete "$file" || "$from/pixelplan" baseline "$1" --env "$2" --seed "$3" --json "$file" "${@:4}"
}

train() { # baseline puzzle steps [arguments]
  record "$1" "$2" 0 --steps "$3" --out "runs/baselines/$1-$2-0" --resume $limit "${@:4}"
}

for env in ice-slider digit-jump procgen-maze; do
  for seed in 0 1 2; do
    record image-search $env $seed
    record random $env $seed
  done
done
train ppo ice-slider 3000000
train ppo digit-jump 3000000
for env in ice-slider digit-jump procgen-maze; do
  train glamor $env 50000 --rule near
done
train dreamer digit-jump 10000 --replay-ratio 0.05
train ppo procgen-maze 3000000
train dreamer ice-slider 1200 --replay-ratio 0.05
train dreamer procgen-maze 1200 --replay-ratio 0.05
