// Messages inside the window, with buttons: nothing ever blocks the user.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_BAR (nino_bar_get_type())
G_DECLARE_FINAL_TYPE(NinoBar, nino_bar, NINO, BAR, GtkWidget)

// News pass by themselves, without buttons. All else stays until it is answered, dismissed or no longer so; the newest is
// shown, with a button that shows what is behind it. What is about one tab is shown while that one is in front.
typedef enum NinoBarKind {
    NINO_BAR_NEWS,
    NINO_BAR_INFO,
    NINO_BAR_WARNING,
    NINO_BAR_ERROR
} NinoBarKind;

// A button of a message: activates a detailed action name ("win.save", "win.close-tab::3"). The
// message goes when it is clicked.
typedef struct NinoBarButton {
    const char *label, *action;
} NinoBarButton;

GtkWidget *nino_bar_new(void);
// Shows a message; one with the same id is replaced. buttons: ends with a NULL label, or NULL.
void nino_bar_show(NinoBar *bar, const char *id, NinoBarKind kind, const char *text,
                   const NinoBarButton *buttons);
// The same about a tab, by its uid; each tab has its own message of an id. NULL: about the window.
void nino_bar_show_about(NinoBar *bar, const char *tab, const char *id, NinoBarKind kind,
                         const char *text, const NinoBarButton *buttons);
// Whatever it is about.
void nino_bar_hide(NinoBar *bar, const char *id);
void nino_bar_hide_about(NinoBar *bar, const char *tab, const char *id);
// The tab in front is another; NULL: none.
void nino_bar_set_tab(NinoBar *bar, const char *tab);
// The tab is gone, with all that was said about it.
void nino_bar_forget_tab(NinoBar *bar, const char *tab);
// Where news are shown; the window has it over what they may cover.
GtkWidget *nino_bar_news(NinoBar *bar);
