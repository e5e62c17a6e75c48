// Which records the lines of a trace become, of our own form as JSON and of other programs': a table
// of lines, with what is senseless, out of range or more than there is room for.
#include <math.h>

#include "core/base/buf.h"
#include "core/monitor/trace/trace.h"
#include "tests/test.h"

static char dir[] = "/tmp/ninodes-lines-XXXXXX";
static nino_error err;

static void put_scope(nino_buf *b, const nino_event *e, const char *name)
{
    nino_buf_addf(b, "+%d %s #%u<%u @%d t%llu %u/%u; ", (int) e->kind, name, e->id, e->parent,
                  (int) e->track, (unsigned long long) e->t_ns, e->u.scope.arg0, e->u.scope.arg1);
}

static void put_record(nino_buf *b, const nino_event *e, const char *name, const char *family)
{
    const unsigned long long t = e->t_ns;
    if (e->kind >= NINO_EV_JOB && e->kind <= NINO_EV_TILE)
        put_scope(b, e, name);
    else if (e->kind == NINO_EV_END)
        nino_buf_addf(b, "-#%u t%llu %u; ", e->id, t, e->u.scope.arg0);
    else if (e->kind == NINO_EV_KERNEL || e->kind == NINO_EV_TRANSFER)
        nino_buf_addf(b, "%s %s:%.20s @%d t%llu+%llu %u %u %g; ",
                      e->kind == NINO_EV_KERNEL ? "kernel" : "transfer", family, name,
                      (int) e->track, t, (unsigned long long) e->u.kernel.dur_ns,
                      e->u.kernel.queued_us, e->u.kernel.submitted_us, e->u.kernel.bytes);
    else if (e->kind == NINO_EV_MEM)
        nino_buf_addf(b, "mem %d:%d %llu of %llu, %u; ", (int) e->sub, (int) e->u.mem.owner,
                      (unsigned long long) e->u.mem.in_use, (unsigned long long) e->u.mem.reserved,
                      e->u.mem.owner_use);
    else if (e->kind == NINO_EV_LOST)
        nino_buf_addf(b, "lost %llu; ", (unsigned long long) e->u.lost);
    else
        nino_buf_addf(b, "point %d %s @%d <%u %u; ", (int) e->kind, name, (int) e->track, e->parent,
                      e->u.scope.arg0);
}

static void put_records(void *priv, const nino_event *ev, size_t n,
                        const char *(*name)(void *name_priv, uint32_t id), void *name_priv)
{
    for (size_t i = 0; i < n; i++) {
        const bool is_kernel = ev[i].kind == NINO_EV_KERNEL || ev[i].kind == NINO_EV_TRANSFER;
        put_record(priv, &ev[i], name(name_priv, ev[i].name),
                   is_kernel ? name(name_priv, ev[i].u.kernel.family) : "");
    }
}

// The records of a file of these lines (with ' for "), as text, until the next call.
static const char *records_of(const char *head, const char *lines, const char *tail)
{
    static nino_buf b;
    char path[64], *text = test_quoted(lines);
    snprintf(path, sizeof(path), "%s/t.json", dir);
    FILE *f = fopen(path, "w");
    CHECK(f && fprintf(f, "%s%s%s", head, text, tail) > 0 && !fclose(f));
    free(text);
    nino_buf_release(&b);
    nino_buf_adds(&b, "");
    const nino_status st = nino_trace_read(path, put_records, &b, &err);
    CHECK(!unlink(path) && !b.failed);
    return st ? err.msg : b.data ? b.data : "";
}

static int differs(const char *lines, const char *got, const char *want)
{
    if (!strcmp(got, want))
        return 0;
    fprintf(stderr, "%s\n  gives %s\n  want  %s\n", lines, got, want);
    return 1;
}

// ---- our own -------------------------------------------------------------------------------------

#define SCOPE(tid, id)                                                                             \
    "{'ph':'B','tid':" #tid ",'name':'s','ts':1,'args':{'id':" #id ",'parent':1}}"

