#!/bin/bash
# A file with the classes of the user's ComfyUI, in the preferences: the app and its worker know them; one that cannot be
# read is told, and the app goes on without.
. "$(dirname "$0")/lib.sh"
cat >"$work/own.json" <<'END'
{"nodes": [{"id": 1, "type": "My Own Node", "widgets_values": [5, "fixed", "big", 0.5, "tail"]},
 {"id": 2, "type": "EmptyLatentImage", "outputs": [{"type": "LATENT", "links": [1]}], "widgets_values": [64, 64, 1]},
 {"id": 3, "type": "SaveLatent", "inputs": [{"name": "samples", "type": "LATENT", "link": 1}], "widgets_values": ["x"]}],
 "links": [[1, 2, 0, 3, 0, "LATENT"]]}
END
cat >"$work/info.json" <<'END'
{"My Own Node": {"input": {"required": {"seed": ["INT", {"default": 0}], "size": ["COMFY_DYNAMICCOMBO_V3", {"options": [
  {"key": "small", "inputs": {"required": {}}}, {"key": "big", "inputs": {"required": {"by": ["FLOAT"]}}}]}]},
  "optional": {"text": ["STRING"]}}, "output": ["LATENT"]}}
END
set_info() { mkdir -p "$XDG_CONFIG_HOME/ninodes"; printf '[preferences]\nobject-info=%s\n' "$1" >"$XDG_CONFIG_HOME/ninodes/studio.ini"; }

set_info "$work/info.json"
start --device ref --output "$work/out" "$work/own.json"
wait_state ready 30 # nobody needs the node: it can run
win_do export-api-to "$work/api.json"
until_ok 10 grep -q '"size.by": *0.5' "$work/api.json" || die "the values have no names: $(cat "$work/api.json")"
win_do run
wait_state done 60 # the worker knows the class, too
[ -f "$work/out/x_00001_.latent" ] || die "no file"
if has_bus; then
    app_do preferences
    at '*' 'Choose: Classes of your ComfyUI' wait || die "no row in the preferences"
    shot preferences
fi
quit

set_info "$work/own.json"
start --device ref --output "$work/out" "$work/own.json"
wait_state invalid 30
if has_bus; then
    at '*' 'Classes of your ComfyUI*not what a ComfyUI server answers*' wait || die "the file is wrong, and nobody says so"
fi
shot wrong
quit
