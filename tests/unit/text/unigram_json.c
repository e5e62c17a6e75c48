// tokenizer.json of SentencePiece models and tekken.json: every field that is missing, of another type or
// asks for what is not here is refused by a line that names it.
#include "core/text/bpe.h"
#include "core/text/unigram.h"
#include "tests/text.h"

static nino_error err;

#define GOOD_MODEL "'model':{'type':'Unigram','unk_id':0,'vocab':[['<unk>',0],['a',-1]]}"
#define SPACE "\xe2\x96\x81"
#define METASPACE "{'type':'Metaspace','replacement':'" SPACE "'}"

static void unigrams(void)
{
    static const struct {
        const char *json, *says; // NULL: it is taken
    } t[] = {
        { "{" GOOD_MODEL "}", NULL },
        { "{'model':{'type':'Unigram','unk_id':0}}", "model.vocab is not a list" },
        { "{'model':{'type':'Unigram','unk_id':0,'vocab':{}}}", "model.vocab is not a list" },
        { "{'model':{'type':'Unigram','unk_id':0,'vocab':[]}}", "model.vocab is not a list" },
        { "{'model':{'type':'Unigram','vocab':[['a',0]]}}", "model.unk_id is not the number" },
        { "{'model':{'type':'Unigram','unk_id':-1,'vocab':[['a',0]]}}", "model.unk_id is not" },
        { "{'model':{'type':'Unigram','unk_id':1,'vocab':[['a',0]]}}", "model.unk_id is not" },
        { "{'model':{'type':'Unigram','unk_id':0,'vocab':[5]}}", "an entry of model.vocab" },
        { "{'model':{'type':'Unigram','unk_id':0,'vocab':[[5,0]]}}", "an entry of model.vocab" },
        { "{'model':{'type':'Unigram','unk_id':0,'vocab':[['a']]}}", "an entry of model.vocab" },
        { "{'model':{'type':'Unigram','unk_id':0,'vocab':[['a','b']]}}",
          "an entry of model.vocab" },
        { "{'model':{'type':'Unigram','unk_id':0,'vocab':[['',0],['a',1],['a',2]]}}", NULL },
        { "{'added_tokens':5," GOOD_MODEL "}", NULL },
        { "{'added_tokens':[]," GOOD_MODEL "}", NULL },
        { "{'added_tokens':[{}]," GOOD_MODEL "}", "an entry of added_tokens" },
        { "{'added_tokens':[{'content':5,'id':1}]," GOOD_MODEL "}", "an entry of added_tokens" },
        { "{'added_tokens':[{'content':'','id':1}]," GOOD_MODEL "}", "an entry of added_tokens" },
        { "{'added_tokens':[{'content':'x'}]," GOOD_MODEL "}", "an entry of added_tokens" },
        { "{'added_tokens':[{'content':'x','id':-1}]," GOOD_MODEL "}", "an entry of added_tokens" },
        { "{'added_tokens':[{'content':'x','id':99999999999}]," GOOD_MODEL "}", "of added_tokens" },
        { "{'added_tokens':[{'content':'x','id':9,'single_word':true}]," GOOD_MODEL "}",
          "single_word" },
        { "{'added_tokens':[{'content':'x','id':9,'single_word':false}]," GOOD_MODEL "}", NULL },
        { "{'normalizer':null," GOOD_MODEL "}", NULL },
        { "{'normalizer':{}," GOOD_MODEL "}", "the normalizer" },
        { "{'normalizer':{'type':'NFKC'}," GOOD_MODEL "}", "NFKC" },
        { "{'normalizer':{'type':'Precompiled'}," GOOD_MODEL "}", NULL },
        { "{'normalizer':{'type':'Precompiled','precompiled_charsmap':null}," GOOD_MODEL "}",
          NULL },
        { "{'normalizer':{'type':'Precompiled','precompiled_charsmap':5}," GOOD_MODEL "}",
          "is no text" },
        { "{'normalizer':{'type':'Precompiled','precompiled_charsmap':'!'}," GOOD_MODEL "}",
          "base64" },
        { "{'normalizer':{'type':'Precompiled','precompiled_charsmap':'AAAA'}," GOOD_MODEL "}",
          "" },
        { "{'normalizer':{'type':'Precompiled','precompiled_charsmap':''}," GOOD_MODEL "}", NULL },
        { "{'normalizer':{'type':'Replace'}," GOOD_MODEL "}", "a Replace step has no pattern" },
        { "{'normalizer':{'type':'Replace','content':'a'}," GOOD_MODEL "}", "a Replace step" },
        { "{'normalizer':{'type':'Replace','content':'a','pattern':{'String':''}}," GOOD_MODEL "}",
          "a Replace step" },
        { "{'normalizer':{'type':'Replace','pattern':{'String':'b'}}," GOOD_MODEL "}",
          "a Replace step" },
        { "{'normalizer':{'type':'Replace','content':'a','pattern':{'Regex':'.*'}}," GOOD_MODEL "}",
          "the pattern" },
        { "{'normalizer':{'type':'Replace','content':'','pattern':{'Regex':' {2,}'}}," GOOD_MODEL
          "}",
          NULL },
        { "{'normalizer':{'type':'Sequence'}," GOOD_MODEL "}", NULL },
        { "{'normalizer':{'type':'Sequence','normalizers':[{'type':'Strip'},{'type':'X'}]}"
          "," GOOD_MODEL "}",
          "the normalizer" },
        { "{'normalizer':{'type':'Sequence','normalizers':[{'type':'Strip'},{'type':'Strip'},{'"
          "type':"
          "'Strip'},{'type':'Strip'},{'type':'Strip'},{'type':'Strip'},{'type':'Strip'},{'type':'"
          "Strip'},"
          "{'type':'Strip'}]}," GOOD_MODEL "}",
          "more than 8 steps" },
        { "{'pre_tokenizer':{'type':'ByteLevel'}," GOOD_MODEL "}", "the pre_tokenizer" },
        { "{'pre_tokenizer':{'type':'WhitespaceSplit'}," GOOD_MODEL "}", NULL },
        { "{'pre_tokenizer':" METASPACE "," GOOD_MODEL "}", NULL },
        { "{'pre_tokenizer':{'type':'Metaspace'}," GOOD_MODEL "}", "Metaspace has no replacement" },
        { "{'pre_tokenizer':{'type':'Metaspace','replacement':''}," GOOD_MODEL "}",
          "Metaspace has no" },
        { "{'pre_tokenizer':{'type':'Metaspace','replacement':'abcde'}," GOOD_MODEL "}",
          "Metaspace has no" },
        { "{'pre_tokenizer':{'type':'Metaspace','replacement':'_','add_prefix_space':false}"
          "," GOOD_MODEL "}",
          NULL },
        { "{'pre_tokenizer':{'type':'Metaspace','replacement':'_','prepend_scheme':'never'}"
          "," GOOD_MODEL "}",
          NULL },
        { "{'pre_tokenizer':{'type':'Metaspace','replacement':'_','prepend_scheme':'odd'}"
          "," GOOD_MODEL "}",
          "the prepend_scheme" },
        { "{'pre_tokenizer':{'type':'Sequence','pretokenizers':[" METASPACE "," METASPACE
          "]}," GOOD_MODEL "}",
          "is there twice" },
        { "{'pre_tokenizer':{'type':'Sequence','pretokenizers':[" METASPACE
          ",{'type':'WhitespaceSplit'}]}," GOOD_MODEL "}",
          "the pre_tokenizer" },
        { "{'pre_tokenizer':{'type':'Sequence','pretokenizers':[{'type':'WhitespaceSplit'}"
          "," METASPACE "]}," GOOD_MODEL "}",
          NULL },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_unigram *u = NULL;
        char *json = test_quoted(t[i].json);
        err = (nino_error){ 0 };
        const nino_status st =
            nino_unigram_from_json(json, strlen(json), "tokenizer.json", &u, &err);
        if (!st != !t[i].says || (st && !strstr(err.msg, t[i].says)))
            fprintf(stderr, "%s: %s\n", json, st ? err.msg : "taken");
        CHECK(!st == !t[i].says && !st == (u != NULL));
        CHECK(!st || (strstr(err.msg, t[i].says) && !strchr(err.msg, '\n')));
        CHECK(!st || !strncmp(err.where, "tokenizer.json", 14));
        nino_unigram_destroy(&u);
        free(json);
    }
}

