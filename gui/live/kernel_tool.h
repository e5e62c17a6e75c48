// A page of text that the command `ninodes kernel` prints about one launch of a kernel, in a process of
// its own.
#pragma once
#include <gtk/gtk.h>

// A button and the option that it gives the command.
typedef struct NinoKernelTool {
    const char *label, *help, *option;
} NinoKernelTool;

// is_asking: the page asks the first tool by itself when it is seen. tools: static, ends with a NULL
// label.
GtkWidget *nino_kernel_tool_new(const NinoKernelTool *tools, const char *name, gboolean is_asking);
// What it is about from now on; device may be NULL, program and call "" where they are not told.
void nino_kernel_tool_set(GtkWidget *page, const char *kernel, const char *program,
                          const char *call, const char *device);
// Also calls fn with each text that it shows; "" when it shows none any more.
void nino_kernel_tool_watch(GtkWidget *page, void (*fn)(GtkWidget *to, const char *text),
                            GtkWidget *to);
// Whether something else keeps the device busy: nothing is measured meanwhile.
void nino_kernel_tool_set_busy(GtkWidget *page, gboolean is_busy);
