// Texts of extensions, and values under one name.
#include "tests/unit/node/ext.h"

static void texts(void)
{
    GIVES("Text Multiline", "text=a\n  # note\n\nb", 0, "a\n\nb");
    GIVES("Text String", "text=a|text_c=c", 2, "c");
    GIVES("Text to String", "text='a'", 0, "a");
    GIVES("Text Concatenate", "delimiter=\\n|text_a=' a '|text_b=''|text_d='d'", 0, "a\nd");
    GIVES("Text Concatenate", "clean_whitespace=false|text_a=' a '|text_c='c'", 0, " a , c");
    GIVES("JoinStrings", "delimiter=-|string1='a'|string2='b'", 0, "a-b");
    GIVES("easy promptConcat", "separator=-|prompt1='a'", 0, "a-");
    GIVES("CR Text Concatenate", "separator=, |text1='a'|text2='b'", 0, "a, b");
    GIVES("JoinStringMulti", "inputcount=3|delimiter=+|string_1='a'|string_2='b'|string_3='c'", 0,
          "a+b+c");
    GIVES("JoinStringMulti", "inputcount=3|delimiter=+|string_1='a'|string_3='c'", 0, "a+c");
    GIVES("JoinStringMulti", "inputcount=2|return_list=true|string_1='a'|string_2='b'", 0,
          "['a', 'b']");
    GIVES("Text Find and Replace", "text='aXbX'|find=X|replace=--", 0, "a--b--");
    GIVES("Text Find and Replace", "text='aXbX'|find=X|replace=--", 1, "2");
    GIVES("Text Find and Replace Input", "text='aXbX'|find='b'|replace=''", 0, "aXX");
    GIVES("easy promptReplace", "prompt='a b'|find1=a|replace1=b|find2=b|replace2=c", 0, "c c");
    GIVES("CR Text Replace", "text='a b'|find3=a|replace3=x", 0, "x b");
    GIVES("Text Contains", "text=Hello|sub_text=ELL", 0, "True");
    GIVES("Text Contains", "text=Hello|sub_text=ELL|case_insensitive=false", 0, "False");
}

static void lines(void)
{
    GIVES("easy promptLine", "prompt=a\n \nb\nc|start_index=1|max_rows=1", 0, "['b']");
    GIVES("easy promptLine", "prompt=a\n\nb|remove_empty_lines=false", 0, "['a', '', 'b']");
    GIVES("easy promptLine", "prompt=a\nb\n\n|start_index=7", 0, "['b']"); // the last
    GIVES("CR Prompt List", "prepend_text=<|append_text=>|multiline_text=a\nb", 0,
          "['<a>', '<b>']");
    GIVES("CR Prompt List", "prepend_text=<|append_text=>|multiline_text=a\nb", 1, "['a', 'b']");
}

// ---- bundles ---------------------------------------------------------------------------------

static nino_value *made(const char *class_type, const char *pairs)
{
    node_new(class_type);
    ext_set(pairs);
    CHECK(!node_try());
    return nino_value_ref(node.out[0]);
}

