#!/usr/bin/env python3
"""README.md and data/doc/*.md: facts that the project knows better than a writer, and checks.

  docs.py write BUILD         fills every region  <!-- generated: NAME -->...<!-- end -->  anew, and
                              the counters in the schema of JSON lines
  docs.py check BUILD         exit status 1 and a line each: stale regions, links to files that do not
                              exist, code blocks without a reason to be left out, a README too long
  docs.py blocks FILE FOLDER  writes the sh blocks of FILE that are to be run as FOLDER/LINE.sh

A block is left out when the line before it is  <!-- not run: REASON -->  and is only run with
NINODES_TEST_LONG=1 when it is  <!-- long: REASON --> .
"""
import glob
import json
import os
import re
import subprocess
import sys

README_LINES = 150
REGION = re.compile(r"(<!-- generated: ([a-z-]+) -->)(.*?)(<!-- end -->)", re.S)
SCHEMA = "data/schema/lines.schema.json"
MARK = re.compile(r"<!-- (not run|long): \S.* -->")


def documents():
    return ["README.md"] + sorted(glob.glob("data/doc/*.md"))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    if text != read(path):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        print("wrote", path)


def find_source(folder, text):
    """The one source file below folder that contains the text."""
    for path in sorted(glob.glob(folder + "/**/*.[ch]", recursive=True)):
        if text in read(path):
            return read(path)
    raise SystemExit(f"docs.py: no file of {folder}/ has {text!r}; the generator must follow it")


# ---- what regions are filled with ------------------------------------------------------------

