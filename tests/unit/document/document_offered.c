// Links that a Use Everywhere node stands for: shown as such, not to be cut, and gone where something else is connected.
#include "tests/document.h"

static const char flow[] = "{'nodes': [{'id': 1, 'type': 'VAELoader', 'inputs': [], 'outputs': "
                           "[{'name': 'VAE', 'type': 'VAE', 'links': [1]}], "
                           "'widgets_values': ['a.safetensors']}, {'id': 2, 'type': 'VAELoader', "
                           "'title': 'Another', 'inputs': [], 'outputs': "
                           "[{'name': 'VAE', 'type': 'VAE', 'links': []}], 'widgets_values': "
                           "['b.safetensors']}, {'id': 3, 'type': 'Anything "
                           "Everywhere', 'inputs': [{'name': 'anything', 'type': 'VAE', 'link': "
                           "1}], 'outputs': [], 'widgets_values': []}, "
                           "{'id': 4, 'type': 'VAEDecode', 'inputs': [{'name': 'samples', 'type': "
                           "'LATENT', 'link': null}, {'name': 'vae', 'type': "
                           "'VAE', 'link': null}], 'outputs': [{'name': 'IMAGE', 'type': 'IMAGE', "
                           "'links': null}], 'widgets_values': []}], 'links': "
                           "[[1, 1, 0, 3, 0, 'VAE']], 'version': 0.4}";

enum { VAE, OTHER, EVERYWHERE, DECODE };

static const nino_doc_link *link_of(const nino_document *d, int node, int input)
{
    return nino_document_link(d, nino_document_node(d, node)->inputs[input].link);
}

int main(void)
{
    char *json = test_quoted(flow);
    nino_document *d = load(json);
    free(json);
    char *before = kept_text(d);
    CHECK(link_of(d, DECODE, 1)->is_offered && link_of(d, DECODE, 1)->from == VAE);
    CHECK(!link_of(d, EVERYWHERE, 0)->is_offered);
    CHECK(nino_document_disconnect(d, DECODE, 1, &err) == NINO_ERR_ARG);
    CHECK_STR(err.kind, "link");
    CHECK(strstr(err.msg, "vae is connected by Use Everywhere, from Load VAE"));
    CHECK(!nino_document_undo_name(d));
    CHECK_STR(text_of(d), before);
    // what is really connected goes before it, and gives way to it again
    OK(nino_document_connect(d, OTHER, 0, DECODE, 1, &err));
    CHECK(!link_of(d, DECODE, 1)->is_offered && link_of(d, DECODE, 1)->from == OTHER);
    OK(nino_document_disconnect(d, DECODE, 1, &err));
    CHECK(link_of(d, DECODE, 1)->is_offered && link_of(d, DECODE, 1)->from == VAE);
    // an output's links in the file go; what was offered goes with the one that leads to the node that offers it
    OK(nino_document_disconnect_output(d, VAE, 0, &err));
    CHECK(!link_of(d, DECODE, 1) && !link_of(d, EVERYWHERE, 0));
    free(before);
    nino_document_destroy(&d);
    return 0;
}
