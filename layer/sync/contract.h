/* The contract of a command buffer: what each image it touches needs on entry, and what it leaves on exit.
 * Decisions inside a command buffer rest on what that command buffer itself did; everything else becomes a
 * need, which is resolved anew at each submit. Pure: images are keys. Owned by one thread while recorded;
 * afterwards read by any thread that submits or executes it. */
#ifndef RC_SYNC_CONTRACT_H
#define RC_SYNC_CONTRACT_H

#include "arena.h"
#include "sync/access.h"
#include "sync/subresource.h"

struct image;

enum need_flags {
    NEED_SET = 1,     /* the command buffer uses the subresource; else both halves mean nothing */
    NEED_DISCARD = 2, /* any layout will do: contents are discarded (layout is UNDEFINED) */
    NEED_ACQUIRE = 4, /* the first use is a queue-family acquire from `family`, in `layout` before it */
    NEED_NOTHING = 8, /* the command buffer itself doesn't know what it needs: leave it alone */
    NEED_OPEN = 16,   /* only reads so far: the next one unites with the first use */
};

/* Zeroed and without padding. */
struct need {
    VkImageLayout layout;
    uint16_t command;
    uint8_t flags;
    uint8_t family;
    uint32_t label;
    uint32_t zero;
    struct scope
        scope; /* of the first use: what a repair before it must reach. Reads by several first uses unite. */
};

struct contract_state {
    struct need need;
    struct access access; /* as it is now; once recorded: on exit. An unknown one stays so until a discard. */
    struct scope ordered; /* the sources of all barriers so far: what they order of what was there on entry */
};

struct contract_image {
    struct image *image;
    struct contract_image *next; /* in the order of first use */
    struct subresource_map map;  /* of struct contract_state */
    struct contract_state first;
    /* Aspects by index: for layout_matches(). */
    VkImageAspectFlagBits aspects[3];
    /* For who records: of images that some command has changed and that no render pass has been asked about
     * since; see record_hold.c. */
    struct contract_image *changed_next;
    bool changed;
    bool judged, dirty;      /* whether it was asked about since it changed, and the answer, ... */
    uint32_t judged_layouts; /* ... with descriptors of these layouts */
    uint64_t instance;       /* the last one that used it; struct hold */
};

/* All zero but for `arena` is a valid empty contract. */
struct contract {
    struct arena *arena; /* everything lies in it */
    struct contract_image *first, *last;
    uint32_t count;
    struct contract_image **slots; /* open addressing by image, a power of two; NULL while there are few */
    uint32_t slot_count;
};

/* The image's part, or NULL. */
struct contract_image *contract_find(const struct contract *contract, const struct image *image);
/* Made if it isn't there (`aspects` has shape->aspects elements); NULL on out of memory. */
struct contract_image *contract_add(struct contract *contract, struct image *image,
                                    const struct subresource_shape *shape,
                                    const VkImageAspectFlagBits *aspects);

/* A repair that is to be placed before what was asked about. */
struct transition {
    struct subresource_range range;
    VkImageLayout old_layout, new_layout;
    struct scope source, destination;
    uint16_t command; /* that needs it */
    uint32_t label;
};
struct transition_sink {
    void (*add)(void *context, const struct transition *transition);
    void *context;
};

/* A use of a range by a command. Untouched subresources: the use becomes the need. Known, in a layout that
 * matches: nothing. Known, another: a transition goes to the sink, and the state is as after it. Unknown or
 * released to another queue family: nothing. A layout that this build doesn't know, or that can't be used:
 * contract_forget(). Aspects that are in one layout are in one transition if one of them needs it. False on
 * out of memory: then the whole image is unknown in this contract (which can't fail). */
bool contract_use(struct contract_image *image, const struct subresource_range *range, const struct use *use,
                  const struct transition_sink *sink);

/* Uses that leave another layout than they need: attachments of render passes (initialLayout, then
 * finalLayout). contract_use_discard(): contents needn't be kept on entry (initialLayout UNDEFINED), and
 * what was unknown isn't afterwards. contract_leave() sets what is there at the end; `last` is the scope of
 * the last use and of the store operation. Out of memory: as above. */
