#!/usr/bin/env python3
"""Simulates a pool of workers on the shared queue, with the scripts of cli/queue/scripts.c on a real Redis.

queue_sim.py SOCKET SCRIPTS WORKERS JOBS [SEED]

SCRIPTS is cli/queue/scripts.c after the preprocessor. Time is virtual, all chances come from SEED: the same arguments give
the same run, whatever the machine. Workers die in jobs, in the moment between making the files whole and saying so, or stand
still for so long that others take their job and then go on as if nothing had happened; some are told to end. What must hold:
every job ends once, its files become visible once, nothing stays in the stream.
"""
import ast, heapq, random, re, socket, sys

CLAIM, BEAT, MOST = 30.0, 1.0, 50


class Redis:
    def __init__(self, path):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.connect(path)
        self.f = self.s.makefile("rb")

    def __call__(self, *words):
        data = b"*%d\r\n" % len(words)
        for w in words:
            w = w if isinstance(w, bytes) else str(w).encode()
            data += b"$%d\r\n%s\r\n" % (len(w), w)
        self.s.sendall(data)
        return self.answer()

    def answer(self):
        line = self.f.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.f.read(int(rest) + 2)[:-2].decode()
        return None if rest == b"-1" else [self.answer() for _ in range(int(rest))]


def scripts(path):
    text = re.sub(r"^#.*$", "", open(path).read(), flags=re.M)
    found = re.findall(r"const char queue_(\w+)_script\[\] =((?:\s*\"(?:[^\"\\]|\\.)*\")+);", text)
    return {name: ast.literal_eval("(" + body + ")") for name, body in found}


class Pool:
    def __init__(self, redis, script, workers, jobs, seed):
        self.r, self.random = redis, random.Random(seed)
        self.sha = {k: redis("SCRIPT", "LOAD", v) for k, v in script.items()}
        self.now, self.events, self.order = 0.0, [], 0
        self.visible, self.ended, self.idle = {}, {}, set()
        self.count = dict.fromkeys("taken died stood handed claimed found_whole lost".split(), 0)
        self.beats = {}  # of a job that is held: when its worker last said so
        self.busy = 0.0
        redis("XGROUP", "CREATE", "sim", "ninodes", "0", "MKSTREAM")
        self.ids = [self.run("add", "name", "{}", "auto", "0", "0") for _ in range(jobs)]
        for w in range(workers):
            self.at(self.random.random(), self.look, "w%d" % w)
        self.births = workers

    def run(self, name, *args):
        return self.r("EVALSHA", self.sha[name], 1, "sim", *args)

    def at(self, when, what, *args):
        self.order += 1
        heapq.heappush(self.events, (self.now + when, self.order, what, args))

    # A worker looks for what a silent one held, then for something new.
    def look(self, w):
        for job, beat in self.beats.items():
            if self.now - beat > CLAIM:
                if not self.r("XCLAIM", "sim", "ninodes", w, 0, job, "JUSTID"):
                    self.beats.pop(job)
                    break
                self.count["claimed"] += 1
                return self.take(w, job)
        new = self.r("XREADGROUP", "GROUP", "ninodes", w, "COUNT", 1, "STREAMS", "sim", ">")
        if new:
            return self.take(w, new[0][1][0][0])
        if len(self.ended) < len(self.ids):
            self.at(0.5, self.look, w)

    def take(self, w, job):
        self.beats[job] = self.now
        if self.run("begin", job, w, MOST) != "run":
            self.beats.pop(job, None)
            return self.at(0, self.look, w)
        self.count["taken"] += 1
        if job in self.visible:
            self.count["found_whole"] += 1
            return self.at(0.01, self.end, w, job)
        need = self.random.lognormvariate(3, 0.8)
        self.busy += need
        fate = self.random.random()
        if fate < 0.02:
            self.at(need * self.random.random(), self.die, w)
            self.until(w, job, need * self.random.random())
        elif fate < 0.03:
            self.at(need, self.make_whole, w, job, True)
            self.until(w, job, need)
        elif fate < 0.05:
            self.count["stood"] += 1
            self.until(w, job, need / 2)
            self.at(need / 2 + CLAIM * (1 + 2 * self.random.random()), self.make_whole, w, job, False)
        elif fate < 0.06:
            self.at(need / 2, self.hand_back, w, job)
        else:
            self.until(w, job, need)
            self.at(need, self.make_whole, w, job, False)

    # Beats while it works; all of them at once, as nothing else can come between.
    def until(self, w, job, seconds):
        self.at(min(BEAT, seconds), self.beat, w, job, self.now + seconds)

    def beat(self, w, job, end):
        if self.now < end and self.run("beat", job, w, "x") == "ok":
            self.beats[job] = self.now
            self.at(10 * BEAT, self.beat, w, job, end)

    def die(self, w):
        self.count["died"] += 1
        self.at(20, self.look, "w%d" % self.births)  # it is started anew
        self.births += 1

    def hand_back(self, w, job):
        if self.run("release", job, w, int(CLAIM * 1000)) == "ok":
            self.count["handed"] += 1
            self.beats[job] = self.now - 2 * CLAIM
        self.die(w)

    def make_whole(self, w, job, dies):
        if job not in self.visible:  # rename() of a folder: the first one
            self.visible[job] = w
        if dies:
            return self.die(w)
        self.at(0.05, self.end, w, job)

    def end(self, w, job):
        if self.run("end", job, w, "done", "", "/out/%s/a.png" % job) == "ok":
            if job in self.ended:
                sys.exit("job %s has ended twice" % job)
            self.ended[job] = w
            self.beats.pop(job, None)
        else:
            self.count["lost"] += 1
        self.at(0, self.look, w)

    def go(self):
        while self.events:
            self.now, _, what, args = heapq.heappop(self.events)
            what(*args)


def main():
    path, source, workers, jobs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    redis = Redis(path)
    redis("FLUSHALL")
    p = Pool(redis, scripts(source), workers, jobs, int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    p.go()
    missing = [i for i in p.ids if i not in p.ended or i not in p.visible]
    wrong = [i for i in p.ids if redis("HGET", "sim:job:" + i, "state") != "done"]
    left = redis("XLEN", "sim"), redis("XPENDING", "sim", "ninodes")[0]
    print("%d workers, %d jobs: all ended in %.0f virtual seconds, %.1f times what no worker's standing or death would take" %
          (workers, jobs, p.now, p.now / (p.busy / workers)))
    print(", ".join("%s %d" % kv for kv in p.count.items()))
    if missing or wrong or left != (0, 0):
        sys.exit("lost: %d, not done: %d, left in the stream: %s" % (len(missing), len(wrong), left))
    if min(p.count[k] for k in ("died", "stood", "handed", "claimed", "lost")) == 0:
        sys.exit("something was never tried: %s" % p.count)


main()
