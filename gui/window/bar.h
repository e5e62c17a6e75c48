// Messages inside the window, with buttons: nothing ever blocks the user.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_BAR (nino_bar_get_type())
G_DECLARE_FINAL_TYPE(NinoBar, nino_bar, NINO, BAR, GtkWidget)

// News pass by themselves, without buttons. All else stays until it is answered, dismissed or no longer so; the newest is
// shown, with a button that shows what is behind it.
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
void nino_bar_hide(NinoBar *bar, const char *id);
// Where news are shown; the window has it over what they may cover.
GtkWidget *nino_bar_news(NinoBar *bar);
// Text of the newest message, "" when there is none.
const char *nino_bar_text(NinoBar *bar);
