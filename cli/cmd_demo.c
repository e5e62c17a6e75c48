// ninodes demo: a first picture, or a clip, with the small models that come with the program.
#include "commands.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NINO_DATA_FROM_BIN // for tools that do not have make's word for it
#define NINO_DATA_FROM_BIN "../share"
#endif

// The folder with the workflows and the demo's models: of the install, or of the sources beside the
// build folder. False: neither is there.
bool demo_folder(char *out, size_t size)
{
    static const char *const ways[] = { NINO_DATA_FROM_BIN "/ninodes", "../data" };
    char exe[PATH_MAX], path[PATH_MAX + 200];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    if (n <= 0)
        return false;
    exe[n] = 0;
    char *slash = strrchr(exe, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s/demo/models", exe, ways[i]);
        if (access(path, R_OK | X_OK))
            continue;
        snprintf(path, sizeof(path), "%s/%s", exe, ways[i]);
        char *whole = realpath(path, NULL);
        const bool ok = whole && strlen(whole) < size;
        if (ok)
            memcpy(out, whole, strlen(whole) + 1);
        free(whole);
        return ok;
    }
    return false;
}

int cmd_demo(const options *o)
{
    static const char *const files[][2] = { { "image", "text_to_image.json" },
                                            { "video", "text_to_video.json" } };
    char data[PATH_MAX], workflow[PATH_MAX + 64], models[PATH_MAX + 64], input[PATH_MAX + 64];
    const char *what = o->n_args ? o->arg[0] : "image", *list[2] = { models, NULL };
    const char *file = NULL;
    options run = *o;
    for (size_t i = 0; i < 2; i++)
        if (!strcmp(what, files[i][0]))
            file = files[i][1];
    if (!file) {
        say("demo: %s is not one of image, video", what);
        return EXIT_USAGE;
    }
    if (!demo_folder(data, sizeof(data))) {
        say("demo: its models are not installed with this program");
        return EXIT_MISSING;
    }
    snprintf(workflow, sizeof(workflow), "%s/workflows/%s", data, file);
    snprintf(models, sizeof(models), "%s/demo/models", data);
    snprintf(input, sizeof(input), "%s/demo/input", data);
    run.arg[0] = workflow;
    run.n_args = 1;
    run.models = (text_list){ .item = list, .n = 1 };
    run.input = input;
    const int rc = cmd_run(&run);
    if (rc == EXIT_OK && !o->quiet)
        say("demo: made here, by models of its own; another: ninodes demo --set "
            "'Prompt.text=a small yellow star at the top on a purple background'");
    return rc;
}
