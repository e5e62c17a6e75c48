// "KSampler, LATENT → VAE Decode, samples"
#include "canvas/link_name.h"

char *nino_canvas_link_name(nino_document *d, int link)
{
    const nino_doc_link *l = nino_document_link(d, link);
    const nino_doc_node *from = nino_document_node(d, l->from), *to = nino_document_node(d, l->to);
    return g_strdup_printf("%s, %s → %s, %s", from->title, from->outputs[l->from_slot].label,
                           to->title, to->inputs[l->to_slot].label);
}
