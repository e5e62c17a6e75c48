// Signals for processes that the app started.
#pragma once

#include <gio/gio.h>

// At once: g_subprocess_send_signal() leaves it to a thread, for which an app that ends does not wait.
void nino_child_signal(GSubprocess *child, int signal);
