// What a run needs, before it is run: asks `ninodes plan`, so that the app itself opens no device.
#pragma once
#include <gio/gio.h>

// text: what the plan says in the end (memory needed and free, whether it fits), or why there is
// none. fits: FALSE also when there is no plan.
typedef void (*NinoPlanReady)(gpointer user, const char *text, gboolean fits);

// Never calls ready after `cancellable` was cancelled. models: NULL-terminated or NULL; other
// strings may be NULL.
void nino_plan_ask(const char *workflow, gsize len, const char *const *models, const char *input,
                   const char *device, GCancellable *cancellable, NinoPlanReady ready,
                   gpointer user);
