#!/usr/bin/env python3
# Checks every line of a file against a JSON Schema: the part of the language that ours uses, and an
# error for a keyword that it does not know, so that nothing is passed over in silence.
# usage: schema.py SCHEMA LINES...
import json
import sys

KNOWN = {"$schema", "$ref", "$defs", "title", "description", "type", "const", "enum", "properties", "required",
         "additionalProperties", "items", "minimum", "oneOf", "anyOf"}
IS = {"string": lambda v: isinstance(v, str), "boolean": lambda v: isinstance(v, bool), "null": lambda v: v is None,
      "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
      "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
      "object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list)}


def problems(v, s, root, at="line"):
    unknown = set(s) - KNOWN
    if unknown:
        raise SystemExit(f"the schema uses {unknown}, which this checker does not know")
    if "$ref" in s:
        return problems(v, root["$defs"][s["$ref"].rsplit("/", 1)[1]], root, at)
    bad = []
    types = s.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(IS[t](v) for t in types):
        return [f"{at}: {v!r} is not {' or '.join(types)}"]
    if "const" in s and v != s["const"]:
        bad.append(f"{at}: {v!r} is not {s['const']!r}")
    if "enum" in s and v not in s["enum"]:
        bad.append(f"{at}: {v!r} is not one of {s['enum']}")
    if "minimum" in s and IS["number"](v) and v < s["minimum"]:
        bad.append(f"{at}: {v} is below {s['minimum']}")
    for word, most in (("oneOf", 1), ("anyOf", 99)):
        if word in s:
            tried = [problems(v, one, root, at) for one in s[word]]
            fits = sum(not t for t in tried)
            if not 1 <= fits <= most: # the nearest one says what is wrong
                bad += min(tried, key=len) if not fits else [f"{at}: fits {fits} of {word}"]
    if isinstance(v, dict):
        bad += [f"{at}: lacks {k}" for k in s.get("required", []) if k not in v]
        for k, x in v.items():
            if k in s.get("properties", {}):
                bad += problems(x, s["properties"][k], root, f"{at}.{k}")
            elif s.get("additionalProperties") is False:
                bad.append(f"{at}: {k} is not in the schema")
    if isinstance(v, list) and "items" in s:
        for i, x in enumerate(v):
            bad += problems(x, s["items"], root, f"{at}[{i}]")
    return bad


def refuse(word):
    raise ValueError("not JSON: " + word)


schema = json.load(open(sys.argv[1], encoding="utf-8"))
failed = 0
for name in sys.argv[2:]:
    for number, line in enumerate(open(name, encoding="utf-8"), 1):
        for p in problems(json.loads(line, parse_constant=refuse), schema, schema):
            print(f"{name}:{number}: {p}\n    {line.rstrip()[:300]}")
            failed = 1
sys.exit(failed)
