#!/usr/bin/env python3
# Draws data/labels/sans.png, the letters of result sheets (core/media/label.c), anew with cairo: DejaVu Sans, whose
# licence lets anybody use and pass on what is made with it. Latin-1 in rows of 16 from the space on; in the place of
# DEL there is an ellipsis, in that of the no-break space a box for all other letters. C1 codes are left out. The first
# pixel of a letter's bottom row holds how far the next letter is.
# usage: make.py OUT.png
import ctypes
import struct
import sys
import zlib

SIZE, W, H, BASE, ROW = 32, 44, 44, 32, 16
TOY = ctypes.c_void_p
c = ctypes.CDLL("libcairo.so.2")
for name in ("image_surface_create", "create", "image_surface_get_data"):
    getattr(c, "cairo_" + name).restype = TOY
text = [chr(i) for i in range(0x20, 0x7F)] + ["…", "□"] + [chr(i) for i in range(0xA1, 0x100)]
width, height = W * ROW, H * (len(text) // ROW)
surface = TOY(c.cairo_image_surface_create(2, width, height))  # A8
cr = TOY(c.cairo_create(surface))
c.cairo_select_font_face(cr, b"DejaVu Sans", 0, 0)
c.cairo_set_font_size(cr, ctypes.c_double(SIZE))
advance = []
for i, letter in enumerate(text):
    x, y = i % ROW * W, i // ROW * H
    extents = (ctypes.c_double * 6)()
    c.cairo_text_extents(cr, letter.encode(), extents)
    advance.append(round(extents[4]))
    assert advance[-1] <= W - 2, letter
    c.cairo_save(cr)
    c.cairo_rectangle(cr, *map(ctypes.c_double, (x, y, W, H - 1)))
    c.cairo_clip(cr)
    c.cairo_move_to(cr, ctypes.c_double(x + 1), ctypes.c_double(y + BASE))
    c.cairo_show_text(cr, letter.encode())
    c.cairo_restore(cr)
c.cairo_surface_flush(surface)
stride = c.cairo_image_surface_get_stride(surface)
pixels = bytearray(ctypes.string_at(c.cairo_image_surface_get_data(surface), stride * height))
for i, a in enumerate(advance):
    pixels[(i // ROW * H + H - 1) * stride + i % ROW * W] = a


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


rows = b"".join(b"\0" + bytes(pixels[y * stride:y * stride + width]) for y in range(height))
with open(sys.argv[1], "wb") as f:
    f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))
