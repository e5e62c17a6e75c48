// What changes the state of a job in the shared queue. Each is a script that Redis runs as one step,
// so that of two workers, one of which was taken for dead, only one ends a job.
#include "queue/queue.h"

#define NOW "local now = redis.call('TIME')[1] "
#define JOB "local S = KEYS[1] local id = ARGV[1] local job = S .. ':job:' .. id "
#define DROP                                                                                       \
    "local function drop() redis.call('XACK', S, 'ninodes', id) redis.call('XDEL', S, id) "        \
    "redis.call('EXPIRE', job, 604800) end "
#define OWNER                                                                                      \
    "local p = redis.call('XPENDING', S, 'ninodes', id, id, 1) "                                   \
    "if #p == 0 or p[1][2] ~= ARGV[2] then return 'lost' end "

const char queue_add_script[] = NOW
    "local S = KEYS[1] local id = redis.call('XADD', S, '*', 'name', ARGV[1]) "
    "redis.call('HSET', S .. ':job:' .. id, 'state', 'waiting', 'name', ARGV[1], 'workflow', "
    "ARGV[2], 'precision', ARGV[3], 'no_profile', ARGV[4], 'no_metadata', ARGV[5], 'queued', now) "
    "redis.call('ZADD', S .. ':jobs', now, id) "
    "redis.call('ZREMRANGEBYSCORE', S .. ':jobs', '-inf', now - 2592000) return id";

const char queue_begin_script[] = NOW JOB DROP
    "local s = redis.call('HGET', job, 'state') "
    "if not s then drop() return 'unknown' end "
    "if s ~= 'waiting' and s ~= 'running' then drop() return s end "
    "if redis.call('HGET', job, 'cancel') then "
    "redis.call('HSET', job, 'state', 'cancelled', 'ended', now) drop() return 'cancelled' end "
    "if redis.call('HINCRBY', job, 'attempts', 1) > tonumber(ARGV[3]) then "
    "redis.call('HSET', job, 'state', 'failed', 'ended', now, 'error', "
    "ARGV[3] .. ' workers have died in it') drop() return 'failed' end "
    "redis.call('HSET', job, 'state', 'running', 'worker', ARGV[2], 'started', now, 'progress', "
    "'') "
    "return 'run'";

const char queue_beat_script[] =
    NOW JOB OWNER "redis.call('XCLAIM', S, 'ninodes', ARGV[2], 0, id, 'JUSTID') "
                  "redis.call('HSET', job, 'progress', ARGV[3], 'beat', now) "
                  "return redis.call('HGET', job, 'cancel') and 'cancel' or 'ok'";

const char queue_end_script[] =
    NOW JOB DROP OWNER "redis.call('HSET', job, 'state', ARGV[3], 'error', ARGV[4], 'ended', now, "
                       "'files', #ARGV - 4, 'progress', '') "
                       "for i = 5, #ARGV do redis.call('HSET', job, 'file:' .. i - 4, ARGV[i]) end "
                       "drop() return 'ok'";

const char queue_release_script[] =
    JOB OWNER "redis.call('HINCRBY', job, 'attempts', -1) "
              "redis.call('HSET', job, 'state', 'waiting', 'progress', '') "
              "redis.call('XCLAIM', S, 'ninodes', ARGV[2], 0, id, 'IDLE', ARGV[3], 'JUSTID') "
              "return 'ok'";

const char queue_cancel_script[] = NOW JOB DROP
    "local s = redis.call('HGET', job, 'state') "
    "if not s then return 'unknown' end "
    "if s == 'waiting' then redis.call('HSET', job, 'state', 'cancelled', 'ended', now) drop() "
    "return 'cancelled' end "
    "if s == 'running' then redis.call('HSET', job, 'cancel', 1) return 'asked' end "
    "return s";
