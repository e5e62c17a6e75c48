// Live plot: which share of the time the device spent in each op family, stacked, over the run.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_FAMILY_PLOT (nino_family_plot_get_type())
G_DECLARE_FINAL_TYPE(NinoFamilyPlot, nino_family_plot, NINO, FAMILY_PLOT, GtkWidget)

GtkWidget *nino_family_plot_new(void);
void nino_family_plot_clear(NinoFamilyPlot *plot);
// A kernel of `family` ran from start_ns for dur_ns on the device. Cheap; redraws happen at most at
// 10 Hz.
void nino_family_plot_add(NinoFamilyPlot *plot, const char *family, uint64_t start_ns,
                          uint64_t dur_ns);
// While live the widget redraws when something changed; otherwise it costs nothing.
void nino_family_plot_set_live(NinoFamilyPlot *plot, gboolean live);
// One line for tests and screen readers: "conv 2.31 s, norm 0.20 s". Free with g_free().
char *nino_family_plot_summary(NinoFamilyPlot *plot);
