#!/bin/bash
# Code objects of gfx1151 executed by the interpreter of tests/gate/isa: kernels of every kind give what ref gives, and
# faults planted in their instructions are noticed. `make check-long` runs more of the self-test.
B=${B:-build}
isa() { B=$B timeout 1500 python3 tests/gate/isa.py --quick --op "$1" >"$tmp/out" 2>"$tmp/err"; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
for op in act_f16_64_gelu_x2 linear_f16_1x129x320 attention_f16_1x47x128 ${NINODES_TEST_LONG:+group_norm linear_f16_1 linear_bf16_1 conv2d_f16_1 attention_bf16 softmax}; do
    isa "$op"
    case $? in
    77) cat "$tmp/out" && exit 77 ;;
    0) grep ' cases, ' "$tmp/out" ;;
    *) cat "$tmp/out" "$tmp/err" && exit 1 ;;
    esac
done
fault() { # what is changed, a word of what must be said of it
    if NINODES_ISA_FAULT=$1 isa "$2" || ! grep -q "$3" "$tmp/err"; then
        echo "$1: not noticed" && cat "$tmp/err" && exit 1
    fi
}
fault waits act_f16_64_gelu_x2 'has not been waited for'
fault barriers attention_f16_1x47x128 'since the last barrier'
fault operands linear_f16_1x129x320 expected
