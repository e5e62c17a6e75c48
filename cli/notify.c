// Says on a terminal that something long has ended: by its bell, which also goes through tmux and ssh, and by
// the notification that many terminals show (OSC 777).
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); // the clock of the records
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

void notify_end(const options *o, const char *what, uint64_t since_ns, int rc)
{
    char text[160], line[240];
    nino_config_value after;
    const double s = (double) (now_ns() - since_ns) * 1e-9;
    const char *term = getenv("TERM");
    const double least = nino_config_get("notify_after", &after) ? strtod(after.text, NULL) : 0;
    if (o->quiet || o->json || !isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb") ||
        least <= 0 || s < least)
        return;
    nino_utf8_printable(text, sizeof(text), what, strlen(what));
    const int n = snprintf(line, sizeof(line), "\a\033]777;notify;ninodes;%s: %s after %d:%02d\a",
                           text, rc ? "ended with an error" : "done", (int) s / 60, (int) s % 60);
    const char *end =
        strcmp(term, "linux") ? line + n : line + 1; // the console has no notifications
    if (write(STDERR_FILENO, line, (size_t) (end - line)) < 0)
        return;
}
