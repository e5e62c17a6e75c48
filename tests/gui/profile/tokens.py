#!/usr/bin/env python3
"""Finds what the app looks like outside its one table (gui/base/tokens.[ch]): literal colours, distances, corners and
sizes of letters in gui/**.c, .h, .ui and .css; sizes that a style sheet asks for and that are not in the table.
usage: tokens.py FOLDER"""
import pathlib
import re
import sys

TABLE = ("base/tokens.c", "base/tokens.h")
NUMBER = r"-?(?:\d+\.?\d*|\.\d+)f?F?"
C_RULES = [
    (r'"#[0-9a-fA-F]{3,8}"', "a literal colour"),
    (r"#[0-9a-fA-F]{6}\b", "a literal colour"),
    (r"\brgba?\(\s*\d", "a literal colour"),
    (r"GdkRGBA\)?\s*(?:\w+\s*=\s*)?\{\s*" + NUMBER + r"\s*,", "a literal colour"),
    (r"GdkRGBA[^;{]*=\s*\{\s*" + NUMBER + r"\s*,", "a literal colour"),
    (r"cairo_set_source_rgba?\([^,]+,\s*" + NUMBER, "a literal colour"),
    (r"cairo_pattern_add_color_stop_rgba?\(", "a literal colour"),
    (r"gtk_box_new\(\s*\w+,\s*[1-9]\d*\)", "a literal distance"),
    (r"gtk_widget_set_margin_\w+\([^;]*,\s*[1-9]\d*\)", "a literal distance"),
    (r"_set_(?:row_|column_)?spacing\([^;]*,\s*[1-9]\d*\)", "a literal distance"),
    (r'"(?:spacing|margin-\w+)",\s*[1-9]', "a literal distance"),
    (r'font_description_from_string\("[^"]*\d', "a literal size of letters"),
    (r"font_description_set_(?:absolute_)?size\([^;]*,\s*\d", "a literal size of letters"),
]
CSS_RULES = [
    (r"#[0-9a-fA-F]{3,8}\b", "a literal colour"),
    (r"\brgba?\(", "a literal colour"),
    (r"\bcolor:\s*(?:white|black|red|green|blue|grey|gray)\b", "a literal colour"),
    (r"\b(?:padding|margin)[a-z-]*:[^;}]*(?<![\d.$-])(?:[2-9]|[1-9]\d)px", "a literal distance"),
    (r"\bborder-spacing:[^;}]*\d+px", "a literal distance"),
    (r"\bborder-radius:[^;}]*\d+px", "a literal corner"),
    (r"\bfont-size:[^;}]*(?:\d|smaller|larger)", "a literal size of letters"),
]
UI_RULES = [(r'name="(?:spacing|row-spacing|column-spacing|margin-\w+)">(?!(?:0|2|4|8|12|16|24)<)', "a distance outside the scale")]


def without_comments(text):
    """The text with comments blanked, lines kept."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or blank(m), text, flags=re.S)


def css_of(text):
    """The strings of a C file that are style sheets: those with a rule's braces, joined with what belongs to them."""
    return [(m.start(), m.group(0)) for m in re.finditer(r'"(?:\\.|[^"\\\n])*(?:\{|[a-z-]+:)[^"\n]*;[^"\n]*"', text)]


def findings(path, text, name, sizes):
    def rules(part, offset, which):
        for pattern, what in which:
            for m in re.finditer(pattern, part):
                line = text.count("\n", 0, offset + m.start()) + 1
                yield f"{name}:{line}: {what}: {m.group(0).strip()[:60]}"
        if which is CSS_RULES:
            for m in re.finditer(r"\$[a-z-]+", part):
                if m.group(0) not in sizes:
                    yield f"{name}: no such size: {m.group(0)}"

    if path.suffix == ".css":
        yield from rules(without_comments(text), 0, CSS_RULES)
    elif path.suffix == ".ui":
        yield from rules(text, 0, UI_RULES)
    else:
        code = without_comments(text)
        yield from rules(code, 0, C_RULES)
        for at, part in css_of(code):
            yield from rules(part, at, CSS_RULES)


def main():
    root = pathlib.Path(sys.argv[1])
    sizes = set(re.findall(r'"(\$[a-z-]+)"', (root / TABLE[0]).read_text()))
    found = []
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".c", ".h", ".css", ".ui")):
        name = str(path.relative_to(root))
        if name not in TABLE:
            found += findings(path, path.read_text(), name, sizes)
    print("\n".join(found) or f"no look outside the table, {len(sizes)} sizes")
    return bool(found)


sys.exit(main())
