#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#pragma GCC diagnostic ignored "-Wconversion"
#include "sync/spirv.h"
#include <stdlib.h>
#include <string.h>
const struct spirv_entry *spirv_find(const struct spirv_module *m, const char *name, uint32_t model)
{
    for (uint32_t i = 0; i < m->entry_count; i++)
        if (m->entries[i].model == model && !strcmp(m->entries[i].name, name))
            return &m->entries[i];
    return 0;
}
struct spirv_module *spirv_scan(const uint32_t *w, size_t size)
{
    size_t n = size / 4;
    uint32_t bound = w[3];
    struct {
        uint32_t set, bind, has, nw, nr, arr, type;
    } *v = calloc(bound, sizeof *v);
    struct spirv_module *m =
        calloc(1, sizeof *m + 8 * sizeof(m->entries[0]) + 64 * sizeof(struct spirv_binding) + size);
    struct spirv_binding *b = (void *)&m->entries[8];
    char *names = (char *)(b + 64);
    uint32_t *isarr = calloc(bound, 4), *ptr = calloc(bound, 4);
    memcpy(names, w, size);
    uint32_t nb = 0;
    for (size_t i = 5; i < n;) {
        uint32_t op = w[i] & 0xffff, len = w[i] >> 16;
        if (op == 15) {
            m->entries[m->entry_count].model = w[i + 1];
            m->entries[m->entry_count++].name = names + 4 * (i + 3);
        }
        if (op == 71) {
            uint32_t id = w[i + 1];
            if (w[i + 2] == 33) {
                v[id].bind = w[i + 3];
                v[id].has |= 1;
            }
            if (w[i + 2] == 34) {
                v[id].set = w[i + 3];
                v[id].has |= 2;
            }
            if (w[i + 2] == 24)
                v[id].nw = 1;
            if (w[i + 2] == 25)
                v[id].nr = 1;
        }
        if (op == 28 || op == 29)
            isarr[w[i + 1]] = 1;
        if (op == 32)
            ptr[w[i + 1]] = w[i + 3];
        if (op == 59) {
            uint32_t id = w[i + 2];
            if (v[id].has == 3 && nb < 64) {
                b[nb].set = v[id].set;
                b[nb].binding = v[id].bind;
                b[nb].element = isarr[ptr[w[i + 1]]] ? SPIRV_ANY_ELEMENT : 0;
                b[nb].access = (uint8_t)(4 | (v[id].nr ? 0 : 1) | (v[id].nw ? 0 : 2));
                nb++;
            }
        }
        i += len;
    }
    for (uint32_t i = 0; i < m->entry_count; i++) {
        m->entries[i].bindings = b;
        m->entries[i].binding_count = nb;
    }
    free(v);
    free(isarr);
    free(ptr);
    return m;
}
