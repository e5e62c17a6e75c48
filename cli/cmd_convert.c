// ninodes convert: a workflow in the form that ComfyUI's server takes, or as its editor saved it.
#include "commands.h"

#include <string.h>

static void on_cmd_convert_issue(void *priv, const nino_issue *i)
{
    (void) priv;
    if (!strcmp(i->code, "edited"))
        say("convert: %s", i->message);
    if (!strcmp(i->code, "bad_link") || !strcmp(i->code, "cycle"))
        say("convert: warning: %s.%s: %s", i->node, i->input, i->message);
}

static int cmd_convert_write_file(const char *path, const char *text, size_t len)
{
    nino_error err;
    if (!nino_place_save(path, text, len, &err))
        return EXIT_OK;
    say("convert: %s: %s", path, err.msg);
    return (int) exit_for(err.code);
}

int cmd_convert(const options *o)
{
    int rc = EXIT_OK;
    size_t len = 0;
    nino_graph *g = load_graph(o, "convert", &rc);
    if (!g)
        return rc;
    if (!o->quiet)
        nino_graph_check(g, NULL, on_cmd_convert_issue, NULL);
    const char *text = o->ui ? nino_graph_ui_json(g, &len) : nino_graph_api_json(g, &len);
    if (!text) {
        say("convert: %s: the file does not hold the form that the editor saves", o->arg[0]);
        rc = EXIT_WORKFLOW;
    } else if (!len) {
        say("convert: out of memory");
        rc = EXIT_NOMEM;
    } else if (o->output && strcmp(o->output, "-") != 0) {
        rc = cmd_convert_write_file(o->output, text, len);
    } else {
        out_data(text, len);
        if (text[len - 1] != '\n')
            putchar('\n');
    }
    nino_graph_destroy(&g);
    return rc;
}
