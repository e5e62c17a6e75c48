// Signals for processes that the app started.
#include "base/child.h"

#include <signal.h>
#include <stdlib.h>

void nino_child_signal(GSubprocess *child, int signal)
{
    const char *pid = g_subprocess_get_identifier(child); // NULL: it has ended
    if (pid)
        kill(atoi(pid), signal);
}