static void of_ours(void)
{
    static const struct {
        const char *line, *records;
    } t[] = {
        { "{'ph':'B','tid':10,'name':'node','ts':1.5,'args':{'id':7,'parent':3,'index':1,'of':2}}",
          "+2 node #7<3 @1 t1500 1/2; " },
        { "{'ph':'B','tid':'17','ts':1}", "+1  #0<0 @2 t1000 0/0; " }, // a track as text
        { "{'ph':'B','tid':16}", "" },                                 // no kind of scope
        { "{'ph':'B','tid':22}", "" },
        { "{'ph':'B','tid':2049}", "" }, // no thread
        { "{'ph':'B','tid':-7}", "" },
        { "{'ph':'B','tid':1.5}", "" },
        { "{'ph':'B','tid':''}", "" },
        { "{'ph':'B','tid':true}", "" },
        { "{'ph':'B'}", "" },
        { "{'tid':10}", "" },
        { "{'ph':7,'tid':10}", "" },
        { "7", "" },
        { SCOPE(9, 4) ",{'ph':'E','tid':9,'ts':3,'args':{'status':5}}",
          "+1 s #4<1 @1 t1000 0/0; -#4 t3000 5; " },
        { SCOPE(9, 4) "," SCOPE(10, 5) ",{'ph':'E','tid':9,'ts':3},{'ph':'E','tid':10,'ts':4}",
          "+1 s #4<1 @1 t1000 0/0; +2 s #5<1 @1 t1000 0/0; -#4 t3000 0; -#5 t4000 0; " },
        { "{'ph':'E','tid':9,'ts':3}", "" }, // of nothing
        { SCOPE(9, 4) ",{'ph':'E','tid':10,'ts':3}", "+1 s #4<1 @1 t1000 0/0; " },
        // what ran on a queue, and what was copied by a thread
        { "{'ph':'X','tid':65536,'cat':'kernel','name':'k','ts':2,'dur':3,'args':{'family':'f',"
          "'queued_us':4,'submitted_us':5,'bytes':6}}",
          "kernel f:k @256 t2000+3000 4 5 6; " },
        { "{'ph':'X','tid':65567,'cat':'kernel','name':'k','ts':2,'dur':3,'args':{'bytes':'x'}}",
          "kernel :k @257 t2000+3000 0 0 0; " },
        { "{'ph':'X','tid':14,'cat':'transfer','name':'k','ts':2,'dur':3,'args':{'bytes':1e999}}",
          "transfer :k @1 t2000+3000 0 0 0; " },
        { "{'ph':'X','tid':1e9,'cat':'transfer','name':'k','ts':-2,'dur':1e300,"
          "'args':{'queued_us':-4,'submitted_us':1e20,'bytes':NaN}}",
          "transfer :k @65535 t0+0 0 0 0; " },
        { "{'ph':'X','tid':65536,'cat':'other','ts':2,'dur':3}", "" },
        { "{'ph':'X','tid':65536,'ts':2,'dur':3}", "" },
        { "{'ph':'X','tid':65536,'cat':7,'ts':2,'dur':3}", "" },
        // points
        { "{'ph':'i','tid':23,'cat':'message','name':'said','args':{'scope':6,'level':2}}",
          "point 11 said @2 <6 2; " },
        { "{'ph':'i','tid':2048,'cat':'note','name':'n'}", "point 25 n @0 <0 0; " },
        { "{'ph':'i','tid':1,'cat':'nothing','name':'n'}", "" },
        { "{'ph':'i','tid':1,'name':'n'}", "" },
        { "{'ph':'i','tid':1,'args':{'records':12}}", "lost 12; " },
        { "{'ph':'i','cat':'memory','args':{'op':1,'owner':2,'in_use':3,'reserved':4,"
          "'owner_use':5}}",
          "mem 1:2 3 of 4, 5; " },
        { "{'ph':'i','cat':'memory','args':{'op':300,'in_use':-1,'reserved':1e30}}",
          "mem 255:0 0 of 9223372036854775807, 0; " },
        // the counters of files without memory records
        { "{'ph':'C','name':'pool bytes','args':{'weights':256,'staging':768}},"
          "{'ph':'C','name':'pool','args':{'in_use':1024,'reserved':2048}}",
          "mem 1:0 1024 of 2048, 1; mem 1:1 1024 of 2048, 0; mem 1:2 1024 of 2048, 0; "
          "mem 1:3 1024 of 2048, 3; " },
        { "{'ph':'i','cat':'memory'},{'ph':'C','name':'pool','args':{'in_use':1024}}",
          "mem 0:0 0 of 0, 0; " }, // which say nothing new beside them
        { "{'ph':'C','name':'other'}", "" },
        { "{'ph':'C','args':{'in_use':1}}", "" },
        { "{'ph':'Z'}", "" },
    };
    int differ = 0;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        const char *got = records_of(
            "{\"otherData\":{\"producer\":\"ninodes 0\"},\"traceEvents\":[", t[i].line, "]}");
        differ += differs(t[i].line, got, t[i].records);
    }
    CHECK(!differ);
    // Without the producer it is told by its first line, as long as a run has cut it.
    static const char *const first[] = { "{'name':'process_name','args':{'name':'ninodes'}},",
                                         "{'name':'process_name','args':{'name':'other'}},",
                                         "{'name':'thread_name','args':{'name':'ninodes'}}," };
    for (int i = 0; i < 3; i++) {
        char lines[400];
        snprintf(lines, sizeof(lines), "%s" SCOPE(9, 4) ",{'ph':'B", first[i]);
        const char *got = records_of("[\n", lines, "");
        if (!i)
            CHECK_STR(got, "+1 s #4<1 @1 t1000 0/0; ");
        else
            CHECK(strstr(got, "of another program without complete events"));
    }
}

