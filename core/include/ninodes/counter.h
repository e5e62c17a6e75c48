// The counters of the machine: what a run tells about its device and its host while it works. One
// table says everything about each of them; samples on the socket and in trace files, plots, the
// screen of `ninodes monitor`, OpenMetrics, JSON lines and `ninodes help counters` derive from it.
// A new counter is a row here and a line in its sensor (core/event/sensor.c).
//
// Threads: a read-only table, for any thread.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

// The columns of a row, in order; what may follow are members of nino_counter that are not made of
// the name: plots, and the words that outputs older than this table use. Trace files and the socket
// hold the number of a row, so new rows come last and no row ever goes.
//
//   id        NINO_COUNTER_id is its number
//   sample    DEVICE (ten times a second) or HOST (twice): see nino_event_kind
//   kind      GAUGE goes up and down, TOTAL only up, FLAGS has bits
//   unit      see nino_unit
//   name      dotted, of small letters
//   label     for people
//   lo, hi    what a value can be; INFINITY: no limit
//   text      the definition, a sentence
// clang-format off
#define NINO_COUNTERS(X) \
    X(GPU_BUSY, DEVICE, GAUGE, PERCENT, "gpu.busy", "GPU", 0, 100, \
      "Share of the time in which the device computes.", .plot = "Load", .colour = 0, \
      .brief = "busy", .json = "busy_percent", .arg = "busy", .track = "GPU busy %", \
      .metric = "device_busy", .column = "gpu_percent") \
    X(GPU_CLOCK, DEVICE, GAUGE, MHZ, "gpu.clock", "clock", 0, INFINITY, \
      "Clock of the compute units of the device.", .plot = "Clock", .colour = 2, .brief = "", \
      .json = "mhz", .arg = "mhz", .track = "GPU clock MHz", .metric = "device_clock", \
      .column = "mhz") \
    X(GPU_POWER, DEVICE, GAUGE, WATT, "gpu.power", "power", 0, INFINITY, \
      "Power that the device takes; of an APU that of the whole package.", .plot = "Power", \
      .colour = 3, .brief = "", .json = "watt", .arg = "watt", .track = "GPU power W", \
      .metric = "device_power", .column = "watt") \
    X(GPU_TEMPERATURE, DEVICE, GAUGE, CELSIUS, "gpu.temperature", "temperature", -273.15, INFINITY, \
      "Temperature of the chip at its edge.", .plot = "Temperature", .colour = 5, .brief = "", \
      .json = "celsius", .arg = "celsius", .track = "GPU temperature C", \
      .metric = "device_temperature", .column = "celsius") \
    X(VRAM_USED, DEVICE, GAUGE, BYTES, "vram.used", "VRAM in use", 0, INFINITY, \
      "Memory of the device's own that is in use, by whatever program.", .plot = "VRAM", \
      .colour = 1, .json = "vram_used", .arg = "vram_used", .track = "VRAM used", \
      .metric = "device_vram_used", .column = "vram_bytes") \
    X(GTT_USED, DEVICE, GAUGE, BYTES, "gtt.used", "GTT in use", 0, INFINITY, \
      "Memory of the machine that the device uses, for whatever program.", .plot = "GTT", \
      .colour = 0, .brief = "GTT", .json = "gtt_used", .arg = "gtt_used", .track = "GTT used", \
      .metric = "device_gtt_used", .column = "gtt_bytes") \
    X(RAM_AVAILABLE, DEVICE, GAUGE, BYTES, "ram.available", "RAM available", 0, INFINITY, \
      "Memory of the machine that new programs can have without swapping.", .plot = "RAM", \
      .colour = 4, .brief = "RAM free", .json = "ram_available", .arg = "ram_available", \
      .track = "RAM available", .column = "ram_available_bytes") \
    X(VRAM_TOTAL, HOST, GAUGE, BYTES, "vram.total", "VRAM in all", 0, INFINITY, \
      "Memory of the device's own.", .arg = "vram_total_mib", .arg_scale = 1048576) \
    X(GTT_TOTAL, HOST, GAUGE, BYTES, "gtt.total", "GTT in all", 0, INFINITY, \
      "Memory of the machine that the device may use.", .arg = "gtt_total_mib", \
      .arg_scale = 1048576) \
    X(RAM_TOTAL, HOST, GAUGE, BYTES, "ram.total", "RAM in all", 0, INFINITY, \
      "Memory of the machine.", .arg = "ram_total_mib", .arg_scale = 1048576) \
    X(SWAP_TOTAL, HOST, GAUGE, BYTES, "swap.total", "swap in all", 0, INFINITY, \
      "Room for memory that is swapped out.", .arg = "swap_total_mib", .arg_scale = 1048576) \
    X(SWAP_USED, HOST, GAUGE, BYTES, "swap.used", "swap in use", 0, INFINITY, \
      "Memory that is swapped out; not known where there is no room for any.", .plot = "Swap", \
      .colour = 3, .arg = "swap_used_mib", .arg_scale = 1048576, .column = "swap_bytes") \
    X(PROCESS_RAM, HOST, GAUGE, BYTES, "process.ram", "RAM of the process", 0, INFINITY, \
      "Resident memory of the process that computes.", .plot = "Process", .colour = 2, \
      .arg = "own_mib", .arg_scale = 1048576, .metric = "process_resident", \
      .column = "process_bytes") \
    X(CPU_BUSY, HOST, GAUGE, PERCENT, "cpu.busy", "CPU", 0, 100, \
      "Load of all processor cores together since the sample before.", .plot = "Load", \
      .colour = 1, .arg = "cpu_busy", .column = "cpu_percent") \
    X(FABRIC_CLOCK, HOST, GAUGE, MHZ, "fabric.clock", "fabric", 0, INFINITY, \
      "Clock of the data fabric between cores, device and memory.", .plot = "Clock", .colour = 5, \
      .arg = "fabric_mhz", .column = "fabric_mhz") \
    X(MEMORY_CLOCK, HOST, GAUGE, MHZ, "memory.clock", "memory clock", 0, INFINITY, \
      "Clock of the memory that the device uses.", .plot = "Clock", .colour = 7, \
      .arg = "memory_mhz", .column = "memory_mhz") \
    X(GPU_THROTTLE, HOST, FLAGS, NONE, "gpu.throttle", "throttled", 0, 31, \
      "Why the device runs slower than it could: bits of ninodes/throttle.h, 0 for not at all.", \
      .arg = "throttle") \
    X(GTT_OTHERS, HOST, GAUGE, BYTES, "gtt.others", "GTT of others", 0, INFINITY, \
      "GTT that other processes than the one that computes use.", .plot = "GTT", .colour = 7, \
      .arg = "gtt_others_4mib", .arg_scale = 4194304, .column = "gtt_others_bytes") \
    /* new rows above this line */
