# README.md and data/doc: what is generated is not stale, links lead somewhere, README is short, and
# every block of sh does what it says. Blocks run in a folder of their own, one a document, where
# ninodes and ninodes-studio are found, with the demo's models as those of a ComfyUI.
. tests/cli/common
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
root=$PWD
bin=$(realpath "$(dirname "$N")")
expect 0 python3 tests/docs.py check "$bin"

# ---- the checks notice what they are for: a copy of the documents, each time with one mistake
copy() {
    rm -rf "$tmp/copy"
    mkdir -p "$tmp/copy/data"
    ln -s "$root"/* "$tmp/copy" 2>/dev/null
    ln -s "$root"/data/* "$tmp/copy/data" 2>/dev/null
    rm "$tmp/copy/README.md" "$tmp/copy/data/doc" && cp README.md "$tmp/copy" && cp -r data/doc "$tmp/copy/data"
}
# noticed WHAT: a line of the check's output says it
noticed() {
    (cd "$tmp/copy" && expect 1 python3 tests/docs.py check "$bin") || exit 1
    printed "$1"
}
copy && sed -i 's/^| 75 | .*/| 75 | something else |/' "$tmp/copy/data/doc/use.md" && noticed 'use.md: a generated part is stale'
copy && echo '[a](data/nowhere.md) [b](data/doc/use.md#nowhere)' >>"$tmp/copy/README.md" && noticed 'nowhere.md: no such file'
printed 'use.md#nowhere: no such heading'
copy && seq 150 >>"$tmp/copy/README.md" && noticed 'README.md: .* lines'
copy && rm "$tmp/copy/data/schema" && cp -r data/schema "$tmp/copy/data" &&
    sed -i '/"cpu.busy": /d' "$tmp/copy/data/schema/lines.schema.json" && noticed 'lines.schema.json: counters are not as in their table'
copy && printf '```bash\nfalse\n```\n' >>"$tmp/copy/README.md" && noticed "code in 'bash'"

# ---- the blocks
"$N" devices | grep -q '^cl:' || { echo "skip: without an OpenCL device the examples take too long; the texts were checked"; exit 77; }
# Compiled kernels stay where they are; all else is new.
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache} XDG_CONFIG_HOME=$tmp/config HOME=$tmp/home
export PATH=$bin:$PATH
mkdir -p "$HOME/ComfyUI" "$tmp/made"
ln -s "$root/data/demo/models" "$root/data/demo/input" "$HOME/ComfyUI"
expect 0 "$N" run data/workflows/text_to_image.json --models data/demo/models --output "$tmp/made" --trace "$tmp/made/t.ninotrace"
mv "$tmp/made"/*.png "$tmp/made/picture.png"
# What the documents call workflow.json, picture.png and so on.
world() {
    mkdir -p "$1/sh"
    ln -s "$bin" "$1/build"
    ln -s "$root"/{data,tests,core,cl,Makefile} "$root/data/demo/models" "$root/data/demo/input" "$1"
    ln -s "$root/data/demo/models/checkpoints/demo_flux.safetensors" "$1/model.safetensors"
    cp "$root/data/workflows/text_to_image.json" "$1/workflow.json"
    cp "$tmp/made"/* "$1"
}
# run_blocks DOCUMENT FOLDER: adds to $n, the number of blocks
run_blocks() {
    world "$2"
    python3 tests/docs.py blocks "$1" "$2/sh" || die "the blocks of $1"
    for sh in "$2"/sh/*.sh; do
        [ -f "$sh" ] || continue
        (cd "$2" && timeout 120 bash -e -o pipefail "$sh") >"$tmp/out" 2>"$tmp/err" </dev/null ||
            die "exit status $? of $1, line $(basename "$sh" .sh): $(cat "$sh")"
        n=$((n + 1))
    done
}
n=0
for doc in README.md data/doc/*.md; do
    run_blocks "$doc" "$tmp/$(basename "$doc" .md)"
done
[ "$n" -gt 10 ] || die "only $n blocks were found"
echo "$n blocks ran"

printf '```sh\ntrue\nninodes inspect nowhere\n```\n' >"$tmp/wrong.md"
(run_blocks "$tmp/wrong.md" "$tmp/wrong") >"$tmp/said" 2>&1 && die "a block that fails is not noticed"
grep -q 'exit status 4 of .*wrong.md, line 0001' "$tmp/said" || die "what a failed block says: $(cat "$tmp/said")"
exit 0
