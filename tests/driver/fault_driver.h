/* What tests ask of the fault-injecting driver (libVkICD_fault.so) in their own process: its journal, its
 * counters, its rules. A test links the library or takes these functions by dlsym(); the loader then loads
 * the very same copy, and since it is linked `-z nodelete` its state outlives every instance. Processes that
 * can't ask get the same by the environment variable FAULT_DRIVER and by the journal's file. All functions:
 * any thread, unless they say otherwise.
 */
/* clang-format off */
/* FAULT_DRIVER and fault_configure() take a list of items separated by ';'. Numbers are decimal or 0x...
 *
 *   Identity (taken at vkCreateInstance):
 *     api=1.3  vendor=0x1fa7  device=1  driver_version=1  driver_id=0  driver_name=...  driver_info=...
 *     device_name=...  devices=1           the n-th physical device has deviceID device + n, n from 0
 *     uuid=auto|constant|zero|<32 digits>  auto depends on vendor, device, driver version and driver name
 *     protected=1                          protected memory, and queues that take it
 *     hide=VK_KHR_x  show=VK_KHR_x         one more extension hidden or exposed
 *     hide=<number>                        the feature structure of this sType says that there are none
 *   Cache (taken at vkCreateInstance):
 *     keeps=entries|nothing|echo           nothing: 32 bytes always; echo: a header and the initial data
 *     header=1|2|28                        header version ONE, a version 2, or a header of 28 bytes
 *     entry_size=300                       bytes of a pipeline's binary
 *     miss=0                               busy microseconds for a pipeline that isn't in the cache
 *     merge_moves=1                        a merge takes the entries out of its sources, as RADV of Mesa 22.3
 *                                          does
 *     defer=1|0                            whether deferred operations are taken up
 *   Journal:
 *     journal=/path                        a text line per record, one write() each, appended: several
 *                                          processes may share it
 *     journal_commands=1                   vkCmd... get records too (they are always counted)
 *   Layout oracle (taken at vkCreateInstance; the file at once):
 *     oracle=1|0                           judge executed commands by the rules of image layouts; off by
 *                                          default
 *     oracle_file=/path                    a text line per violation, appended, one write() each: several
 *                                          processes may share it; switches the oracle on
 *   Faults:
 *     fault=<function or glob>[,call=2|2+|2-5][,when=<condition>][,<effect>...]
 *
 *   A rule counts the calls that fit its function and its condition, from 1; `call` picks among those, all by
 *   default. Where several rules fit a call their effects add up; of two results the first counts.
 *   Conditions:
 *     data, nodata      vkCreatePipelineCache with or without data; a pipeline creation with a cache that
 *                       was created with data, or without such a cache
 *     corrupt           that data isn't as this driver wrote it: an entry's checksum is wrong, or it is cut
 *     query, fetch      vkGet...Data and the like, without or with a place to write to
 *     extension:<name>  vkCreateDevice or vkCreateInstance that enables it
 *     chain:<sType>     the create-info's chain has this structure (by number)
 *   Effects:
 *     result=<number>   for functions that return a VkResult. Below 0: the call does nothing and returns it
 *                       (after VK_ERROR_DEVICE_LOST, -4, the device is lost for good); else the call is done
 *                       and then returns it. With `after` the call is done in either case.
 *     delay=<microseconds>
 *     block             until fault_release()
 *     block=fd:<n>      until that descriptor is readable
 *     block=<path>      opens that FIFO for reading and waits until the writer's end is closed
 *     crash=segv|abort|kill
 *     drop              vkCreatePipelineCache ignores the data
 *     grow=<bytes>      vkGetPipelineCacheData finds the cache that much larger than before
 *     untouched         ... leaves *pDataSize as it was
 *     short=<bytes>     ... writes that much less than it promised
 *     reported=<bytes>  ... says this size
 */
/* clang-format on */
#ifndef FAULT_DRIVER_H
#define FAULT_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#define FAULT_API __attribute__((visibility("default")))

enum fault_event {
    FAULT_EVENT_CALL,    /* a call that returned */
    FAULT_EVENT_CRASH,   /* a rule ends the process in this call; to be found in the file */
    FAULT_EVENT_BLOCKED, /* a rule holds this call */
    FAULT_EVENT_LEAK,    /* an object still alive when its device or instance went: destroyed along with it */
    FAULT_EVENT_MISUSE,  /* destroyed with a wrong type or twice */
};

