/* Which device, driver and ABI a piece of pipeline-cache data belongs to. Pure data, no Vulkan calls. */
#ifndef RC_CACHE_IDENTITY_H
#define RC_CACHE_IDENTITY_H

#include "hash.h"

#define IDENTITY_UUID_SIZE 16
#define IDENTITY_NAME_SIZE 256
#define IDENTITY_BUILD_ID_SIZE 32

/* Every byte behind a string's end is zero, so that two identities can be compared and hashed as memory. */
struct cache_identity {
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t driver_version;
    uint32_t driver_id;                       /* VkDriverId, 0 where the driver doesn't tell */
    uint8_t cache_uuid[IDENTITY_UUID_SIZE];   /* pipelineCacheUUID */
    uint32_t abi;                             /* identity_abi() of the process that wrote the data */
    char driver_name[IDENTITY_NAME_SIZE];     /* VK_MAX_DRIVER_NAME_SIZE */
    char driver_info[IDENTITY_NAME_SIZE];     /* VK_MAX_DRIVER_INFO_SIZE */
    uint32_t build_id_size;                   /* 0 where it couldn't be found */
    uint8_t build_id[IDENTITY_BUILD_ID_SIZE]; /* ELF build ID of the driver's library; not part of the path */
};

/* Pointer width in bits in the low half, the ELF machine number (e_machine) in the high half, of this
 * build. */
uint32_t identity_abi(void);

/* Name of the first field in which the two differ ("driverVersion", ...), or NULL if they are equal.
 * Build IDs are compared only where both sides have one. */
const char *identity_difference(const struct cache_identity *a, const struct cache_identity *b);

/* Writes "<field>: <value> expected, <value> found" for that field (long values cut) to the `size` bytes at
 * `out`, at most 128. Returns false, and leaves `out` alone, if the two are equal. */
bool identity_explain(const struct cache_identity *expected, const struct cache_identity *found, char *out,
                      size_t size);

/* Hash over every field but the build ID, and over the envelope's version: names the store's directory. */
struct hash128 identity_hash(const struct cache_identity *identity);

/* Name of the directory for this identity below the store's root: "<vendor>-<device>-<hash>", the numbers as
 * four or more hexadecimal digits, 16 digits of the hash. */
#define IDENTITY_DIRECTORY_SIZE 48
void identity_directory(const struct cache_identity *identity, char out[IDENTITY_DIRECTORY_SIZE]);

#endif