// ---- other programs' -----------------------------------------------------------------------------

#define TOOK(ts, dur) ",'ts':" #ts ",'dur':" #dur "}"
#define JOB "+1 trace of another program #1<0 @0 t1000 0/0; "
#define END(t) "-#1 t" #t " 0; "

static void of_others(void)
{
    static const struct {
        const char *line, *records;
    } t[] = {
        { "{'ph':'X','name':'a'" TOOK(5, 2),
          JOB "+3 a #2<0 @1 t1000 0/0; -#2 t3000 0; " END(3000) },
        // not a length, or one of years: nothing is known of it
        { "{'ph':'X','name':'a'" TOOK(5, 'x') ",{'ph':'X','name':'b'" TOOK(6, -1), JOB
          "+3 a #2<0 @1 t1000 0/0; -#2 t1000 0; +3 b #3<0 @1 t2000 0/0; -#3 t2000 0; " END(2000) },
        { "{'ph':'X','name':'a'" TOOK(5, 1) ",{'ph':'X','name':'b'" TOOK(5, 9e12), JOB
          "+3 a #2<0 @1 t1000 0/0; +3 b #3<2 @1 t1000 0/0; -#3 t1000 0; -#2 t2000 0; " END(2000) },
        // no time: not there
        { "{'ph':'X','name':'a'" TOOK(5, 1) ",{'ph':'X','name':'b'" TOOK(
              NaN, 1) ",{'ph':'X','name':'c'" TOOK(1e19, 1) ",{'ph':'X','name':'d'" TOOK(true, 1),
          JOB "+3 a #2<0 @1 t1000 0/0; -#2 t2000 0; " END(2000) },
        // no name
        { "{'ph':'X','name':''" TOOK(5, 1) ",{'ph':'X','name':true" TOOK(6, 1), JOB END(3000) },
        // years apart: what lies behind the last time that can be told has none
        // (and of so long ago a microsecond is none)
        { "{'ph':'X','name':'a'" TOOK(-9e17, 1) ",{'ph':'X','name':'b','tid':2" TOOK(9e17, 1),
          JOB "+3 a #2<0 @1 t1000 0/0; +3 b #3<0 @2 t0 0/0; -#2 t1000 0; -#3 t0 0; " END(0) },
        // one that outlives what it lies in is cut; of two that begin together the longer holds
        { "{'ph':'X','name':'in'" TOOK(2, 9) ",{'ph':'X','name':'out'" TOOK(
              1, 4) ",{'ph':'X','name':'all'" TOOK(1, 5),
          JOB "+3 all #2<0 @1 t1000 0/0; +3 out #3<2 @1 t1000 0/0; +3 in #4<3 @1 t2000 0/0; "
              "-#4 t5000 0; -#3 t5000 0; -#2 t6000 0; " END(11000) },
        { "{'ph':'X','name':'one'" TOOK(1, 4) ",{'ph':'X','name':'two'" TOOK(1, 4),
          JOB "+3 one #2<0 @1 t1000 0/0; +3 two #3<2 @1 t1000 0/0; -#3 t5000 0; -#2 t5000 "
              "0; " END(5000) },
        // names of threads that tell queues
        { "{'ph':'M','name':'thread_name','tid':1,'args':{'name':'GPU 0'}},"
          "{'ph':'M','name':'thread_name','tid':2,'args':{'name':'stream 7'}},"
          "{'ph':'M','name':'thread_name','tid':3,'args':{'name':'main'}},"
          "{'ph':'M','name':'other','tid':3,'args':{'name':'a queue'}},"
          "{'ph':'X','name':'a','tid':1" TOOK(1, 1) ",{'ph':'X','name':'b','tid':2" TOOK(
              2, 1) ",{'ph':'X','name':'c','tid':3" TOOK(3, 1),
          JOB "kernel kernel:a @256 t1000+1000 0 0 0; kernel kernel:b @257 t2000+1000 0 0 0; "
              "+3 c #2<0 @1 t3000 0/0; -#2 t4000 0; " END(4000) },
        // a track that is called like its kernel
        { "{'ph':'X','name':'gemm','tid':'gemm'" TOOK(
              1,
              1) ",{'ph':'X','name':'gemm','tid':'conv'" TOOK(1,
                                                              1) ",{'ph':'X','name':'gemm','tid':'"
                                                                 "gem'" TOOK(1, 1) ",{'ph':'X','"
                                                                                   "name':'x','tid'"
                                                                                   ":{}" TOOK(1, 1),
          JOB "kernel kernel:gemm @256 t1000+1000 0 0 0; +3 gemm #2<0 @1 t1000 0/0; "
              "+3 gemm #3<0 @2 t1000 0/0; +3 x #4<0 @3 t1000 0/0; "
              "-#2 t2000 0; -#3 t2000 0; -#4 t2000 0; " END(2000) },
        // copies, by category and by the call; bytes that are none
        { "{'ph':'X','name':'a','cat':'gpu_memset','args':{'bytes':8}" TOOK(
              1, 1) ",{'ph':'X','"
                    "name':'Memset','"
                    "tid':-1,'args':{"
                    "'bytes':-"
                    "8}" TOOK(2, 1) ",{'ph':'X','name':'zeCommandListAppendMemoryCopy','tid':-1,'"
                                    "args':{'bytes':NaN}" TOOK(3, 1) ",{'ph':'"
                                                                     "X','name'"
                                                                     ":'"
                                                                     "clEnqueue"
                                                                     "NDRangeKe"
                                                                     "rnel','"
                                                                     "tid':-"
                                                                     "1" TOOK(4, 1),
          JOB "transfer transfer:a @256 t1000+1000 0 0 8; "
              "transfer transfer:Memset @257 t2000+1000 0 0 0; "
              "transfer transfer:zeCommandListAppendM @257 t3000+1000 0 0 0; "
              "kernel kernel:clEnqueueNDRangeKern @257 t4000+1000 0 0 0; " END(5000) },
        // stages of a command; how long they took is not told when it is an hour and more
        { "{'ph':'X','name':'k (Queued)'" TOOK(1, 3) ",{'ph':'X','name':'k (Submitted)'" TOOK(
              4, 2) ",{'ph':'X','name':'k (Execution)'" TOOK(6, 1) ",{'ph':'X','name':'k "
                                                                   "(Execution)'" TOOK(
                                                                       7, 1) ",{'ph':'X',"
                                                                             "'name':' "
                                                                             "(Execution)"
                                                                             "'" TOOK(8, 1),
          JOB "kernel kernel:k @256 t6000+1000 5 2 0; kernel kernel:k @256 t7000+1000 0 0 0; "
              "+3  (Execution) #2<0 @1 t8000 0/0; -#2 t9000 0; " END(9000) },
        // what is told on the track of a queue, but is no command, has a thread of its own
        { "{'ph':'X','name':'a','tid':7,'cat':'kernel'" TOOK(1, 1) ",{'ph':'X','name':'said','tid':"
                                                                   "7,'cat':'gpu_user_"
                                                                   "annotation'" TOOK(
                                                                       1, 2) ",{'ph':'X','name':'b'"
                                                                             ",'tid':7,'cat':'"
                                                                             "kernel'" TOOK(2, 1),
          JOB "+3 said #2<0 @1 t1000 0/0; kernel kernel:a @256 t1000+1000 0 0 0; "
              "kernel kernel:b @256 t2000+1000 0 0 0; -#2 t3000 0; " END(3000) },
        { "{'ph':'X','name':'k (Queued)'" TOOK(1, 4e12) ",{'ph':'X','name':'k (Submitted)'" TOOK(
              4, 4e12) ",{'ph':'X','name':'k (Execution)'" TOOK(6, 1),
          JOB "kernel kernel:k @256 t6000+1000 0 0 0; -#1 t4000000000004000 0; " },
        { "{'ph':'M','name':'thread_name','args':{'name':'main'}}",
          "is a trace of another program without complete events (ph X)" },
        { "", "is a trace of another program without complete events (ph X)" },
    };
    int differ = 0;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        differ += differs(t[i].line, records_of("[", t[i].line, "]"), t[i].records);
    CHECK(!differ);
}

