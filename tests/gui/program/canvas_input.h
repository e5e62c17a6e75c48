// Pointer and keyboard for the tests of the canvas: what a person does, by xdotool.
#pragma once
#include <sys/wait.h>

#include "tests/gui/program/canvas.h"

// The whole display, popovers included.
static inline void shot_display(const char *name)
{
    const char *dir = g_getenv("NINODES_SHOTS");
    g_autofree char *line = g_strdup_printf("import -window root %s/%s.png", dir, name);
    if (dir)
        g_spawn_command_line_sync(line, NULL, NULL, NULL, NULL);
}

static inline void count_frame(int *n) { ++*n; }

// What was done with pointer and keys has come to the widgets: the server has sent it (a round trip), and two frames have
// handed it out, since motions wait for the next one.
static inline void settle(void)
{
    GdkFrameClock *clock = gtk_widget_get_frame_clock(window);
    int n = 0;
    const gulong id = g_signal_connect_swapped(clock, "after-paint", G_CALLBACK(count_frame), &n);
    gdk_display_sync(gtk_widget_get_display(window));
    for (int i = 0; i < 2; i++) {
        const int was = n;
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_AFTER_PAINT);
        WAIT_FOR(n > was);
    }
    g_signal_handler_disconnect(clock, id);
}

static inline gboolean xdo(const char *fmt, ...) G_GNUC_PRINTF(1, 2);

static inline gboolean xdo(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    g_autofree char *args = g_strdup_vprintf(fmt, ap), *line = g_strconcat("xdotool ", args, NULL);
    va_end(ap);
    GPid pid;
    g_auto(GStrv) argv = NULL;
    int status = -1;
    if (!g_shell_parse_argv(line, NULL, &argv, NULL) ||
        !g_spawn_async(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                       NULL, &pid, NULL))
        return FALSE;
    while (waitpid(pid, &status, WNOHANG) == 0)
        spin_loop(5);
    settle();
    return status == 0;
}

// A point of the canvas on the screen; the window stands at its corner.
static inline void on_screen(double x, double y, int *sx, int *sy)
{
    double wx, wy, ox = 0, oy = 0;
    gtk_widget_translate_coordinates(GTK_WIDGET(canvas), window, x, y, &wx, &wy);
    gtk_native_get_surface_transform(GTK_NATIVE(window), &ox, &oy);
    *sx = (int) (wx + ox);
    *sy = (int) (wy + oy);
}

static inline void move_to(double wx, double wy)
{
    double x, y;
    int sx, sy;
    nino_canvas_get_offset(canvas, &x, &y);
    const double z = nino_canvas_get_zoom(canvas);
    on_screen((wx - x) * z, (wy - y) * z, &sx, &sy);
    CHECK(xdo("mousemove %d %d", sx, sy));
}

static inline void drag(double x0, double y0, double x1, double y1, const char *button)
{
    move_to(x0, y0);
    CHECK(xdo("mousedown %s", button));
    move_to((x0 + x1) / 2, (y0 + y1) / 2);
    move_to(x1, y1);
    CHECK(xdo("mouseup %s", button));
}

static inline gboolean has_popover(void)
{
    GtkWidget *w = gtk_widget_get_last_child(GTK_WIDGET(canvas));
    return w && GTK_IS_POPOVER(w) && gtk_widget_get_mapped(w);
}

// Is the focus where a screen reader is told this?
static inline gboolean focus_is(const char *name)
{
    GtkWidget *w = gtk_root_get_focus(GTK_ROOT(window));
    char *wrong = w ? gtk_test_accessible_check_property(GTK_ACCESSIBLE(w),
                                                         GTK_ACCESSIBLE_PROPERTY_LABEL, name)
                    : g_strdup("no focus");
    if (wrong)
        printf("  focus: %s, expected %s\n", wrong, name);
    const gboolean ok = !wrong;
    g_free(wrong);
    return ok;
}

// What programs that use the pointer begin with; false: it cannot be moved here.
static inline gboolean begin_input(void)
{
    g_autofree char *xdotool = g_find_program_in_path("xdotool");
    if (!xdotool)
        return FALSE;
    open_window();
    xdo("mousemove 5 5");
    return TRUE;
}
