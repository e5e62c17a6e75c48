// The launches of one op beside each other: a table of those that are alike in kernel, call and work size.
#pragma once
#include "plot/export.h"
#include "plot/run_model.h"

#define NINO_TYPE_PEER (nino_peer_get_type())
G_DECLARE_FINAL_TYPE(NinoPeer, nino_peer, NINO, PEER, GObject)

struct _NinoPeer {
    GObject parent;
    nino_launch_stat stat;
    nino_kernel_told told;
    char *kernel, *shape, *work;
    double share, peak; // of nino_run_device_ns(), of the device; NAN: not known
};

typedef void (*NinoPeerFn)(gpointer user, NinoPeer *peer); // NULL: none is chosen any more

// chosen: the user has chosen another.
GtkWidget *nino_kernel_peers_new(NinoRun *run, NinoPeerFn chosen, gpointer user);
// Shows the launches of the range that have the kernel's op, and chooses its longest where the one that
// was chosen is of another kernel; kernel 0: nothing. Returns the chosen one; the table owns it.
NinoPeer *nino_kernel_peers_fill(GtkWidget *peers, uint32_t kernel);
NinoPeer *nino_kernel_peers_chosen(GtkWidget *peers); // the same, without looking anew
void nino_kernel_peers_export(GtkWidget *peers, NinoRowFn row, gpointer user);
