#!/bin/sh
# Large searches from pixels (docs/search.md): record random play, learn rules and a distance, judge.
#   results/search.sh boxoban|doubtful|fifteen|cube|large_cube|latplan …
# Records go to results/search/, data and models to runs/search/. Run again, it goes on where it was cut off.
# Boxoban's files are in $BOXOBAN (google-deepmind/boxoban-levels); train-*.txt are trained and tuned on, the others judged.
set -eu
BOXOBAN=${BOXOBAN:-../shared/data/boxoban}
out=results/search runs=runs/search
widely="--node-limit 20000 --cutoff 20000" # breadth-first, for comparison
mkdir -p $out $runs

play() { # folder env episodes steps levels [collect options …]: random play
  folder=$1 env=$2 episodes=$3 steps=$4 levels=$5
  shift 5
  pixelplan collect --env "$env" --levels "$levels" --episodes "$episodes" --steps "$steps" --out "$runs/$folder" --resume "$@"
}

learn() { # name: the world model, by rules
  [ -f "$runs/$1-model/config.json" ] || pixelplan train --preset rules --threads 1 --data "$runs/$1-data" \
    --validation "$runs/$1-validation" --out "$runs/$1-model" --resume
  cp "$runs/$1-model/config.json" "$out/$1-training.json"
}

play_and_learn() { # name env levels validation [collect options …]
  name=$1 env=$2 levels=$3 validation=$4
  shift 4
  play "$name-data" "$env" 20 20 "$levels" "$@"
  play "$name-validation" "$env" 20 20 "$validation" "$@"
  learn "$name"
}

distance() { # name env levels held-out [train-heuristic options …]
  name=$1 env=$2 levels=$3 held=$4
  shift 4
  pixelplan train-heuristic --env "$env" --model "$runs/$name-model" --levels "$levels" --held-out "$held" \
    --out "$runs/$name-heuristic" --resume "$@"
  cp "$runs/$name-heuristic/heuristic.json" "$out/$name-heuristic.json"
}

judge() { # record name env levels [evaluate options …]
  record=$1 name=$2 env=$3 levels=$4
  shift 4
  [ -f "$out/$record.json" ] || pixelplan evaluate --env "$env" --model "$runs/$name-model" --levels "$levels" \
    --planner one-shot --json "$out/$record.json" --resume "$@"
}

boxoban() {
  env=examples.sokoban_levels:make
  files=$BOXOBAN/train-0.txt,$BOXOBAN/train-1.txt,$BOXOBAN/train-2.txt,$BOXOBAN/train-3.txt,$BOXOBAN/train-4.txt
  play boxoban-data $env 20 40 0:1000 --option "levels=$BOXOBAN/train-0.txt"
  play boxoban-validation $env 20 40 0:100 --option "levels=$BOXOBAN/train-4.txt"
  learn boxoban
  distance boxoban $env 0:4000 4100:4110 --option "levels=$files" --rounds 8 --searches 100 --updates 600 \
    --learning-rate 3e-3 --batch 32 --held-out-nodes 8000
  best="--frontier best-first --weight 3 --policy-weight 0.3 --batch 32 --node-limit 20000 --heuristic $runs/boxoban-heuristic"
  judge boxoban-validation boxoban $env 4200:4400 --option "levels=$files" $best
  known="--calibration $out/boxoban-validation.json"
  judge boxoban-test boxoban $env 0:1000 --option "levels=$BOXOBAN/test.txt" $best $known
  judge boxoban-medium boxoban $env 0:1000 --option "levels=$BOXOBAN/medium.txt" $best $known
  judge boxoban-hard boxoban $env ${HARD:-0:500} --option "levels=$BOXOBAN/hard.txt" $best $known
  judge boxoban-breadth-first boxoban $env 0:30 --option "levels=$BOXOBAN/test.txt" $widely
  for file in medium hard; do
    judge boxoban-$file-breadth-first boxoban $env 0:30 --option "levels=$BOXOBAN/$file.txt" $widely
  done
}

