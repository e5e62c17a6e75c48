// Runs a command and does something to the n-th of its system calls on files below a folder:
//   inject FOLDER WHAT N REPORT COMMAND...
// WHAT: kill (only calls that change something count), short, or the name of an error, EIO for one;
// N 0: nothing, only counts. Into the file REPORT goes "calls=... hit=...". The exit status is the
// command's, 128 + a signal that ended it; 77: tracing is not allowed here.
#include "tests/fault/system.h"

#ifdef FAULT_SKIP
int main(void) { return test_skip(FAULT_SKIP); }
#else

static int start(void *priv)
{
    char **argv = priv;
    execvp(argv[0], argv);
    return 127;
}

static int error_named(const char *name)
{
    static const struct {
        const char *name;
        int value;
    } all[] = { { "EIO", EIO },       { "ENOSPC", ENOSPC }, { "EMFILE", EMFILE },
                { "EINTR", EINTR },   { "EACCES", EACCES }, { "EDQUOT", EDQUOT },
                { "ENOMEM", ENOMEM }, { "EROFS", EROFS } };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (!strcmp(all[i].name, name))
            return all[i].value;
    fprintf(stderr, "inject: no error %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    const bool kills = !strcmp(argv[2], "kill"), cuts = !strcmp(argv[2], "short");
    fault f = { .root = argv[1],
                .writes_only = kills,
                .at = atol(argv[3]),
                .kind = kills  ? FAULT_KILL
                        : cuts ? FAULT_SHORT
                               : FAULT_ERROR };
    if (!kills && !cuts)
        f.error = error_named(argv[2]);
    const int end = fault_run(&f, start, argv + 5);
    if (end < 0)
        return test_skip("tracing is not allowed here");
    FILE *report = fopen(argv[4], "w");
    CHECK(report);
    fprintf(report, "calls=%ld hit=%s\n", f.calls, f.hit ? f.hit : "");
    fclose(report);
    return end;
}
#endif