static void tekkens(void)
{
    static const char *const t[][2] = {
        { "{}", "config has no sizes" },
        { "{'config':{'default_vocab_size':'a'}}", "config has no sizes" },
        { "{'config':{'default_vocab_size':1000}}",
          "config has no sizes" }, // as many as special ones
        { "{'config':{'default_vocab_size':5,'default_num_special_tokens':-1}}",
          "config has no sizes" },
        { "{'config':{'default_vocab_size':5,'default_num_special_tokens':1},'special_tokens':[1,2]"
          "}",
          "config has no sizes" },
        { "{'config':{'default_vocab_size':5,'default_num_special_tokens':1}}",
          "vocab is not a list" },
        { "{'config':{'default_vocab_size':5,'default_num_special_tokens':1},'vocab':{}}",
          "vocab is not a list" },
#define VOCAB(list)                                                                                \
    "{'config':{'default_vocab_size':5,'default_num_special_tokens':1},'vocab':[" list "]}"
        { VOCAB("{}"), "an entry of vocab has no rank" },
        { VOCAB("{'rank':1,'token_bytes':'YQ=='}"), "an entry of vocab has no rank" },
        { VOCAB("{'rank':0}"), "an entry of vocab has no rank" },
        { VOCAB("{'rank':0,'token_bytes':5}"), "an entry of vocab has no rank" },
        { VOCAB("{'rank':0,'token_bytes':'!'}"), "an entry of vocab has no rank" },
        { VOCAB("{'rank':0,'token_bytes':''}"), "or no bytes" },
        { VOCAB("{'rank':0,'token_bytes':'YQ=='},{'rank':1,'token_bytes':'YQ=='}"),
          "the same bytes" },
        { VOCAB("{'rank':0,'token_bytes':'YQ=='}"), "no tokens for single bytes" },
        { VOCAB(""), "no tokens for single bytes" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_bpe *b = NULL;
        char *json = test_quoted(t[i][0]);
        CHECK(nino_bpe_from_tekken(json, strlen(json), "tekken.json", &b, &err) && !b);
        if (!strstr(err.msg, t[i][1]))
            fprintf(stderr, "%s: %s\n", json, err.msg);
        CHECK(strstr(err.msg, t[i][1]) && !strchr(err.msg, '\n'));
        free(json);
    }
}

int main(void)
{
    unigrams();
    tekkens();
    return 0;
}