bool contract_use_discard(struct contract_image *image, const struct subresource_range *range,
                          const struct use *use);
bool contract_leave(struct contract_image *image, const struct subresource_range *range, VkImageLayout layout,
                    const struct scope *last);

/* An image barrier of the application. */
struct contract_barrier {
    VkImageLayout old_layout, new_layout;
    struct scope source, destination;
    uint8_t source_family,
        destination_family; /* ACCESS_NO_FAMILY where ignored or equal: no ownership transfer */
    uint8_t family;         /* of the command buffer's pool */
    uint16_t command;
    uint32_t label;
    bool fixed; /* can't be rewritten (events): what is wrong goes to the sink as a transition before it */
};
/* A part of an application's barrier as it must be given down. */
struct barrier_part {
    struct subresource_range range;
    VkImageLayout old_layout; /* may differ from the application's */
    struct scope source;      /* the application's, widened by what is known where oldLayout was rewritten */
    bool rewritten;
};
struct part_sink {
    void (*add)(void *context, const struct barrier_part *part);
    void *context;
};
/* No parts if nothing is rewritten (also on out of memory): the barrier is right as it is. Else rewritten and
 * other parts, which together are the range. Neighbouring ones may come separately. Never rewritten:
 * oldLayout UNDEFINED, ownership transfers (a release or an acquire that contradicts what is known makes it
 * unknown), unknown or untouched subresources. `transitions` is used only where `fixed`.
 *
 * A barrier that is the first use needs its oldLayout (UNDEFINED: NEED_DISCARD), and a repair before it must
 * reach its source stages. */
bool contract_transition(struct contract_image *image, const struct subresource_range *range,
                         const struct contract_barrier *barrier, const struct part_sink *parts,
                         const struct transition_sink *transitions);

/* From here on nothing is known of the range (a command that the layer doesn't understand touched it). */
void contract_forget(struct contract_image *image, const struct subresource_range *range);

/* A secondary command buffer is executed: its needs are uses, its exit is the state afterwards. `secondary`
 * isn't changed. Labels are the secondary's own: those of transitions stand, needs that it brings have none.
 * False on out of memory: as above; what went to the sink by then stands. */
bool contract_execute(struct contract_image *primary, const struct contract_image *secondary,
                      const struct transition_sink *sink);

/* --- At submit --- */

enum resolve_problem {
    RESOLVE_OTHER_FAMILY,   /* another queue family owns it, and contents matter */
    RESOLVE_UNORDERED,      /* in use on another queue, nothing orders it before this batch */
    RESOLVE_RELEASED,       /* released and not acquired */
    RESOLVE_NEVER_RELEASED, /* acquire without release */
};

struct resolve {
    uint8_t family, queue; /* of the submit */
    bool exclusive;        /* the image's sharing mode */
    uint64_t serial;       /* of this submission on `queue` */
    /* Whether submission `serial` of another queue is ordered before this batch. */
    bool (*is_ordered)(void *context, uint8_t queue, uint64_t serial);
    /* A repair that must go before the command buffer. Its source is what is known of earlier uses, on
     * whatever queue; what waits for semaphores is added by who places it. */
    void (*add)(void *context, const struct transition *transition);
    /* A repair that would be needed and isn't possible. */
    void (*problem)(void *context, enum resolve_problem problem, const struct transition *transition);
    void *context;
};

/* Compares the needs with `state` (struct access for each subresource, the device's), reports differences,
 * and then makes `state` what the command buffer leaves. Unknown state: nothing is added; what the command
 * buffer leaves becomes known. Where a repair isn't possible, the state goes on as if it had been made.
 *
 * A repair is possible if the image isn't owned by another family, or released, and every other queue's last
 * use is ordered before: asked also where only reads are known there. PREINITIALIZED can't be transitioned
 * to, and the layouts of ownership transfers aren't repaired: such needs are left alone.
 *
 * False on out of memory: then `state` has become unknown; what was added by then is right, and may be placed
 * or not. */
bool contract_resolve(const struct contract_image *image, struct subresource_map *state,
                      const struct resolve *resolve);

#endif
