#!/bin/sh
# Record, train and judge one of the examples: examples/run.sh NAME [train options …]
# Records go to results/own/, a picture to docs/examples/, data and models to runs/. Levels: training 0–999, validation 1000–1099, test 2000–2099.
set -eu
name=$1
shift
learn="" search="" preset=spatial
case $name in
sokoban) play="--episodes 20 --steps 40" learn="--updates 1500" search="--cutoff 4096 --node-limit 40000" ;;
minigrid_world) play="--episodes 10 --steps 60" ;;
tiles) play="--episodes 20 --steps 20" ;;
hanoi) play="--episodes 20 --steps 20" preset=rules search="--node-limit 4096 --cutoff 4096" ;;
*) echo "there is no example $name here; there are sokoban, minigrid_world, tiles and hanoi, and for large searches" \
  "results/search.sh" >&2 && exit 2 ;;
esac
env="examples.$name:make"
mkdir -p results/own
pixelplan collect --env "$env" --levels 0:1000 $play --random --out "runs/own/$name" --resume
pixelplan collect --env "$env" --levels 1000:1100 $play --random --out "runs/own/$name-validation" --resume
pixelplan train --preset $preset --data "runs/own/$name" --validation "runs/own/$name-validation" --out "runs/own/$name-model" --resume $learn "$@"
cp "runs/own/$name-model/config.json" "results/own/$name-training.json"
for planner in one-shot full; do
  pixelplan evaluate --env "$env" --model "runs/own/$name-model" --levels 2000:2100 --planner $planner $search \
    --json "results/own/$name-$planner.json" --resume
done
pixelplan solve --env "$env" --model "runs/own/$name-model" --level 2007 $search --out "docs/examples/${name%_world}.png"
