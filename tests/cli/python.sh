# The Python package: its declarations against data/abi, its tests, its examples, and the wheel in an environment of its own.
. tests/cli/common
case $(readelf -d "${B:-build}/ninodes" 2>/dev/null) in
*asan* | *ubsan* | *tsan*) echo "skip: an interpreter without sanitizers cannot load this library"; exit 77 ;;
esac
# One that has numpy, if there is one: the other half works without.
for python in python3 /usr/bin/python3; do "$python" -c 'import numpy' 2>/dev/null && break; done
"$python" -c 'import numpy' 2>/dev/null || python=python3
command -v "$python" >/dev/null || { echo "skip: python3 is not installed"; exit 77; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "skip: Python 3.9 is needed"; exit 77; }
export NINODES_LIBRARY=$PWD/${B:-build} PYTHONPATH=$PWD/data/python PYTHONDONTWRITEBYTECODE=1
expect 0 "$python" -m unittest discover -s tests/python -p 'test_*.py' -v
sed -n 's/.*skipped .\(.*\).$/  part skipped: \1/p' "$tmp/err" | sed 's/part skipped: part skipped/part skipped/' | sort -u
said '^Ran [1-9][0-9]* tests'

# The examples, on the demo's models: one here, all in the long form.
"$N" devices | grep -q 'pthread-\|cpu-' || { echo "  part skipped: no PoCL for the examples"; exit 0; }
e=data/python/examples
export MODELS=data/demo/models OUT=$tmp/o
expect 0 "$python" $e/script.py data/workflows/text_to_image.json KSampler.seed=3 "Prompt.text=a large red circle"
[ -s "$(cat "$tmp/out")" ] || die "no picture"
said '100 % 8 SaveImage'
expect 1 "$python" $e/script.py data/workflows/text_to_image.json KSampler.steps=none
said '^error: .*steps'
[ -n "${NINODES_TEST_LONG-}" ] || exit 0
printf 'a red circle\n\na blue square\n' >"$tmp/prompts"
expect 0 "$python" $e/batch.py data/workflows/text_to_image.json "$tmp/prompts" "$tmp/o2"
[ "$(ls "$tmp/o2" | wc -l)" = 2 ] || die "not a picture for each prompt"
"$N" run data/workflows/text_to_image.json --models data/demo/models --output "$tmp/o3" --quiet --set KSampler.seed=2 \
    --set 'Prompt.text=a blue square' --no-metadata >/dev/null || die "the program"
"$python" - "$tmp/o2"/*2_.png "$tmp"/o3/*.png <<'END' || die "another picture than the program's"
import sys, ninodes
a, b = (ninodes.load_picture(p).to_bytes() for p in sys.argv[1:])
sys.exit(a != b)
END
if "$python" -c 'import numpy' 2>/dev/null; then
    expect 0 "$python" $e/notebook.py
    printed '^sum of a picture and its inverse: 1.0'
    printed '^  gemm '
    # The document's code, in one go.
    mkdir "$tmp/doc"
    ln -s "$PWD/data/demo/models" "$tmp/doc"
    cp data/workflows/text_to_image.json "$tmp/doc/workflow.json"
    sed -n '/^```python$/,/^```$/{//!p}' data/doc/python.md >"$tmp/doc/code.py"
    (cd "$tmp/doc" && "$python" code.py) >"$tmp/out" 2>"$tmp/err" || die "the code of data/doc/python.md"
    printed '^(1, 128, 128, 3)$'
else
    echo "  part skipped: the notebook needs numpy"
fi

# The wheel as pip installs it.
expect 0 make -s wheel B="${B:-build}"
if "$python" -m venv "$tmp/venv" >/dev/null 2>&1; then
    unset PYTHONPATH
    expect 0 "$tmp/venv/bin/pip" install --no-index "${B:-build}"/wheel/ninodes-*.whl
    (cd "$tmp" && venv/bin/python -c 'import ninodes; print(ninodes.library_version())') >"$tmp/out" || die "the installed package"
    printed '^[0-9]'
else
    echo "  part skipped: python3-venv is not installed"
fi
exit 0
