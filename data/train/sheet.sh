#!/bin/bash
# Writes data/demo/sheet.png: 24 pictures of prompts that training never saw and 6 clips, of which
# every second frame, made by the demo's workflows. Needs ImageMagick.
#   data/train/sheet.sh [build/ninodes]
set -e
ninodes=${1:-build/ninodes}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
run() { # workflow, prompt, seed, folder
    "$ninodes" run "data/workflows/$1.json" --models data/demo/models --output "$out/$4" --no-metadata --quiet \
        --set "Prompt.text=$2" --set "KSampler.seed=$3"
}
frames() { # of an animated WebP, every second one, side by side
    convert "$1" -coalesce "$out/frame%d.png"
    convert "$out"/frame{0,2,4,6,8}.png +append "$2"
}
label() { echo "$1" | sed 's/^a //; s/ on a /\\non /; s/ background//'; }
pictures=()
clips=()
n=0
while read -r prompt; do
    n=$((n + 1))
    if [ $n -le 24 ]; then
        run text_to_image "$prompt" $n "p$n"
        pictures+=(-label "$(label "$prompt")" "$out/p$n"/*.png)
    fi
    if [ $n -gt 100 ] && [ $n -le 106 ]; then
        run text_to_video "$prompt" $n "c$n"
        frames "$out/c$n"/*.webp "$out/c$n.png"
        clips+=(-label "$(label "$prompt")" "$out/c$n.png")
    fi
done <data/demo/prompts.txt
montage -font DejaVu-Sans -pointsize 8 "${pictures[@]}" -tile 6x -geometry 128x128+4+4 "$out/pictures.png"
montage -font DejaVu-Sans -pointsize 8 "${clips[@]}" -tile 2x -geometry 320x64+40+4 "$out/clips.png"
convert "$out/pictures.png" "$out/clips.png" -gravity center -append +dither -colors 128 -define png:compression-level=9 data/demo/sheet.png
