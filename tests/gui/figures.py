# The kernel table as the app exports it against the calls of the same run in its trace, and what the command line said of
# it: every figure computed again from the single calls. usage: figures.py TABLE.csv TRACE.json [LINES.json|shapes|sizes]
import csv, json, math, sys
from collections import defaultdict


def fail(text):
    sys.exit("figures differ: " + text)


def near(what, a, b, share=1e-6, least=1e-6):
    if abs(a - b) > max(abs(a), abs(b)) * share + least:
        fail(f"{what}: {a} and {b}")


by_shape, by_size = sys.argv[3:] == ["shapes"], sys.argv[3:] == ["sizes"]
calls = defaultdict(list)
for e in json.load(open(sys.argv[2]))["traceEvents"]:
    if e["ph"] == "X" and e.get("cat") in ("kernel", "transfer"):
        a = e["args"]
        family = a["family"] or ("transfer" if e["cat"] == "transfer" else "")
        name = f"{e['name']} {a['shape']}".strip() if by_shape else e["name"]
        if by_size:
            name += f" {a.get('global', '')}/{a.get('local', '')}"
        calls[name, family].append((round(e["dur"] * 1000), a["flops"], a["bytes"]))
table = {(r["kernel"] + (f" {r['global']}/{r['local']}" if by_size else ""), r["family"]): r for r in csv.DictReader(open(sys.argv[1], newline=""))}
if len(calls) < 5 or set(calls) != set(table):
    fail(f"kernels of the trace {sorted(calls)}, of the table {sorted(table)}")
everything = sum(ns for list_ in calls.values() for ns, _, _ in list_)


def check(key, r):
    ns = sorted(c[0] for c in calls[key])
    n, total = len(ns), sum(ns)
    mean = total / n
    flops, moved = (sum(c[i] for c in calls[key]) for i in (1, 2))
    if int(float(r["calls"])) != n:
        fail(f"{key}: {n} calls, {r['calls']} in the table")
    near(f"{key} total", float(r["total_ns"]), total)
    near(f"{key} mean", float(r["mean_ns"]), mean, 1e-6, 1)
    near(f"{key} shortest", float(r["min_ns"]), ns[0])
    near(f"{key} longest", float(r["max_ns"]), ns[-1])
    if n > 1:
        near(f"{key} deviation", float(r["sigma_ns"]), math.sqrt(sum((v - mean) ** 2 for v in ns) / (n - 1)), 1e-3, 2)
    elif r["sigma_ns"]:
        fail(f"{key}: a deviation of one call: {r['sigma_ns']}")
    near(f"{key} GFLOP/s", float(r["gflops"]), flops / total if flops else 0)
    near(f"{key} GB/s", float(r["gbps"]), moved / total if moved else 0)
    for name, q in (("p50_ns", 0.5), ("p95_ns", 0.95)):
        i = q * (n - 1)  # between the two calls around the place, within a bin of the histogram
        low, high = ns[math.floor(i)], ns[math.ceil(i)]
        near(f"{key} {name}", float(r[name]), low + (i - math.floor(i)) * (high - low), 0.02, 1)


for key, r in table.items():
    check(key, r)
    near(f"{key} share", float(r["share"]), float(r["total_ns"]) / everything)
if len(sys.argv) > 3 and not by_shape and not by_size:
    data = json.loads(open(sys.argv[3]).read().strip().splitlines()[-1])["data"]
    told = {(k["name"], k["family"]): k for k in data["kernels"]}
    if set(told) != set(calls):
        fail(f"kernels that run --json told: {sorted(told)}, of the trace: {sorted(calls)}")
    for key, k in told.items():
        check(key, k)
        for f in ("calls", "total_ns", "mean_ns", "sigma_ns", "p50_ns", "p95_ns", "gflops", "gbps"):
            near(f"{key} {f}", float(table[key][f] or 0), float(k[f]))  # no deviation of one call
print(f"{len(table)} {'shapes' if by_shape else 'work sizes' if by_size else 'kernels'}, {sum(len(c) for c in calls.values())} calls")
