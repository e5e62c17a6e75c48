// Internal: where this library is installed.
#pragma once

// The folder DATADIR/ninodes of the install that the library is in, wherever it was put or moved:
// found from the library's own file (of a program that has it inside, from the program). "" when
// that is not known. The folder need not exist: a build has none. Any thread.
const char *nino_data_dir(void);
