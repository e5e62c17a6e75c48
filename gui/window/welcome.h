// What the window shows while no workflow is open: examples that run at once, recent workflows, the user's ComfyUI.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_WELCOME (nino_welcome_get_type())
G_DECLARE_FINAL_TYPE(NinoWelcome, nino_welcome, NINO, WELCOME, GtkWidget)

// Paths of the newest workflows, NULL-terminated. Each opens by the action win.open-path.
void nino_welcome_show_recent(NinoWelcome *w, const char *const *paths);
// The workflows that come with the app, and exist; NULL-terminated, g_strfreev().
char **nino_welcome_examples(void);
// The path of what an example makes; NULL: it is none. g_free().
char *nino_welcome_picture(const char *path);
// A folder of the models that the examples need; NULL: not there. g_free().
char *nino_welcome_demo(const char *what); // "models", "input"
