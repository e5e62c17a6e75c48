# A node is two files: one with the node, one line in the node table. In a scratch copy of the
# sources such a node is added, and everything that knows nodes knows it.
. tests/cli/common
command -v make >/dev/null || { echo "skip: no make"; exit 77; }
case $B in
*-nocl*) flags=CL=0 ;;
*-address* | *-undefined* | *-thread*) echo "skip: a sanitizer's build" && exit 77 ;;
*) flags= ;;
esac

# The objects and what they were compiled with go along, so that only what depends on the two files is built.
b=$(basename "$B") copy=$tmp/copy
mkdir -p "$copy/$b"
cp -pr Makefile core cl cli data "$copy"
cp -p "$B/flags" "$copy/$b"
[ -f config.mk ] && cp -p config.mk "$copy"
for d in core cl cli; do
    [ -d "$B/$d" ] && cp -pr "$B/$d" "$copy/$b"
done
build() {
    make -C "$copy" B="$b" $flags "$b/ninodes" >"$tmp/make" 2>&1 || { tail -20 "$tmp/make"; die "make"; }
}
touch "$tmp/before"
build
compiled=$(find "$copy/$b" -name '*.o' -newer "$tmp/before" | wc -l)
[ "$compiled" -lt 10 ] || die "$compiled files were compiled for none" # one, install.c, knows its place
expect 2 "$copy/$b/ninodes" nodes ImageDim

# ---- the two files
cat >"$copy/core/node/image/image_dim.c" <<'EOF'
// Images made darker.
#include "core/node/util.h"

typedef struct dim_params {
    double factor;
} dim_params;

static nino_status dim_run(nino_run *r, nino_error *err)
{
    const dim_params *p = r->params;
    const nino_array *in = nino_in_image(r, 0);
    nino_array *out = nino_node_array(NINO_F32, in->shape, r->def->key, err);
    for (int64_t i = 0; out && !r->is_plan && i < nino_shape_count(&in->shape); i++)
        nino_array_f32(out)[i] = nino_array_f32(in)[i] * (float) p->factor;
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(image_dim, "ImageDim", "Dim Image", "image", "Makes images darker",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(dim_params,
                      NINO_P_FLOAT(dim_params, factor, 0.5, 0.0, 1.0, 0.01, .label = "Factor",
                                   .help = "What every colour is multiplied by")),
          NINO_RUN(dim_run));
EOF
sed -i 's/^    X(image_invert) /    X(image_dim) X(image_invert) /' "$copy/core/node/table/node_table.c"
touch "$tmp/before"
build
compiled=$(find "$copy/$b" -name '*.o' -newer "$tmp/before" | wc -l)
[ "$compiled" = 2 ] || die "$compiled files were compiled for one node"

# ---- who knows it
N=$copy/$b/ninodes
expect 0 "$N" nodes
printed '^ImageDim  *Makes images darker$'
expect 0 "$N" nodes ImageDim
printed '^ImageDim: Dim Image (image)$'
printed 'param  *factor  *float, default 0.5, 0..1 step 0.01'
expect 0 "$N" nodes --json
json_lines "$tmp/out" ok
printed '"ImageDim"'
expect 0 "$N" nodes --markdown
printed 'ImageDim'
expect 2 "$N" nodes ImageDin
said 'ImageDim'

workflow() { # FACTOR COLOUR: a picture of one colour, made darker
    cat <<EOF
{"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 16, "batch_size": 1, "color": $2}},
 "2": {"class_type": "ImageDim", "inputs": {"image": ["1", 0], "factor": $1}},
 "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "dim"}}}
EOF
}
workflow 2 0 >"$tmp/bad.json"
expect 3 "$N" run "$tmp/bad.json" -d ref --dry-run
said 'factor: 2 is outside 0..1'
workflow 0.5 16777215 >"$tmp/dim.json"
expect 0 "$N" run "$tmp/dim.json" -d ref --dry-run
run() { # OUT FACTOR COLOUR
    workflow "$2" "$3" >"$tmp/dim.json"
    expect 0 "$N" run "$tmp/dim.json" -d ref -o "$tmp/$1" --no-metadata
}
run dark 0 16777215
run white 1 16777215
run black 1 0
cmp -s "$tmp/dark/dim_00001_.png" "$tmp/black/dim_00001_.png" || die "white times 0 is not black"
cmp -s "$tmp/white/dim_00001_.png" "$tmp/black/dim_00001_.png" && die "white times 1 is black"
exit 0
