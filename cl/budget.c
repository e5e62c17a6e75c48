// How much memory of a device may be taken: what it reports, and what the system has left.
#include "cl/runtime.h"

#include <stdio.h>
#include <string.h>

enum {
    // Queries of extensions, which headers of OpenCL 1.2 do not have (cl_ext.h).
    PCI_BUS_INFO = 0x410f, // cl_khr_pci_bus_info: domain, bus, device, function
    AMD_TOPOLOGY = 0x4037, // cl_amd_device_attribute_query
    AMD_TOPOLOGY_PCIE = 1
};

typedef struct amd_topology {
    cl_uint type;
    unsigned char unused[17], bus, device, function;
} amd_topology;

void nino_cl_find_card(nino_cl_device *d)
{
    cl_uint at[4];
    amd_topology amd = { 0 };
    if (d->is_host)
        return;
    if (!OCL(clGetDeviceInfo, d->id, PCI_BUS_INFO, sizeof(at), at, NULL))
        snprintf(d->pci, sizeof(d->pci), "%04x:%02x:%02x.%x", at[0] & 0xffff, at[1] & 0xff,
                 at[2] & 0xff, at[3] & 7);
    else if (!OCL(clGetDeviceInfo, d->id, AMD_TOPOLOGY, sizeof(amd), &amd, NULL) &&
             amd.type == AMD_TOPOLOGY_PCIE)
        snprintf(d->pci, sizeof(d->pci), "0000:%02x:%02x.%x", amd.bus, amd.device,
                 amd.function & 7);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t left(uint64_t total, uint64_t used) { return total > used ? total - used : 0; }

// What the system can give now; UINT64_MAX: it does not tell.
static uint64_t room(const nino_cl_device *dev, const nino_memory_now *m)
{
    const bool is_amd = strcasestr(dev->info.vendor, "advanced micro devices") ||
                        strcasestr(dev->info.vendor, "amd");
    const bool has_card = m->has_card && is_amd && !dev->is_host;
    const bool is_shared = dev->is_host || dev->is_unified || (has_card && m->is_apu);
    const uint64_t available = m->available ? m->available : UINT64_MAX;
    if (!has_card)
        return is_shared ? available : UINT64_MAX;
    const uint64_t own = left(m->vram_total, m->vram_used);
    if (!is_shared) // GTT is behind the bus
        return m->vram_total ? own : UINT64_MAX;
    // What was carved out for the GPU is no part of the machine's memory; GTT is.
    return own + least(m->gtt_total ? left(m->gtt_total, m->gtt_used) : 0, available);
}

uint64_t nino_cl_budget_of(const nino_cl_device *dev, const nino_profile *profile,
                           const nino_memory_now *m)
{
    const uint64_t mib = (uint64_t) 1 << 20, gib = mib << 10;
    uint64_t bytes = least(dev->info.mem_bytes, room(dev, m));
    if (profile->mem_bytes)
        bytes = least(bytes, profile->mem_bytes);
    // Left for the system: 4 GiB or a tenth; on small machines a quarter.
    uint64_t reserve = bytes / 10 > 4 * gib ? bytes / 10 : 4 * gib;
    reserve = least(reserve, bytes / 4);
    return bytes - reserve > mib ? bytes - reserve : mib; // 0 would be no limit
}

uint64_t nino_cl_budget(const nino_cl_device *dev, const nino_profile *profile)
{
    nino_memory_now m;
    nino_memory_read("", dev->pci, &m);
    return nino_cl_budget_of(dev, profile, &m);
}