// clang-format on

typedef enum nino_counter_id {
    NINO_COUNTER_NONE = 0,
#define NINO_COUNTER_ID_(id, ...) NINO_COUNTER_##id,
    NINO_COUNTERS(NINO_COUNTER_ID_)
#undef NINO_COUNTER_ID_
    // One more than the last.
    NINO_COUNTER_END,
    // Numbers stay below this.
    NINO_COUNTER_MAX = 64
} nino_counter_id;

// How a value changes: up and down, only up, or as bits that are set or not.
typedef enum nino_counter_kind {
    NINO_COUNTER_GAUGE = 0,
    NINO_COUNTER_TOTAL = 1,
    NINO_COUNTER_FLAGS = 2
} nino_counter_kind;

typedef enum nino_unit {
    NINO_UNIT_NONE = 0,
    NINO_UNIT_PERCENT = 1,
    NINO_UNIT_BYTES = 2,
    NINO_UNIT_MHZ = 3,
    NINO_UNIT_WATT = 4,
    NINO_UNIT_CELSIUS = 5
} nino_unit;

// A row of the table.
typedef struct nino_counter {
    // Its nino_counter_id.
    uint16_t id;
    // The nino_event_kind of the samples that tell it, a nino_counter_kind, and a nino_unit.
    uint8_t sample;
    uint8_t kind;
    uint8_t unit;
    const char *name, *label;
    double lo, hi;
    const char *text;
    // The axis that plots draw it on, with others of the same unit; NULL: none does. colour is its
    // place in the palette of plots.
    const char *plot;
    unsigned colour;
    // What the screen of `ninodes monitor` writes before the value, may be ""; NULL: not there.
    const char *brief;
    // Words of single outputs, NULL where they are the name (see nino_counter_word()): member of a
    // JSON line, counter track of a trace, OpenMetrics without the unit, column of an exported
    // table.
    const char *json;
    const char *track;
    const char *metric;
    const char *column;
    // Argument of a sample's point in a trace, and what one of its units is worth (0: 1).
    const char *arg;
    double arg_scale;
} nino_counter;

// The row of a counter. NULL: this library knows none of that number, or it is NINO_COUNTER_NONE.
NINO_API const nino_counter *nino_counter_row(unsigned id);
// Symbol of a unit: "MHz", or "" for NINO_UNIT_NONE. Never NULL.
NINO_API const char *nino_unit_text(nino_unit unit);
// The word of an output: c->json or one of its like where the row tells it, else the name.
static inline const char *nino_counter_word(const nino_counter *c, const char *word)
{
    return word ? word : c->name;
}

NINO_END