enum fault_chained {
    FAULT_CHAINED_FEEDBACK = 1, /* VkPipelineCreationFeedbackCreateInfo */
    FAULT_CHAINED_FLAGS2 = 2,   /* VkPipelineCreateFlags2CreateInfo */
    FAULT_CHAINED_BINARY = 4,   /* VkPipelineBinaryInfoKHR with binaries */
    FAULT_CHAINED_LIBRARY = 8,  /* VkPipelineLibraryCreateInfoKHR */
    FAULT_CHAINED_INLINE = 16,  /* a stage with its VkShaderModuleCreateInfo chained */
};

/* Handles are the driver's own, as numbers. What doesn't apply is zero. */
struct fault_record {
    uint64_t number;  /* of all records, from 0 */
    const char *name; /* the function as it was called; static */
    enum fault_event event;
    int32_t result;
    uint32_t thread;   /* kernel's id */
    uint64_t parent;   /* first argument */
    uint64_t handle;   /* object created or destroyed, else the second argument if it is a handle */
    VkObjectType type; /* of a leak's or misuse's object */

    /* vkCreatePipelineCache, vkGetPipelineCacheData, vkMergePipelineCaches */
    bool has_data;          /* pInitialData or pData was not NULL */
    uint64_t size;          /* initialDataSize, *pDataSize as handed in, srcCacheCount */
    uint64_t size_returned; /* *pDataSize as handed out */
    uint64_t hash;          /* fault_hash() of the initial data, or of what was written */
    uint32_t flags;         /* of the create-info; of pipelines: those of the first, flags2 if chained */

    /* pipeline creation */
    uint64_t cache;
    uint32_t count;
    uint32_t chained; /* enum fault_chained, of all elements together */
    uint32_t hits;    /* found in the cache handed down; a deferred call's are counted at its join */
    uint32_t misses;
    const void *infos; /* pCreateInfos */
};

/* Replaces the configuration. 0, or -EINVAL with a sentence in `problem`: then nothing changed. Rules start
 * counting anew. No Vulkan call may be running. */
FAULT_API int fault_configure(const char *text, char *problem, size_t problem_size);

/* Back to what FAULT_DRIVER says now; journal, counts, counters of hits and the copy of data are emptied.
 * Live objects stay counted. No Vulkan call may be running. Returns fault_configure()'s result. */
FAULT_API int fault_reset(void);

/* How many calls of `name` (NULL: of everything) ended; exact whatever the journal still holds. */
FAULT_API uint32_t fault_journal_count(const char *name);

/* Records, in the order in which calls ended: index 0 is the oldest held. The last 65536 are held. */
FAULT_API uint32_t fault_journal_size(void);
FAULT_API bool fault_journal_get(uint32_t index, struct fault_record *out);
/* The last record of this function. */
FAULT_API bool fault_journal_last(const char *name, struct fault_record *out);
/* How many records of this event are held. */
FAULT_API uint32_t fault_journal_events(enum fault_event event);

/* The data of the last vkCreatePipelineCache that reached the driver: copies at most `size` bytes, returns
 * how many there are. */
FAULT_API size_t fault_last_cache_data(void *out, size_t size);

/* Objects of this type alive in the driver; VK_OBJECT_TYPE_UNKNOWN: of all types. */
FAULT_API uint32_t fault_live_objects(VkObjectType type);

/* Pipelines found in the cache handed down, and those compiled, in this process. */
FAULT_API uint64_t fault_cache_hits(void);
FAULT_API uint64_t fault_cache_misses(void);

/* How many entries this cache holds. The handle is the driver's own. */
FAULT_API uint32_t fault_cache_entries(VkPipelineCache cache);

/* Lets every call go on that a `block` rule without a path holds, now and later, until the next
 * configuration. */
FAULT_API void fault_release(void);

/* Waits until `count` calls at least have been held by `block` rules since the last configuration; false
 * after `timeout_ms`. */
FAULT_API bool fault_wait_blocked(uint32_t count, uint32_t timeout_ms);

