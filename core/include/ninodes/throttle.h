// Why a device runs slower than it could, as the counter gpu.throttle tells it.
//
// Threads: any thread.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

enum {
    // A power limit.
    NINO_THROTTLE_POWER = 1,
    // A limit of the voltage regulators.
    NINO_THROTTLE_CURRENT = 2,
    // Of the chip, its skin or its regulators.
    NINO_THROTTLE_TEMPERATURE = 4,
    // Another part of the machine asks for it.
    NINO_THROTTLE_PROCHOT = 8,
    // The driver does not say.
    NINO_THROTTLE_OTHER = 16
};

// "power, temperature"; "" when nothing is set.
NINO_API const char *nino_throttle_text(unsigned bits, char *buf, size_t size);

NINO_END
