# Files that must be refused, or must not be, with the class of the error: safetensors, GGUF and PNG, every byte of
# them made here. Writes OUT/MANIFEST.tsv: file, kind, class, note ("LoadImage": about the pixels).
#   python3 tests/data/make/corpus.py OUT
import json
import os
import struct
import sys
import zlib

out = sys.argv[1]
rows = []
z = bytes


def put(kind, name, data, cls, note, ext):
    os.makedirs(f"{out}/{kind}", exist_ok=True)
    file = f"{kind}/{sum(r[1] == kind for r in rows) + 1:03}-{name}.{ext}"
    with open(f"{out}/{file}", "wb") as f:
        f.write(data)
    rows.append((file, kind, cls, note))


# ---- safetensors --------------------------------------------------------------------------------


def st(hdr, body=b'', hlen=None):
    h = hdr if isinstance(hdr, bytes) else json.dumps(hdr, separators=(',', ':')).encode()
    return struct.pack('<Q', len(h) if hlen is None else hlen) + h + body


def T(dt='F32', shape=(2, 2), off=(0, 16)):
    return {'dtype': dt, 'shape': list(shape), 'data_offsets': list(off)}


def S(n, d, c, note=''):
    return put('st', n, d, c, note, 'safetensors')


S('ok-one', st({'w': T()}, z(16)), 'OK')
S('ok-empty-object', st(b'{}'), 'OK')
S('ok-meta', st({'__metadata__': {'a': 'b'}, 'w': T()}, z(16)), 'OK')
S('ok-scalar', st({'s': T(shape=(), off=(0, 4))}, z(4)), 'OK')
S('ok-zero-dim', st({'w': T(shape=(2, 0), off=(0, 0))}), 'OK')
S('ok-trailing-space', st(b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}   ', z(4)), 'OK')
S('ok-leading-space', st(b' \t\n{}'), 'OK')
S('ok-unordered', st({'b': T(off=(16, 32)), 'a': T(off=(0, 16))}, z(32)), 'OK')
S('ok-extra-field', st({'w': dict(T(), extra=[1, {'x': None}])}, z(16)), 'OK')
S('ok-unicode-name', st({'wé中': T()}, z(16)), 'OK')
S('empty-file', b'', 'TRUNCATED')
S('seven-bytes', z(7), 'TRUNCATED')
S('len-only', struct.pack('<Q', 60), 'TRUNCATED')
S('len-one-past', st({'w': T()}, b'', hlen=None)[:-1], 'TRUNCATED')
S('len-100mb-plus-1', struct.pack('<Q', 100000001) + b'{}', 'LIMIT')
S('len-u64max', struct.pack('<Q', 2 ** 64 - 1) + b'{}', 'LIMIT')
S('len-u64max-minus-7', struct.pack('<Q', 2 ** 64 - 8) + b'{}' * 40, 'LIMIT')
S('len-i64min', struct.pack('<Q', 2 ** 63) + b'{}' * 40, 'LIMIT')
S('len-zero', struct.pack('<Q', 0) + z(16), 'SYNTAX')
S('len-swallows-data', st({'w': T()}, z(16), hlen=len(json.dumps({'w': T()}, separators=(',', ':'))) + 16), 'SYNTAX')
S('not-utf8', st(b'\xff'), 'SYNTAX')
S('overlong-utf8', st(b'{"\xc0\xaf":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', z(4)), 'SYNTAX')
S('utf8-bom', st(b'\xef\xbb\xbf{}'), 'SYNTAX')
S('not-json', st(b'{'), 'SYNTAX')
S('array-top', st(b'[]'), 'SCHEMA')
S('string-top', st(b'"x"'), 'SCHEMA')
S('two-objects', st(b'{}{}'), 'SYNTAX')
S('trailing-comma', st(b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},}', z(4)), 'SYNTAX')
S('single-quotes', st(b"{'w':1}"), 'SYNTAX')
S('nan-literal', st(b'{"w":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}', z(4)), 'SYNTAX')
S('raw-newline-in-string', st(b'{"a\nb":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', z(4)), 'SYNTAX')
S('lone-surrogate', st(b'{"\\ud800":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', z(4)), 'SYNTAX')
S('nul-in-name', st(b'{"w\\u0000x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', z(4)), 'NAME')
S('name-5000', st({'w' * 5000: T()}, z(16)), 'LIMIT')
S('empty-name', st({'': T()}, z(16)), 'NAME')
S('depth-100k', st(b'{"w":' + b'[' * 100000 + b']' * 100000 + b'}'), 'SCHEMA')
S('depth-100k-in-extra', st(b'{"w":{"x":' + b'[' * 100000 + b']' * 100000 + b',"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', z(4)), 'LIMIT')
S('dup-tensor', st(b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}', z(8)), 'DUP')
S('dup-tensor-escaped', st(b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\\u0077":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}', z(8)), 'DUP')
S('dup-field', st(b'{"w":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}}', z(4)), 'DUP')
S('dup-metadata', st(b'{"__metadata__":{},"__metadata__":{},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', z(4)), 'DUP')
S('no-dtype', st({'w': {'shape': [1], 'data_offsets': [0, 4]}}, z(4)), 'SCHEMA')
S('no-shape', st({'w': {'dtype': 'F32', 'data_offsets': [0, 4]}}, z(4)), 'SCHEMA')
S('no-offsets', st({'w': {'dtype': 'F32', 'shape': [1]}}, z(4)), 'SCHEMA')
S('dtype-number', st({'w': {'dtype': 7, 'shape': [1], 'data_offsets': [0, 4]}}, z(4)), 'SCHEMA')
S('dtype-unknown', st({'w': T('F99', (1,), (0, 4))}, z(4)), 'DTYPE')
S('dtype-lowercase', st({'w': T('f32', (1,), (0, 4))}, z(4)), 'DTYPE')
S('shape-string', st({'w': {'dtype': 'F32', 'shape': '4', 'data_offsets': [0, 4]}}, z(4)), 'SCHEMA')
S('shape-negative', st({'w': T(shape=(-1,), off=(0, 4))}, z(4)), 'SCHEMA')
S('shape-float', st(b'{"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}}', z(4)), 'SCHEMA')
S('shape-exp', st(b'{"w":{"dtype":"F32","shape":[1e0],"data_offsets":[0,4]}}', z(4)), 'SCHEMA')
S('shape-leading-zero', st(b'{"w":{"dtype":"F32","shape":[01],"data_offsets":[0,4]}}', z(4)), 'SYNTAX')
S('shape-2pow64', st(b'{"w":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4]}}', z(4)), 'OVERFLOW')
S('shape-rank-9', st({'w': T(shape=(1,) * 9, off=(0, 4))}, z(4)), 'LIMIT')
S('shape-rank-100k', st({'w': T(shape=(1,) * 100000, off=(0, 4))}, z(4)), 'LIMIT')
S('prod-wrap-zero', st({'w': T(shape=(2 ** 32, 2 ** 32), off=(0, 0))}), 'OVERFLOW')
S('prod-wrap-small', st({'w': T(shape=(2, 2 ** 63 + 2), off=(0, 16))}, z(16)), 'OVERFLOW')
S('bytes-wrap', st({'w': T(shape=(2, 2 ** 63 - 1), off=(0, 16))}, z(16)), 'OVERFLOW')
S('prod-wrap-then-zero', st({'w': T(shape=(2 ** 63, 2, 0), off=(0, 0))}), 'OVERFLOW')
S('size-mismatch-small', st({'w': T('F64', (4,), (0, 16))}, z(16)), 'SHAPE')
S('size-mismatch-big', st({'w': T(shape=(1000, 1000), off=(0, 4))}, z(4)), 'SHAPE')
S('offsets-cover-more', st({'w': T(shape=(32, 8), off=(0, 65536))}, z(65536)), 'SHAPE')
S('f4-odd', st({'w': T('F4', (3,), (0, 2))}, z(2)), 'SHAPE')
S('offsets-reversed', st({'w': T(off=(16, 0))}, z(16)), 'RANGE')
S('offsets-one', st({'w': {'dtype': 'F32', 'shape': [1], 'data_offsets': [0]}}, z(4)), 'SCHEMA')
S('offsets-three', st({'w': {'dtype': 'F32', 'shape': [1], 'data_offsets': [0, 4, 8]}}, z(4)), 'SCHEMA')
S('offsets-negative', st({'w': T(shape=(1,), off=(-4, 0))}, z(4)), 'SCHEMA')
S('offsets-u64', st({'w': T(shape=(1,), off=(2 ** 64 - 4, 2 ** 64 - 1))}, z(4)), 'SHAPE')
S('offsets-past-eof', st({'w': T()}, z(14)), 'TRUNCATED')
S('overlap', st({'a': T(), 'b': T()}, z(16)), 'RANGE')
S('overlap-partial', st({'a': T(), 'b': T(off=(8, 24))}, z(24)), 'RANGE')
S('hole', st({'a': T(), 'b': T(off=(20, 36))}, z(36)), 'RANGE')
S('hole-at-start', st({'a': T(off=(4, 20))}, z(20)), 'RANGE')
S('trailing-data', st({'w': T()}, z(16) + b'a second file may hide behind the last tensor'), 'RANGE')
S('polyglot-zip', st({'w': T()}, z(16)) + b'PK\x05\x06' + z(18), 'RANGE')
S('meta-number', st({'__metadata__': {'a': 1}, 'w': T()}, z(16)), 'SCHEMA')
S('meta-array', st({'__metadata__': ['a'], 'w': T()}, z(16)), 'SCHEMA')
S('meta-as-tensor', st({'__metadata__': T()}, z(16)), 'SCHEMA')
S('many-overlap-100k', st({'w%d' % i: T() for i in range(100000)}, z(16)), 'RANGE')
S('many-empty-300k', st({'w%d' % i: T(shape=(0,), off=(0, 0)) for i in range(300000)}), 'LIMIT')
S('gguf-renamed', b'GGUF' + struct.pack('<IQQ', 3, 0, 0), 'LIMIT')
S('html-error-page', b'<!DOCTYPE html><html><body>404</body></html>', 'LIMIT')
S('git-lfs-pointer', b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n', 'LIMIT')
S('all-zero-1mb', z(1 << 20), 'SYNTAX')

# ---- GGUF ---------------------------------------------------------------------------------------
U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = range(13)


def gs(s):
    b = s if isinstance(s, bytes) else s.encode()
    return struct.pack('<Q', len(b)) + b


def kv(k, t, v):
    return gs(k) + struct.pack('<i', t) + v


def ti(name, dims, typ, off, nd=None):
    return gs(name) + struct.pack('<I', len(dims) if nd is None else nd) + b''.join((struct.pack('<Q', d & 2 ** 64 - 1) for d in dims)) + struct.pack('<iQ', typ, off)


def gg(kvs=(), tis=(), data=b'', ver=3, nt=None, nk=None, align=32, magic=b'GGUF', cut=None):
    h = magic + struct.pack('<IQQ', ver, (len(tis) if nt is None else nt) & 2 ** 64 - 1, (len(kvs) if nk is None else nk) & 2 ** 64 - 1) + b''.join(kvs) + b''.join(tis)
    if tis or data:
        h += z(-len(h) % align) + data
    return h if cut is None else h[:cut]


def G(n, d, c, note=''):
    return put('gguf', n, d, c, note, 'gguf')


one = [ti('w', [4], 0, 0)]


def A(v, t=U32):
    return kv('general.alignment', t, struct.pack('<I', v))


G('ok-empty', gg(), 'OK')
G('ok-one', gg(tis=one, data=z(32)), 'OK')
G('ok-kv', gg([kv('general.architecture', STR, gs('sd')), kv('a.b', F32, struct.pack('<f', 1))], one, z(32)), 'OK')
G('ok-align-64', gg([A(64)], one, z(64), align=64), 'OK')
G('ok-v2', gg(tis=one, data=z(32), ver=2), 'OK')
G('ok-arr-str', gg([kv('t', ARR, struct.pack('<iQ', STR, 2) + gs('a') + gs(''))]), 'OK')
G('ok-q4_0', gg(tis=[ti('w', [32], 2, 0)], data=z(32)), 'OK')
G('ok-two', gg(tis=[ti('a', [4], 0, 0), ti('b', [4], 0, 32)], data=z(64)), 'OK')
G('empty-file', b'', 'TRUNCATED')
G('magic-only', b'GGUF', 'TRUNCATED')
G('bad-magic', gg(magic=b'GGUX'), 'MAGIC')
G('old-ggml', gg(magic=b'lmgg'), 'MAGIC')
G('header-23', gg(cut=23), 'TRUNCATED')
G('safetensors-renamed', st({'w': T()}, z(16)), 'MAGIC')
G('v0', gg(ver=0), 'VERSION')
G('v1', gg(ver=1), 'VERSION')
G('v4', gg(ver=4), 'VERSION')
G('big-endian', gg(ver=50331648), 'VERSION')
G('n-tensors-minus-1', gg(nt=-1), 'LIMIT')
G('n-tensors-wrap', gg(nt=2 ** 64 // 24 + 1), 'LIMIT')
G('n-tensors-1m', gg(nt=1000000), 'LIMIT')
G('n-tensors-lie', gg(nt=5, tis=one, data=z(32)), 'TRUNCATED')
G('n-kv-minus-1', gg(nk=-1), 'LIMIT')
G('n-kv-wrap', gg(nk=2 ** 64 // 48 + 1), 'LIMIT')
G('n-kv-lie', gg([kv('a', U8, b'\x01')], nk=9), 'TRUNCATED')
G('key-len-u64max', gg([struct.pack('<Q', 2 ** 64 - 1) + b'abc' + z(32)]), 'LIMIT')
G('key-len-1tb', gg([struct.pack('<Q', 1 << 40) + b'abc' + z(32)]), 'LIMIT')
G('key-len-past-eof', gg([struct.pack('<Q', 1000) + b'abc']), 'TRUNCATED')
G('key-empty', gg([kv('', U8, b'\x01')]), 'NAME')
G('key-not-utf8', gg([kv(b'\xff\xfe', U8, b'\x01')]), 'NAME')
G('key-nul', gg([kv(b'a\x00b', U8, b'\x01')]), 'NAME')
G('key-70000', gg([kv('k' * 70000, U8, b'\x01')]), 'LIMIT')
G('key-dup', gg([kv('a', U8, b'\x01'), kv('a', U8, b'\x02')]), 'DUP')
G('kv-type-13', gg([kv('a', 13, b'\x01')]), 'SCHEMA')
G('kv-type-negative', gg([kv('a', -1, b'\x01')]), 'SCHEMA')
G('kv-value-cut', gg([kv('a', U64, b'\x01')]), 'TRUNCATED')
G('bool-2', gg([kv('a', BOOL, b'\x02')]), 'SCHEMA')
G('str-len-u64max', gg([kv('a', STR, struct.pack('<Q', 2 ** 64 - 1) + b'x')]), 'LIMIT')
G('str-len-4gb', gg([kv('a', STR, struct.pack('<Q', 1 << 32) + b'x')]), 'LIMIT')
G('str-len-past-eof', gg([kv('a', STR, struct.pack('<Q', 99) + b'x')]), 'TRUNCATED')
G('str-not-utf8', gg([kv('a', STR, gs(b'\xff\xff'))]), 'OK')
G('arr-n-u64max', gg([kv('a', ARR, struct.pack('<iQ', U32, 2 ** 64 - 1))]), 'LIMIT')
G('arr-n-wrap-4', gg([kv('a', ARR, struct.pack('<iQ', U32, 2 ** 62 + 1) + z(64))]), 'LIMIT')
G('arr-n-past-eof', gg([kv('a', ARR, struct.pack('<iQ', U64, 100) + z(8))]), 'TRUNCATED')
G('arr-of-str-n-big', gg([kv('a', ARR, struct.pack('<iQ', STR, 1 << 26) + z(64))]), 'TRUNCATED')
G('arr-type-13', gg([kv('a', ARR, struct.pack('<iQ', 13, 1) + z(8))]), 'SCHEMA')
nest = b''.join((struct.pack('<iQ', ARR, 1) for _ in range(20000)))
G('arr-nested-20k', gg([kv('a', ARR, nest + struct.pack('<iQ', U8, 1) + b'\x01')]), 'SCHEMA')
G('align-0', gg([A(0)], one, z(32)), 'RANGE')
G('align-13', gg([A(13)], one, z(32)), 'RANGE')
G('align-2g', gg([A(1 << 31)], one, z(32)), 'RANGE')
G('align-i32', gg([A(32, I32)], one, z(32)), 'SCHEMA')
G('align-str', gg([kv('general.alignment', STR, gs('32'))], one, z(32)), 'SCHEMA')
G('name-len-u64max', gg(tis=[struct.pack('<Q', 2 ** 64 - 1) + b'w']), 'LIMIT')
G('name-5000', gg(tis=[ti('w' * 5000, [4], 0, 0)], data=z(32)), 'LIMIT')
G('name-empty', gg(tis=[ti('', [4], 0, 0)], data=z(32)), 'NAME')
G('name-nul', gg(tis=[ti(b'a\x00b', [4], 0, 0)], data=z(32)), 'NAME')
G('name-dup', gg(tis=[ti('w', [4], 0, 0), ti('w', [4], 0, 32)], data=z(64)), 'DUP')
G('ndims-6', gg(tis=[ti('w', [1] * 6, 0, 0)], data=z(32)), 'LIMIT')
G('ndims-u32max', gg(tis=[ti('w', [4], 0, 0, nd=2 ** 32 - 1)], data=z(32)), 'LIMIT')
G('ndims-0', gg(tis=[ti('w', [], 0, 0)], data=z(32)), 'OK')
G('dim-0', gg(tis=[ti('w', [4, 0], 0, 0)]), 'SHAPE')
G('dim-negative', gg(tis=[ti('w', [-4], 0, 0)], data=z(32)), 'OVERFLOW')
G('prod-wrap-zero', gg(tis=[ti('w', [2 ** 32, 2 ** 32], 0, 0)]), 'OVERFLOW')
G('prod-i64max-x2', gg(tis=[ti('w', [2 ** 63 - 1, 2], 24, 0)]), 'OVERFLOW')
G('bytes-wrap', gg(tis=[ti('w', [2 ** 61, 8], 0, 0)], data=z(32)), 'OVERFLOW')
G('nbytes-i64', gg(tis=[ti('w', [2 ** 61], 27, 0)], data=z(32)), 'OVERFLOW')
G('pad-wrap', gg(tis=[ti('a', [2 ** 62 - 1], 0, 0), ti('b', [4], 0, 0)], data=z(32)), 'OVERFLOW')
G('sum-wrap', gg(tis=[ti('a', [9223372036854775744], 24, 0), ti('b', [9223372036854775744], 24, 9223372036854775744), ti('c', [256], 24, 18446744073709551488)], data=z(64)), 'TRUNCATED')
G('type-count', gg(tis=[ti('w', [4], 1000, 0)], data=z(32)), 'DTYPE')
G('type-negative', gg(tis=[ti('w', [4], -1, 0)], data=z(32)), 'DTYPE')
G('type-removed-4', gg(tis=[ti('w', [32], 4, 0)], data=z(32)), 'DTYPE')
G('type-i32-unsupported', gg(tis=[ti('w', [4], 26, 0)], data=z(32)), 'OK')
G('block-misfit', gg(tis=[ti('w', [31], 2, 0)], data=z(32)), 'SHAPE')
G('offset-unaligned', gg(tis=[ti('w', [4], 0, 4)], data=z(64)), 'RANGE')
G('offset-hole', gg(tis=[ti('w', [4], 0, 64)], data=z(96)), 'RANGE')
G('offset-overlap', gg(tis=[ti('a', [4], 0, 0), ti('b', [4], 0, 0)], data=z(64)), 'RANGE')
G('offset-u64max', gg(tis=[ti('w', [4], 0, 2 ** 64 - 32)], data=z(64)), 'RANGE')
G('data-cut', gg(tis=[ti('w', [1024], 0, 0)], data=z(100)), 'TRUNCATED')
G('data-missing', gg(tis=[ti('w', [1024], 0, 0)]), 'TRUNCATED')
G('no-pad-at-end', gg(tis=[ti('w', [4], 0, 0)], data=z(16)), 'OK')
G('trailing-junk', gg(tis=one, data=z(32) + b'PK\x05\x06' + z(18)), 'OK')
G('align-inconsistent', gg([A(64)], [ti('a', [4], 0, 0), ti('b', [4], 0, 32)], z(128), align=64), 'RANGE')

# ---- PNG with metadata --------------------------------------------------------------------------


def wf():
    return {"1": {"class_type": "VAELoader", "inputs": {"vae_name": "ae.safetensors"}},
            "2": {"class_type": "LoadLatent", "inputs": {"latent": "x.latent"}},
            "3": {"class_type": "VAEDecode", "inputs": {"samples": ["2", 0], "vae": ["1", 0]}},
            "4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "out"}}}


def ch(t, d, crc=None, ln=None):
    return struct.pack('>I', len(d) if ln is None else ln) + t + d + struct.pack('>I', zlib.crc32(t + d) if crc is None else crc)


SIG = b'\x89PNG\r\n\x1a\n'


def png(w=2, h=2, extra=b'', bd=8, ct=2, idat=None, tail=True):
    return SIG + ch(b'IHDR', struct.pack('>IIBBBBB', w, h, bd, ct, 0, 0, 0)) + extra + ch(b'IDAT', zlib.compress(b''.join((b'\x00' + z(w * 3) for _ in range(h)))) if idat is None else idat) + (ch(b'IEND', b'') if tail else b'')


def P(n, d, c, note=''):
    return put('png', n, d, c, note, 'png')


wj = json.dumps(wf()).encode()


def tx(k, v):
    return ch(b'tEXt', k + b'\x00' + v)


def zt(k, v):
    return ch(b'zTXt', k + b'\x00\x00' + zlib.compress(v, 9))


def it(k, v, c=True):
    return ch(b'iTXt', k + b'\x00' + (b'\x01' if c else b'\x00') + b'\x00\x00\x00' + (zlib.compress(v, 9) if c else v))


P('ok-prompt', png(extra=tx(b'prompt', wj)), 'OK')
P('ok-itxt', png(extra=it(b'workflow', wj)), 'OK')
P('no-metadata', png(), 'UNKNOWN')
P('empty', b'', 'TRUNCATED')
P('sig-only', SIG, 'TRUNCATED')
P('jpeg', b'\xff\xd8\xff\xe0' + z(64), 'MAGIC')
P('ztxt-bomb-1g', png(extra=ch(b'zTXt', b'prompt\x00\x00' + (lambda c: b''.join((c.compress(z(1 << 20)) for _ in range(1024))) + c.flush())(zlib.compressobj(9)))), 'BOMB')
P('itxt-bomb', png(extra=it(b'workflow', z(256 << 20))), 'BOMB')
P('text-chunks-20000', png(extra=b''.join((tx(b'k%d' % i, b'x') for i in range(20000)))), 'LIMIT')
P('text-len-2g', png(extra=struct.pack('>I', 2147483647) + b'tEXtprompt\x00{'), 'TRUNCATED')
P('text-len-negative', png(extra=struct.pack('>I', 4294967295) + b'tEXtprompt\x00{'), 'TRUNCATED')
P('text-crc', png(extra=ch(b'tEXt', b'prompt\x00' + wj, crc=0)), 'OK', 'edited after it was saved; pixels stay strict')
P('text-no-nul', png(extra=ch(b'tEXt', b'promptnonul')), 'UNKNOWN')
P('text-key-80', png(extra=tx(b'p' * 80, wj)), 'UNKNOWN')
P('prompt-twice', png(extra=tx(b'prompt', wj) + tx(b'prompt', b'{}')), 'DUP')
P('prompt-bad-json', png(extra=tx(b'prompt', b'{')), 'SYNTAX')
P('prompt-nan', png(extra=tx(b'prompt', b'{"1":{"class_type":"KSampler","inputs":{"cfg":NaN}}}')), 'SYNTAX')
P('prompt-depth', png(extra=tx(b'prompt', b'[' * 200000)), 'LIMIT')
P('ihdr-2g', png(extra=tx(b'prompt', wj), w=1, h=1).replace(struct.pack('>II', 1, 1), struct.pack('>II', 2147483647, 2147483647), 1), 'SYNTAX')
hdr = struct.pack('>IIBBBBB', 100000, 100000, 16, 6, 0, 0, 0)
P('ihdr-100k-square', SIG + ch(b'IHDR', hdr) + tx(b'prompt', wj) + ch(b'IDAT', zlib.compress(z(100))) + ch(b'IEND', b''), 'OK')
P('idat-bomb', SIG + ch(b'IHDR', struct.pack('>IIBBBBB', 30000, 30000, 8, 2, 0, 0, 0)) + ch(b'IDAT', zlib.compress(z(90000) * 300)) + ch(b'IEND', b''), 'LIMIT', 'LoadImage')
P('no-iend', png(extra=tx(b'prompt', wj), tail=False), 'OK')
P('metadata-after-idat', png()[:-12] + tx(b'prompt', wj) + ch(b'IEND', b''), 'OK')
P('apng-fctl', png(extra=ch(b'acTL', struct.pack('>II', 4294967295, 0)) + tx(b'prompt', wj)), 'OK')

with open(f"{out}/MANIFEST.tsv", "w", encoding="utf-8") as f:
    f.writelines("\t".join(r) + "\n" for r in rows)