static size_t count_of(const char *all, const char *text)
{
    size_t n = 0;
    for (const char *p = all; (p = strstr(p, text)); p++)
        n++;
    return n;
}

// More than there is room for: nested too deep, on too many threads and tracks, with names without end.
static void crowds(void)
{
    nino_buf b = { 0 };
    for (int i = 0; i < 70; i++)
        nino_buf_addf(&b, "%s{'ph':'X','name':'d','ts':%d,'dur':%d}", i ? "," : "", i, 200 - 2 * i);
    CHECK(!b.failed && count_of(records_of("[", b.data, "]"), "+3 d") == 64);
    nino_buf_clear(&b);
    for (int i = 0; i < 300; i++)
        nino_buf_addf(&b, "%s{'ph':'X','name':'d','tid':%d,'ts':%d,'dur':1}", i ? "," : "", i, i);
    CHECK(!b.failed && count_of(records_of("[", b.data, "]"), "+3 d") == 255);
    nino_buf_clear(&b);
    for (int i = 0; i < 4200; i++) // what is over has the last one's track
        nino_buf_addf(&b, "%s{'ph':'X','name':'d','tid':-%d,'ts':%d,'dur':1}", i ? "," : "", i + 1,
                      i);
    const char *got = records_of("[", b.data, "]");
    CHECK(count_of(got, "kernel kernel:d") == 4200 && count_of(got, "@4351 ") == 105);
    nino_buf_clear(&b);
    nino_buf_adds(&b, "{'ph':'X','tid':-1,'ts':1,'dur':1,'name':'");
    for (int i = 0; i < 300; i++)
        nino_buf_addc(&b, 'n');
    nino_buf_adds(&b, "'}");
    CHECK(count_of(records_of("[", b.data, "]"), "kernel kernel:nnnnnnnnnnnnnnnnnnnn @") == 1);
    nino_buf_clear(&b);
    for (int i = 0; i < 1100;
         i++) // of ours: as many scopes at once, and as many names, as there are
        nino_buf_addf(&b, "%s{'ph':'B','tid':9,'name':'s%d','ts':1}", i ? "," : "", i);
    for (int i = 0; i < 1100; i++)
        nino_buf_addf(&b, ",{'ph':'i','cat':'note','name':'n%d'}", i);
    got = records_of("{\"otherData\":{\"producer\":\"ninodes\"},\"traceEvents\":[", b.data, "]}");
    CHECK(count_of(got, "+1 s") == 1024 && count_of(got, "+1 s1023 ") == 1);
    CHECK(count_of(got, "point 25 n") == 1100 && count_of(got, "point 25 n1099 ") == 1);
    nino_buf_release(&b);
}

int main(void)
{
    CHECK(mkdtemp(dir));
    of_ours();
    of_others();
    crowds();
    CHECK(!rmdir(dir));
    return 0;
}