static void contexts(void)
{
    nino_value *a = made("Context Big (rgthree)", "seed=5|steps=9|text_pos_g='cat'");
    CHECK(node.out[8]->u.i == 5 && node.out[9]->u.i == 9 && !node.out[1]);
    node_new("Context (rgthree)"); // what it has no input for is kept
    node_give("base_ctx", nino_value_ref(a));
    ext_set("seed=6");
    CHECK(!node_try() && node.out[8]->u.i == 6);
    nino_value *b = nino_value_ref(node.out[0]);
    node_new("Context Big (rgthree)");
    node_give("base_ctx", nino_value_ref(b));
    CHECK(!node_try() && node.out[8]->u.i == 6 && node.out[9]->u.i == 9);
    node_new("Context Switch Big (rgthree)"); // the first that has anything
    nino_value *empty = nino_value_create_bundle(NINO_PORT_CONTEXT, 22);
    node_give("ctx_01", empty);
    node_give("ctx_02", nino_value_ref(a));
    CHECK(!node_try() && node.out[8]->u.i == 5);
    node_new("Context Switch (rgthree)");
    node_give("ctx_03", nino_value_ref(b));
    CHECK(!node_try() && node.out[8]->u.i == 6);
    static const char *const merges[] = { "Context Merge (rgthree)",
                                          "Context Merge Big (rgthree)" };
    for (int i = 0; i < 2; i++) {
        node_new(merges[i]);
        node_give("ctx_01", nino_value_ref(b));
        node_give("ctx_02", nino_value_ref(a)); // counts
        CHECK(!node_try() && node.out[8]->u.i == 5);
    }
    CHECK(node.out[16 + 1]->type == NINO_PORT_STRING);
    nino_value_unref(&a);
    nino_value_unref(&b);
}

static void pipes(void)
{
    node_new("Bus Node");
    nino_value *image = node_value(NINO_PORT_VAE);
    node_give("vae", image);
    CHECK(!node_try() && node.out[3] == image && !node.out[1]);
    nino_value *bus = nino_value_ref(node.out[0]);
    node_new("Bus Node");
    node_give("bus", bus);
    CHECK(!node_try() && node.out[3] == bus->item[2]);
    static const char *const parts[] = { "model", "clip", "vae", "positive", "negative" };
    static const nino_port_type types[] = { NINO_PORT_MODEL, NINO_PORT_CLIP, NINO_PORT_VAE,
                                            NINO_PORT_CONDITIONING, NINO_PORT_CONDITIONING };
    node_new("ToBasicPipe");
    nino_value *v[5];
    for (int i = 0; i < 5; i++)
        v[i] = nino_value_ref(node_give(parts[i], node_value(types[i])));
    CHECK(!node_try());
    nino_value *pipe = nino_value_ref(node.out[0]);
    node_new("FromBasicPipe");
    node_give("basic_pipe", nino_value_ref(pipe));
    CHECK(!node_try());
    for (int i = 0; i < 5; i++)
        CHECK(node.out[i] == v[i]);
    node_new("FromBasicPipe_v2");
    node_give("basic_pipe", nino_value_ref(pipe));
    CHECK(!node_try() && node.out[5] == v[4]);
    node_new("EditBasicPipe");
    node_give("basic_pipe", pipe);
    nino_value *other = node_give("clip", node_value(NINO_PORT_CLIP));
    CHECK(!node_try() && node.out[0]->item[1] == other && node.out[0]->item[4] == v[4]);
    for (int i = 0; i < 5; i++)
        nino_value_unref(&v[i]);
}

static void stacks(void)
{
    GIVES("CR LoRA Stack", "switch_2=On|lora_name_2=a.safetensors|model_weight_2=0.5", 0,
          "['a.safetensors', 0.5, 1.0]");
    nino_value *first = made("CR LoRA Stack", "switch_1=On|lora_name_1=a");
    node_new("easy loraStack");
    ext_set("toggle=true|lora_1_name=b");
    node_give("optional_lora_stack", first);
    node_go();
    CHECK_STR(ext_out(0), "['a', 1.0, 1.0, 'b', 1.0, 1.0]");
    node_new("easy loraStack");
    ext_set("toggle=true|num_loras=2|lora_2_name=b|lora_2_strength=0.25|lora_3_name=c");
    node_go();
    CHECK_STR(ext_out(0), "['b', 0.25, 0.25]");
    ext_set("mode=advanced|lora_2_clip_strength=0.5");
    node_go();
    CHECK_STR(ext_out(0), "['b', 1.0, 0.5]");
    ext_set("toggle=false");
    node_go();
    CHECK_STR(ext_out(0), "[]");
}

int main(void)
{
    node_open();
    texts();
    lines();
    contexts();
    pipes();
    stacks();
    node_close();
    return 0;
}
