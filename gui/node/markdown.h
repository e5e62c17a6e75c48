// Markdown as Pango's markup: headings, lists, quotes, code, bold, italics, links.
#pragma once
#include <glib.h>

// Always valid markup; what is no Markdown stays as it is written. g_free() it.
char *nino_markdown_to_markup(const char *text);
