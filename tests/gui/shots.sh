#!/bin/bash
# Pictures of every view over real runs: the demo, and with test data the taesd round trip, a tiled
# decode, sd15 and flux end to end. usage: shots.sh DIR
# What needs test data that is not there is left out, with a message.
export SHOTS=${1:-build/shots}
case $SHOTS in /*) ;; *) SHOTS=$PWD/$SHOTS ;; esac
mkdir -p "$SHOTS"
export SHOTS
. "$(dirname "$0")/lib.sh"
A=${NINODES_ASSETS:-$root/../shared/assets}
views=$(live_views)
: >"$SHOTS/app.log"

# A picture of the screen when it has changed since the last one (or will not), and has stopped changing.
last=
picture() { import -window root "$1"; md5sum <"$1"; }
shot() {
    local f=$SHOTS/$1.png now was
    for _ in $(seq 20); do now=$(picture "$f"); [ "$now" != "$last" ] && break; sleep 0.2; done
    for _ in $(seq 40); do was=$now; sleep 0.3; now=$(picture "$f"); [ "$now" = "$was" ] && break; done
    last=$now
}
all_views() { # PREFIX: the window, then each live view
    shot "$1-window"
    for v in $views; do win_do view "$v"; shot "$1-$v"; done
}
# The manual's picture of a view: what lies below its tab, or above them all; few colours make it small.
doc() { # SHOT NAME
    local x y w h top=94 tabs=42
    read -r x y w h <<<"$(at '*' 'Live views' box)"
    if [ "$2" = timeline ]; then h=$((y - top)); y=$top; else y=$((y + tabs)); h=$((h - tabs)); fi
    convert "$SHOTS/$1.png" -crop "${w}x$h+$x+$y" +repage -colors 64 -strip "$SHOTS/doc/views/$2.png"
}
whole() { convert "$SHOTS/$1.png" -crop 1280x840+0+0 +repage -strip "$SHOTS/doc/$2.png"; } # SHOT NAME
mkdir -p "$SHOTS/doc/views"
command -v xdotool >/dev/null && xdotool mousemove 1399 899 # no tooltip lies over anything
start --models "$root/data/demo/models" --input "$root/data/demo/input" --output "$work/out"
for n in text_to_image tiled_decode; do
    win_do open-path "$root/data/workflows/$n.json"; wait_state "ready invalid" 30
    win_do run; wait_state "done failed" 900
    all_views "demo-$n"
    if [ $n = text_to_image ]; then
        win_do perspective compose; shot compose; whole compose studio
        win_do view kernels; shot profile; whole profile profile
    fi
done
for v in $views; do [ "$v" = runs ] || doc "demo-tiled_decode-$v" "$v"; done # that list has no tab
doc demo-text_to_image-steps steps # the sampling was still there afterwards
# the same once more, compared with the first
win_do view compare; at button 'Keep as baseline' click
at label 'Baseline: *' wait
win_do measure-again; until_ok 60 is_state running || true; wait_state "done failed" 900
shot demo-compared; doc demo-compared compare

[ -n "${NINODES_SHOTS_DOC:-}" ] && { quit; exit 0; } # the manual's alone
if [ -d "$A/e2e" ]; then
    quit
    start --models "$A/models" --input "$A/taesd_ref" --output "$work/out"
    for f in "$A"/taesd_ref/workflows/*.json; do
        case $f in *roundtrip_taesd*) ;; *) continue ;; esac
        win_do open-path "$f"; wait_state "ready invalid" 30; is_state ready || continue
        win_do run; wait_state "done failed" 300
        all_views "taesd-$(basename "$f" .json)"
    done
    cat >"$work/tiled.json" <<'EOF'
{"1": {"class_type": "LoadLatent", "inputs": {"latent": "taesd_shiba.latent"}},
 "2": {"class_type": "VAELoader", "inputs": {"vae_name": "taesd"}},
 "3": {"class_type": "VAEDecodeTiled", "inputs": {"samples": ["1", 0], "vae": ["2", 0], "tile_size": 192, "overlap": 48,
   "temporal_size": 64, "temporal_overlap": 8}},
 "4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "tiled"}}}
EOF
    win_do open-path "$work/tiled.json"; wait_state "ready invalid" 30
    win_do run; wait_state "done failed" 300
    all_views tiled
    for n in sd15 flux; do
        f=$(ls "$A"/e2e/workflows/*$n*.json | head -1)
        win_do open-path "$f"; wait_state "ready invalid" 30
        win_do run; wait_state "done failed" 300
        all_views "$n"
    done
else
    echo "no test data in ../shared/assets: the demo only"
fi
for p in queue problems form log result; do win_do panel $p; shot "panel-$p"; done
win_do plan; sleep 3; shot plan
win_do view timeline
for t in dark contrast light; do actions "" Activate theme "[<'$t'>]" '{}' >/dev/null; shot "theme-$t"; done
win_do shortcuts; shot shortcuts
app_do preferences; shot preferences
ls "$SHOTS"/*.png | wc -l
