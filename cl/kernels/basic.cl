// What every network needs beside products and attention, in one program: with the options of each file.
#include "elt.cl"
#include "norm.cl"
#include "image.cl"
#include "move.cl"
