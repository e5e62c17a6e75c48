#!/bin/bash
# Writes data/demo/sheet.png: 24 pictures of prompts that training never saw, made by the demo's
# workflow. Needs ImageMagick.
#   data/train/sheet.sh [build/ninodes]
set -e
ninodes=${1:-build/ninodes}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
run() { # workflow, prompt, seed, folder
    "$ninodes" run "data/workflows/$1.json" --models data/demo/models --output "$out/$4" --no-metadata --quiet \
        --set "Prompt.text=$2" --set "KSampler.seed=$3"
}
label() { echo "$1" | sed 's/^a //; s/ on a /\\non /; s/ background//'; }
pictures=()
n=0
while read -r prompt; do
    n=$((n + 1))
    if [ $n -le 24 ]; then
        run text_to_image "$prompt" $n "p$n"
        pictures+=(-label "$(label "$prompt")" "$out/p$n"/*.png)
    fi
done <data/demo/prompts.txt
montage -font DejaVu-Sans -pointsize 8 "${pictures[@]}" -tile 6x -geometry 128x128+4+4 "$out/pictures.png"
convert "$out/pictures.png" +dither -colors 128 -define png:compression-level=9 data/demo/sheet.png