/* What a command buffer holds, in order of recording: the number of commands, the name as it was called, and
 * its arguments without the command buffer (struct arguments_vkCmd... of driver_records.h; deep copies). They
 * live until the command buffer is begun, reset or freed. NULL behind the end. The command buffer's own
 * thread. */
FAULT_API uint32_t fault_command_count(VkCommandBuffer buffer);
FAULT_API const char *fault_command_name(VkCommandBuffer buffer, uint32_t index);
FAULT_API const void *fault_command_arguments(VkCommandBuffer buffer, uint32_t index);
/* Whether two commands, which may be of different command buffers, were called by the same name, with equal
 * arguments and everything that they point to. */
FAULT_API bool fault_command_equal(VkCommandBuffer a, uint32_t index, VkCommandBuffer b, uint32_t other);

/* --- Layout oracle: what the executed commands did against the rules of image layouts --- */

enum fault_oracle_kind {
    FAULT_ORACLE_OLD_LAYOUT = 0x1, /* a barrier's oldLayout isn't the actual layout */
    FAULT_ORACLE_USE_LAYOUT = 0x2, /* a command's, attachment's or descriptor's layout isn't the actual one */
    FAULT_ORACLE_PRESENT_LAYOUT = 0x4,   /* presented in a layout that can't be */
    FAULT_ORACLE_NEW_LAYOUT = 0x8,       /* a transition to UNDEFINED or PREINITIALIZED */
    FAULT_ORACLE_PLACE = 0x10,           /* a barrier, a transfer or a shader's work where none may stand */
    FAULT_ORACLE_OWNERSHIP = 0x20,       /* acquired without its release, or used by another queue family */
    FAULT_ORACLE_STAGE = 0x40,           /* a stage that the queue family doesn't have */
    FAULT_ORACLE_ASPECT = 0x80,          /* depth or stencil alone without separateDepthStencilLayouts */
    FAULT_ORACLE_OVERLAP = 0x100,        /* different transitions of one subresource within one call */
    FAULT_ORACLE_DISCARDED_READ = 0x200, /* contents are read that nobody defined, or that were discarded */
};
/* What is against the rules; a read of discarded contents is only in vain. */
#define FAULT_ORACLE_RULES 0x1ffu
#define FAULT_ORACLE_ALL 0x3ffu

/* One per command, kind, image and pair of layouts: about the first of its subresources. Handles are the
 * driver's own, as numbers. */
struct fault_violation {
    enum fault_oracle_kind kind;
    uint64_t image; /* 0 if it isn't about an image */
    VkImageAspectFlagBits aspect;
    uint32_t mip;
    uint32_t layer;
    uint32_t subresources;  /* how many it is about */
    VkImageLayout expected; /* by the command */
    VkImageLayout actual;
    int32_t set; /* of the shader's descriptor that it is about; -1: it isn't about one */
    int32_t binding;
    const char *command; /* as it was called; static */
    char text[192];
};

/* How many violations of these kinds (enum fault_oracle_kind, united) there are since the last reset. */
FAULT_API uint32_t fault_oracle_violations(uint32_t kinds);
/* In the order of execution; the first 65536 are held. */
FAULT_API bool fault_oracle_violation(uint32_t index, struct fault_violation *out);
FAULT_API void fault_oracle_reset(void);

/* The actual layout; VK_IMAGE_LAYOUT_MAX_ENUM where it isn't known or there is no such subresource. `aspect`
 * is one bit; a plane of a multi-planar image, or COLOR for its first. */
FAULT_API VkImageLayout fault_oracle_layout(VkImage image, VkImageAspectFlagBits aspect, uint32_t mip,
                                            uint32_t layer);

/* A digest of what gave the image its contents: each write (its kind, and for copies the history of their
 * source) and each loss of defined contents, in order. Equal in two runs that did the same to the image,
 * whatever barriers stood between. */
FAULT_API uint64_t fault_oracle_history(VkImage image);
/* Whether one subresource has defined contents. */
FAULT_API bool fault_oracle_defined(VkImage image, VkImageAspectFlagBits aspect, uint32_t mip,
                                    uint32_t layer);

/* FNV-1a, 64 bits. */
FAULT_API uint64_t fault_hash(const void *data, size_t size);

#endif
