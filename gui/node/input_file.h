// Pictures, clips and sounds from elsewhere, as nodes load them: by their name in the folder of inputs.
#pragma once
#include <gtk/gtk.h>
#include <ninodes/document.h>

// The value of the node that such a file goes to; NULL: it takes none.
const nino_doc_widget *nino_input_widget(const nino_doc_node *n);

// The name of a file for nodes. One outside the folder of inputs is copied there: under its own name,
// or a numbered one where other content has that. NULL and *error: it cannot be read or copied.
char *nino_input_take(const char *path, GError **error);
// The same for what is no file yet.
char *nino_input_take_bytes(const char *name, GBytes *content, GError **error);
char *nino_input_take_texture(const char *name, GdkTexture *picture, GError **error);
// The name as that parameter has it: one of another folder says where its file is.
char *nino_input_value(const nino_param *p, const char *name);

// A file is chosen: its value, or NULL and why it cannot be taken.
typedef void (*NinoInputFn)(gpointer user, const char *value, const char *error);
// Lets the user paint the mask of the picture that the value names, and gives the new file's name: the
// picture with the mask in its alpha, in the folder's "clipspace", as ComfyUI's editor keeps it.
void nino_input_edit_mask(GtkWidget *parent, const nino_doc_widget *w, NinoInputFn fn,
                          gpointer user);
// Whether the value names a picture that can have a mask.
gboolean nino_input_has_mask(const nino_param *p);
// Asks for a file. `fn` is not called when the user gives up, nor after `parent` went.
void nino_input_browse(GtkWidget *parent, const nino_param *p, NinoInputFn fn, gpointer user);
