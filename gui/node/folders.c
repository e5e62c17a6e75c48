// Where the files are that values name: folders of models, of inputs and of outputs.
#include "node/folders.h"

#include <stdlib.h>
#include <string.h>

static struct {
    char **models, *input, *output;
} folders;

void nino_folders_set(const char *const *models, const char *input, const char *output)
{
    g_strfreev(folders.models);
    g_free(folders.input);
    g_free(folders.output);
    folders.models = g_strdupv((char **) models);
    folders.input = g_strdup(input);
    folders.output = g_strdup(output);
}

const char *nino_folders_get(gboolean is_output)
{
    const char *chosen = is_output ? folders.output : folders.input;
    return chosen ? chosen : is_output ? "output" : "input";
}

// The name may say which folder it is in, whatever the node's own is.
char *nino_folders_input_path(const nino_doc_widget *w)
{
    static const char *const marks[] = { " [input]", " [output]" };
    const char *folder = w->param && w->param->type == NINO_FILE ? w->param->folder : "";
    gboolean is_output = !strcmp(folder, "output");
    if ((!is_output && strcmp(folder, "input") != 0) || !*w->text || g_path_is_absolute(w->text) ||
        strstr(w->text, ".."))
        return NULL;
    g_autofree char *name = g_strdup(w->text);
    for (gboolean i = 0; i < 2; i++)
        if (g_str_has_suffix(name, marks[i])) {
            name[strlen(name) - strlen(marks[i])] = 0;
            is_output = i;
            break;
        }
    return g_build_filename(nino_folders_get(is_output), name, NULL);
}

char **nino_folders_files(const char *folder, const char *const *extra)
{
    GStrvBuilder *b = g_strv_builder_new();
    const gboolean is_output = !strcmp(folder, "output"); // a folder of pictures like the other
    char **found = nino_list_files((const char *const *) folders.models,
                                   nino_folders_get(is_output), is_output ? "input" : folder, NULL);
    for (char **f = found; f && *f; f++)
        g_strv_builder_add(b, *f);
    for (; extra && *extra; extra++)
        g_strv_builder_add(b, *extra);
    free(found);
    char **out = g_strv_builder_end(b);
    g_strv_builder_unref(b);
    return out;
}

char *nino_folders_model_path(const char *folder, const char *name)
{
    nino_error err = { 0 };
    char *found = nino_find_model((const char *const *) folders.models, folder, name, &err);
    char *own = g_strdup(found);
    free(found);
    return own;
}
