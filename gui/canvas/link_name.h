// What a link is called, for people.
#pragma once
#include <glib.h>
#include <ninodes/document.h>

char *nino_canvas_link_name(nino_document *d, int link); // g_free()