doubtful() { # rules of too few levels, and goals at random: do plans know how sure they are?
  env=examples.sokoban_levels:make
  play few-data $env 20 40 0:4 --option "levels=$BOXOBAN/train-0.txt"
  [ -d $runs/few-validation ] || cp -r $runs/boxoban-validation $runs/few-validation
  learn few
  judge few-validation few $env 200:300 --option "levels=$BOXOBAN/train-4.txt" --goals random
  judge few-test few $env 0:100 --option "levels=$BOXOBAN/test.txt" --goals random --calibration $out/few-validation.json
}

fifteen() {
  env=examples.sliding_puzzle:make
  for look in numbers picture; do
    option="--option picture=$([ $look = picture ] && echo true || echo false)"
    rounds=$([ $look = picture ] && echo 0 || echo 3)
    play_and_learn fifteen-$look $env 0:200 1000:1050 $option
    distance fifteen-$look $env 0:1000 1000:1010 $option --walk 256 --searches 100 --rounds $rounds --nodes 8000 \
      --most-nodes 16000 --batch 64
    judge fifteen-$look fifteen-$look $env 2000:2100 $option --frontier best-first --weight 1.5 --node-limit 50000 \
      --depth-limit 1000 --heuristic "$runs/fifteen-$look-heuristic"
  done
  judge fifteen-breadth-first fifteen-numbers $env 2000:2010 --option picture=false $widely
  judge fifteen-picture-breadth-first fifteen-picture $env 2000:2010 --option picture=true $widely
}

cube() { # every move can be undone, so half of the way is searched from the goal
  env=examples.cube:make
  play_and_learn cube $env 0:100 1000:1020 --option size=2
  judge cube cube $env 2000:2100 --option size=2 optimal=true --frontier best-first --node-limit 100000 --perimeter 100000
  judge cube-breadth-first cube $env 2000:2010 --option size=2 optimal=true $widely
}

large_cube() { # of 3 × 3 × 3 pieces: is the world model exact for 10,000 steps?
  play_and_learn large-cube examples.cube:make 0:100 1000:1020 --option size=3
  [ -f $out/large-cube-rollouts.json ] || python benchmarks/long_rollouts.py --env examples.cube:make --option size=3 \
    --model $runs/large-cube-model --levels 2000:2005 --json $out/large-cube-rollouts.json
}

latplan() { # 20 instances each that are 7 and 14 steps from the goal; plans have to be shortest
  play_and_learn eight examples.sliding_puzzle:make 0:200 1000:1050 --option size=3
  play_and_learn fifteen-numbers examples.sliding_puzzle:make 0:200 1000:1050 --option picture=false
  play_and_learn hanoi examples.hanoi:make 0:300 1000:1020
  play_and_learn lights examples.lights_out:make 0:200 1000:1020
  thorough="--frontier best-first --weight 1 --node-limit 1000000"
  for steps in 7 14; do
    judge latplan-eight-$steps eight examples.sliding_puzzle:make 2000:2020 --option size=3 steps=$steps $thorough
    judge latplan-fifteen-$steps fifteen-numbers examples.sliding_puzzle:make 2000:2020 --option picture=false steps=$steps $thorough
    judge latplan-hanoi-$steps hanoi examples.hanoi:make 2000:2020 --option steps=$steps $thorough
    judge latplan-lights-$steps lights examples.lights_out:make 2000:2020 --option steps=$steps $thorough \
      --perimeter $([ $steps = 7 ] && echo 20000 || echo 1800000)
    judge latplan-sokoban-$steps boxoban examples.sokoban_levels:make 0:20 \
      --option "levels=$BOXOBAN/test.txt" steps=$steps --node-limit 1000000 --cutoff 1000000
  done
  judge lights-breadth-first lights examples.lights_out:make 2000:2005 --option steps=14 $widely
  judge hanoi-breadth-first hanoi examples.hanoi:make 2000:2020 --option steps=14 $widely
  judge sokoban-best-first boxoban examples.sokoban_levels:make 0:20 --option "levels=$BOXOBAN/test.txt" steps=14 \
    --frontier best-first --weight 3 --policy-weight 0.3 --batch 32 --node-limit 20000 --heuristic "$runs/boxoban-heuristic"
}

for world in "$@"; do "$world"; done