class Facts:
    def __init__(self, build):
        self.program = os.path.join(build, "ninodes")
        self.node_list = json.loads(self.run("nodes", "--json"))["data"]["nodes"]

    def run(self, *args):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("NINODES_", "ROCM_NINODES_"))}
        env["LC_ALL"] = "C.UTF-8"
        return subprocess.run([self.program, *args], check=True, capture_output=True, text=True, env=env).stdout

    def choices(self, name):
        sampler = next(n for n in self.node_list if n["class_type"] == "KSampler")
        return next(p["values"] for p in sampler["params"] if p["name"] == name)

    def node_count(self):
        return str(len(self.node_list))

    def sampler_count(self):
        return str(len(self.choices("sampler_name")))

    def scheduler_count(self):
        return str(len(self.choices("scheduler")))

    def samplers(self):
        return block(words(self.choices("sampler_name")) + ".")

    def schedulers(self):
        return block(words(self.choices("scheduler")) + ".")

    def node_families(self):
        rows = {}
        for n in self.node_list:
            rows.setdefault(n["category"].split("/")[0], []).append(n["class_type"])
        return table(["category", "nodes", "for example"],
                     [[f"`{c}`", str(len(v)), words(v[:4])] for c, v in sorted(rows.items())])

    def model_folders(self):
        rows = {}
        for n in self.node_list:
            for p in n["params"]:
                if p.get("folder") not in (None, "input"):
                    rows.setdefault(p["folder"], set()).add(n["class_type"])
        return table(["folder", "read by"], [[f"`{f}`", words(sorted(v))] for f, v in sorted(rows.items())])

    def model_endings(self):
        text = find_source("core/file", "nino_model_endings[]")
        return words(re.findall(r'"([^"]+)"', re.search(r"nino_model_endings\[\][^;]*;", text).group(0)))

    def types(self):
        """Element types of files; those without a name in safetensors are GGUF's blocks."""
        rows = re.findall(r'\{ "(\w+)", ("\w+"|NULL), \d', find_source("core/tensor", "[NINO_Q8_0] ="))
        plain = [name for name, safetensors in rows if safetensors != "NULL"]
        blocks = [name for name, safetensors in rows if safetensors == "NULL"]
        return table(["", "types"], [["values", words(plain)], ["blocks of GGUF", words(blocks)]])

    def unknown_families(self):
        """Diffusion models that are recognised by name and refused."""
        rules = re.search(r"diffusion_rules\[\] = \{(.*?)\n\};", find_source("core/model", "diffusion_rules[] ="), re.S)
        names = sorted(set(re.findall(r'", "(\w+)" \}', rules.group(1))) - {"unet"})
        loaders = "".join(read(path) for path in glob.glob("core/model/diffusion/*.c"))
        return words([n for n in names if f'"{n}"' not in loaders])

    def exit_codes(self):
        rows = re.findall(r'^    X\(\w+, (\d+), "([^"]+)"\)', read("cli/cli.h"), re.M)
        return table(["exit code", "meaning"], [list(row) for row in rows])

    def command_names(self):
        return [c for c in re.findall(r"^  ([a-z]+) {2,}(.+)$", self.run("help"), re.M) if c[0] != "help"]

    def commands(self):
        return table(["command", "what it does"], [[f"[`{c}`](commands.md#{c})", said] for c, said in self.command_names()])

    def command_help(self):
        return "".join(f"\n## {c}\n\n```text\n{self.run('help', c).strip()}\n```\n"
                       for c, _ in self.command_names())

    def environment(self):
        return f"\n```text\n{self.run('help', 'environment').strip()}\n```\n"

    def settings(self):
        settings = json.loads(self.run("config", "--json"))["data"]["settings"]
        return table(["key", "takes", "default", "changes"],
                     [[f"`{s['key']}`", f"`{s['values']}`", f"`{s['default']}`" if s["default"] else "", s["changes"]]
                      for s in settings])

    def packages(self):
        lists = dict(re.findall(r"^DEPS_(\w+) := ((?:.*\\\n)*.*)$", read("Makefile"), re.M))
        about = {"core": "library", "cli": "command line", "cl": "OpenCL backend (`CL=1`)",
                 "clblast": "CLBlast beside its kernels (`CLBLAST=1`); used where `libclblast1` is there", "gui": "app (`GUI=1`)",
                 "test": "tests", "test_gui": "tests of the app", "lint": "`make lint`", "gate": "kernel gate",
                 "bench": "`make bench`"}
        return table(["for", "Debian 12 packages"],
                     [[about.get(key, f"`make {key}`"), " ".join(names.replace("\\\n", " ").split())]
                      for key, names in lists.items() if "$(" not in names])

    def keys(self):
        commands = find_source("gui", "const NinoCommand nino_commands[] = {")
        rows = re.findall(r'\{ "[\w.:-]+", N_\("([^"]+)"\), N_\("([^"]+)"\), \{ ([^}]*) \}', commands)
        groups, out = {}, []
        for label, group, keys in rows:
            groups.setdefault(group, []).append([label, shown_keys(re.findall(r'"([^"]+)"', keys))])
        for group, lines in groups.items():
            out += [[f"**{group}**" if i == 0 else "", label, keys] for i, (label, keys) in enumerate(lines)]
        fixed = re.search(r"\} fixed\[\] = \{(.*?)\n\};", commands, re.S).group(1)
        for i, (label, keys) in enumerate(re.findall(r'\{ N_\("([^"]+)"\), "([^"]+)" \}', fixed)):
            out.append(["**Canvas, not changeable**" if i == 0 else "", label, shown_keys(keys.split())])
        return table(["", "what", "keys"], out)

    def views(self):
        text = "".join("".join(re.findall(r"NinoViewType nino_view\w*(?:\[\])? = \{.*?\n\};", read(path), re.S))
                       for path in sorted(glob.glob("gui/*/*.c")))
        rows = re.findall(r'"([a-z-]+)",\s*(?:\.title = )?N_\(("[^"]+")\),\s*(?:\.help =\s*)?N_\(((?:"[^"]+"\s*)+)\)', text)
        return "\n" + "\n".join(self.view(key, literal(title), literal(said))
                                for key, title, said in sorted(rows, key=lambda row: row[1]))

    @staticmethod
    def view(key, title, said):
        picture = f"views/{key}.png"
        shown = f"\n![{title}]({picture})\n" if os.path.exists("data/doc/" + picture) else ""
        return f"### {title}\n\n{said}.\n{shown}"

    def rooms(self):
        rows = re.findall(r"^((?:core|cl|gui|cli)(?:/[\w/]+)?) +(\S.*)$", read("core/LAYERS"), re.M)
        return table(["room", "what is in it"], [[f"`{room}`", said] for room, said in rows])

    def devices(self):
        rows = []
        for path in sorted(glob.glob("data/devices/*.json")):
            d = json.loads(read(path))
            rows.append([f"`{d['name']}`", words(d["match"]) or "any other", f"`{d['schedule']}`",
                         d["act_type"], "yes" if d["winograd"] else "no"])
        return table(["profile", "devices whose name contains", "schedule", "activations", "Winograd"], rows)

    def schedules(self):
        return words(re.findall(r"^SCHEDULE\((\w+),", read("core/op/sched_list.h"), re.M))

    def statistics(self):
        return f"\n```text\n{self.run('help', 'statistics').strip()}\n```\n"

    def counters(self):
        return f"\n```text\n{self.run('help', 'counters').strip()}\n```\n"


def literal(text):
    """A string of C, which may be in pieces."""
    return "".join(re.findall(r'"([^"]*)"', text))


def words(names):
    return ", ".join(f"`{n}`" for n in names)


def block(text):
    return f"\n{text}\n"


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return "\n" + "".join("| " + " | ".join(c.replace("|", "\\|") for c in line) + " |\n" for line in lines)


