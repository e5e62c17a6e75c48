// What another process sweeps from a folder is never a file that somebody is about to give its name.
#include "core/base/file.h"
#include "tests/test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int __real_renameat(int from_dir, const char *from, int to_dir, const char *to);
int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to);
int __real_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);

static char dir[] = "/tmp/ninodes-swept-XXXXXX";
static int sweeps;

static bool look_into(const char *folder)
{
    nino_file_writer *w = NULL;
    const bool ok = !nino_file_writer_open(folder, "a", true, &w, NULL);
    nino_file_writer_abort(&w);
    return ok;
}

// Another process writes there for the first time, as this one is about to rename: it knows the last 16 folders.
static void sweep(void)
{
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        char other[64];
        bool ok = true;
        for (int i = 0; i < 16 && ok; i++) {
            snprintf(other, sizeof(other), "%s/%d", dir, i);
            ok = (!mkdir(other, 0700) || errno == EEXIST) && look_into(other);
        }
        _exit(!ok || !look_into(dir));
    }
    int how;
    CHECK(waitpid(pid, &how, 0) == pid && WIFEXITED(how) && !WEXITSTATUS(how));
    sweeps++;
}

int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    sweep();
    return __real_renameat(from_dir, from, to_dir, to);
}

int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    sweep();
    return __real_renameat2(from_dir, from, to_dir, to, flags);
}

static void check_content(const char *name, const char *text)
{
    char path[64], got[16] = "";
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "r");
    CHECK(f && fread(got, 1, sizeof(got) - 1, f) == strlen(text) && !fclose(f));
    CHECK_STR(got, text);
}

static void make(const char *folder, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CHECK(f && !fclose(f));
}

static bool is_there(const char *folder, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return !access(path, F_OK);
}

// In a folder and those directly in it; not what is written, not what has another name, not behind links.
static void check_sweep(void)
{
    static const char part[] = ".x.1.1.ninodes.part";
    char top[64], kind[80], deep[96], link[80];
    snprintf(top, sizeof(top), "%s/cache", dir);
    snprintf(kind, sizeof(kind), "%s/kind", top);
    snprintf(deep, sizeof(deep), "%s/deep", kind);
    snprintf(link, sizeof(link), "%s/link", top);
    nino_file_sweep(top); // there is none
    CHECK(!mkdir(top, 0700) && !mkdir(kind, 0700) && !mkdir(deep, 0700) && !symlink(deep, link));
    const char *const folders[] = { top, kind, deep };
    for (int i = 0; i < 3; i++) {
        make(folders[i], part);
        make(folders[i], "x.ninodes.part");
    }
    nino_file_writer *w = NULL;
    nino_error err = { 0 };
    const pid_t pid = fork(); // which has swept none of them
    CHECK(pid >= 0);
    if (!pid) {
        nino_file_sweep(top);
        _exit(is_there(top, part) || is_there(kind, part) || !is_there(deep, part));
    }
    int how;
    CHECK(waitpid(pid, &how, 0) == pid && WIFEXITED(how) && !WEXITSTATUS(how));
    for (int i = 0; i < 3; i++)
        CHECK(is_there(folders[i], "x.ninodes.part"));
    CHECK_OK(nino_file_writer_open(kind, "y", true, &w, &err), err);
    CHECK_OK(nino_file_writer_write(w, "whole", 5, &err), err);
    const pid_t other = fork();
    CHECK(other >= 0);
    if (!other) {
        nino_file_sweep(top);
        _exit(0);
    }
    CHECK(waitpid(other, &how, 0) == other && WIFEXITED(how) && !WEXITSTATUS(how));
    CHECK_OK(nino_file_writer_commit(&w, false, &err), err);
    check_content("cache/kind/y", "whole");
}

int main(void)
{
    nino_error err = { 0 };
    nino_file_writer *w = NULL;
    char path[64], cmd[64];
    CHECK(mkdtemp(dir));
    CHECK_OK(nino_file_save(dir, "a", true, "old", 3, &err), err);
    CHECK_OK(nino_file_save(dir, "a", true, "new", 3, &err), err);
    check_content("a", "new");
    CHECK_OK(nino_file_writer_open(dir, "b", true, &w, &err), err);
    CHECK_OK(nino_file_writer_write(w, "once", 4, &err), err);
    CHECK_OK(nino_file_writer_commit(&w, true, &err), err);
    check_content("b", "once");
    CHECK_OK(nino_file_writer_open(dir, "c", true, &w, &err), err);
    CHECK_OK(nino_file_writer_write(w, "as", 2, &err), err);
    CHECK_OK(nino_file_writer_commit_as(&w, "d", &err), err);
    check_content("d", "as");
    CHECK(sweeps == 4);
    // what nobody holds does go
    snprintf(path, sizeof(path), "%s/.x.1.1.ninodes.part", dir);
    FILE *f = fopen(path, "w");
    CHECK(f && !fclose(f));
    sweep();
    CHECK(access(path, F_OK));
    check_sweep();
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
