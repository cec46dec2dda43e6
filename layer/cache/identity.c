#include "identity.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "envelope.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__i386__)
#define MACHINE EM_386
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__arm__)
#define MACHINE EM_ARM
#elif defined(__riscv)
#define MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define MACHINE EM_PPC64
#elif defined(__s390x__)
#define MACHINE EM_S390
#elif defined(__loongarch__)
#define MACHINE 258 /* EM_LOONGARCH, newer than some elf.h */
#else
#error "name this machine's e_machine here: the ABI is part of a cache's identity"
#endif

enum field_kind {
    FIELD_NUMBER,
    FIELD_BYTES,
    FIELD_TEXT,
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    size_t size;
};

#define FIELD(name, kind, member)                                                                            \
    {                                                                                                        \
        name, kind, offsetof(struct cache_identity, member), sizeof(((struct cache_identity *)0)->member)    \
    }

/* Every field but the build ID. Their order is part of the hash. */
static const struct field fields[] = {
    FIELD("vendorID", FIELD_NUMBER, vendor_id),           FIELD("deviceID", FIELD_NUMBER, device_id),
    FIELD("driverVersion", FIELD_NUMBER, driver_version), FIELD("driverID", FIELD_NUMBER, driver_id),
    FIELD("pipelineCacheUUID", FIELD_BYTES, cache_uuid),  FIELD("ABI", FIELD_NUMBER, abi),
    FIELD("driverName", FIELD_TEXT, driver_name),         FIELD("driverInfo", FIELD_TEXT, driver_info),
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

static const char build_id_name[] = "driver build ID";

uint32_t identity_abi(void)
{
    return (uint32_t)MACHINE << 16 | (uint32_t)(8 * sizeof(void *));
}

static const uint8_t *field_bytes(const struct cache_identity *identity, const struct field *field)
{
    return (const uint8_t *)identity + field->offset;
}

static uint32_t field_number(const struct cache_identity *identity, const struct field *field)
{
    uint32_t number;

    memcpy(&number, field_bytes(identity, field), sizeof(number));
    return number;
}

static const struct field *first_difference(const struct cache_identity *a, const struct cache_identity *b)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (memcmp(field_bytes(a, &fields[i]), field_bytes(b, &fields[i]), fields[i].size) != 0)
            return &fields[i];
    }
    return NULL;
}

static bool build_ids_differ(const struct cache_identity *a, const struct cache_identity *b)
{
    if (a->build_id_size == 0 || b->build_id_size == 0)
        return false;
    return a->build_id_size != b->build_id_size || memcmp(a->build_id, b->build_id, a->build_id_size) != 0;
}

const char *identity_difference(const struct cache_identity *a, const struct cache_identity *b)
{
    const struct field *field = first_difference(a, b);

    if (field)
        return field->name;
    return build_ids_differ(a, b) ? build_id_name : NULL;
}

/* What one side of a message shows of a value, so that both fit into any message. */
#define SHOWN_BYTES 20
#define SHOWN_SIZE (2 * SHOWN_BYTES + 3)

static void show_bytes(const uint8_t *bytes, size_t size, char out[SHOWN_SIZE])
{
    out[0] = '\0';
    for (size_t i = 0; i < size && i < SHOWN_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void show_field(const struct cache_identity *identity, const struct field *field, char out[SHOWN_SIZE])
{
    switch (field->kind) {
    case FIELD_NUMBER:
        snprintf(out, SHOWN_SIZE, "0x%x", field_number(identity, field));
        break;
    case FIELD_BYTES:
        show_bytes(field_bytes(identity, field), field->size, out);
        break;
    case FIELD_TEXT:
        snprintf(out, SHOWN_SIZE, "\"%.*s\"", 2 * SHOWN_BYTES, (const char *)field_bytes(identity, field));
        break;
    }
}

bool identity_explain(const struct cache_identity *expected, const struct cache_identity *found, char *out,
                      size_t size)
{
    const struct field *field = first_difference(expected, found);
    const char *name = build_id_name;
    char want[SHOWN_SIZE], have[SHOWN_SIZE];

    if (field) {
        name = field->name;
        show_field(expected, field, want);
        show_field(found, field, have);
    } else if (build_ids_differ(expected, found)) {
        show_bytes(expected->build_id, expected->build_id_size, want);
        show_bytes(found->build_id, found->build_id_size, have);
    } else {
        return false;
    }
    snprintf(out, size, "%s: %s expected, %s found", name, want, have);
    return true;
}

struct hash128 identity_hash(const struct cache_identity *identity)
{
    uint8_t bytes[4 + sizeof(*identity)];
    size_t used = 4;

    bytes_put_u32(bytes, ENVELOPE_VERSION);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (fields[i].kind == FIELD_NUMBER)
            bytes_put_u32(bytes + used, field_number(identity, &fields[i]));
        else
            memcpy(bytes + used, field_bytes(identity, &fields[i]), fields[i].size);
        used += fields[i].size;
    }
    return hash128_of(bytes, used);
}

void identity_directory(const struct cache_identity *identity, char out[IDENTITY_DIRECTORY_SIZE])
{
    struct hash128 hash = identity_hash(identity);
    char hex[HASH128_HEX_SIZE];

    hash128_to_hex(&hash, hex);
    snprintf(out, IDENTITY_DIRECTORY_SIZE, "%04x-%04x-%.16s", identity->vendor_id, identity->device_id, hex);
}