def shown_keys(accelerators):
    names = {"<Control>": "Ctrl+", "<Shift>": "Shift+", "<Alt>": "Alt+"}
    said = []
    for a in accelerators:
        if "KP_" not in a:  # the same key on the number pad
            key = re.sub(r"<\w+>", "", a)
            said.append("".join(names[m] for m in re.findall(r"<\w+>", a)) + (key.upper() if len(key) == 1 else key))
    return ", ".join(said) or "none"


def filled(text, facts):
    def fill(m):
        name = m.group(2).replace("-", "_")
        if not hasattr(Facts, name):
            raise SystemExit(f"docs.py: no such region: {m.group(2)}")
        return m.group(1) + getattr(facts, name)() + m.group(4)
    return REGION.sub(fill, text)


# ---- the schema of JSON lines ----------------------------------------------------------------

def counter_members(sample):
    """(member, its schema) of a JSON line for each counter that this kind of sample tells."""
    table = read("core/include/ninodes/counter.h").replace("\\\n", " ")
    for row in re.findall(r"\bX\((\w+, (?:DEVICE|HOST), .*?)(?= X\(|/\* new rows)", table):
        _, told_by, _, unit, name = re.match(r'(\w+), (\w+), (\w+), (\w+), "([\w.]+)"', row).groups()
        member = re.search(r'\.json = "([^"]+)"', row)
        if told_by == sample:
            yield (member.group(1) if member else name,
                   '{"type": "integer", "minimum": 0}' if unit == "BYTES" else '{"type": ["number", "null"]}')


def filled_schema(text):
    """The schema with the members of its device and host lines as the table of counters has them."""
    for sample in ("DEVICE", "HOST"):
        members = list(counter_members(sample))
        properties = "".join(f',\n        "{name}": {schema}' for name, schema in members)
        required = "".join(f',\n        "{name}"' for name, _ in members)
        text, n = re.subn(r'("type": \{"const": "%s"\},\n *"t_ns": [^\n]*?\})(?:,\n.*?)?(\n      \},\n      '
                          r'"required": \[\n        "schema",\n        "type",\n        "t_ns").*?(\n      \])' % sample.lower(),
                          lambda m: m.group(1) + properties + m.group(2) + required + m.group(3), text, flags=re.S)
        if n != 1:
            raise SystemExit(f"docs.py: {SCHEMA} has {n} lines for counters of {sample}")
    return text


# ---- blocks of code --------------------------------------------------------------------------

def blocks(text):
    """(line number, the line before, the code) of every fenced sh block."""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        if lines[i].startswith("```"):
            end = lines.index("```", i + 1)
            if lines[i] == "```sh":
                yield i + 1, lines[i - 1] if i else "", "\n".join(lines[i + 1:end])
            i = end
        i += 1


def write_blocks(path, folder):
    for line, before, code in blocks(read(path)):
        mark = MARK.fullmatch(before)
        if mark and (mark.group(1) == "not run" or os.environ.get("NINODES_TEST_LONG") != "1"):
            continue
        with open(os.path.join(folder, f"{line:04}.sh"), "w", encoding="utf-8") as f:
            f.write(code + "\n")


# ---- checks ----------------------------------------------------------------------------------

def anchors(text):
    """What GitHub calls the headings of a document."""
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.+)$", text, re.M)}


def dead_links(path, text):
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(r'<img src="([^"]+)"', prose):
        file, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        to = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(to):
            yield f"{path}: {target}: no such file"
        elif anchor and anchor not in anchors(read(to)):
            yield f"{path}: {target}: no such heading"


def check(facts):
    for path in documents():
        text = read(path)
        if filled(text, facts) != text:
            yield f"{path}: a generated part is stale: make doc"
        yield from dead_links(path, text)
        for fence in set(re.findall(r"^```(.*)$", text, re.M)) - {"", "sh", "text", "c", "json", "python"}:
            yield f"{path}: code in {fence!r}: is it to be run (sh) or not (text)?"
        if text.count("<!-- generated:") != len(REGION.findall(text)):
            yield f"{path}: a generated part does not end"
        for line in re.findall(r"^ *<!-- (?:generated|end)\b.*?-->.+$", text, re.M):
            yield f"{path}: {line[:60]!r}: a line that begins with a mark is shown as it is: put a word before it"
    if filled_schema(read(SCHEMA)) != read(SCHEMA):
        yield f"{SCHEMA}: counters are not as in their table: make doc"
    n = read("README.md").count("\n")
    if n > README_LINES:
        yield f"README.md: {n} lines; what is more than {README_LINES} belongs into data/doc"


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "blocks":
        return write_blocks(sys.argv[2], sys.argv[3])
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "check"):
        raise SystemExit(__doc__)
    facts = Facts(sys.argv[2])
    if sys.argv[1] == "check":
        problems = list(check(facts))
        print("\n".join(problems))
        raise SystemExit(bool(problems))
    for path in documents():
        write(path, filled(read(path), facts))
    write(SCHEMA, filled_schema(read(SCHEMA)))


main()
