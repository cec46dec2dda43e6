/* What contracts are tested with: command buffers that are recorded by the contract and by the model, and a
 * device that they are submitted to. */
#ifndef RC_TESTS_CONTRACT_TAPE_H
#define RC_TESTS_CONTRACT_TAPE_H

#include "check.h"

#include "model_contract.h"
#include "random.h"
#include "sync/contract.h"

#define ITEMS 256 /* of a tape */
#define FAMILIES 2

/* malloc() and arena_alloc(), wrapped. */
struct failing_memory {
    struct random *random; /* NULL: never fails */
    unsigned one_in;
    unsigned failed;
};
extern struct failing_memory failing_memory;

/* --- What goes down to the driver --- */

enum item_kind {
    ITEM_USE,
    ITEM_DISCARD, /* a use that doesn't need what was there */
    ITEM_LEAVE,
    ITEM_BARRIER, /* the application's, or what it was made into */
    ITEM_REPAIR,
    ITEM_FORGET,
    ITEM_EXECUTE,
};

struct item {
    enum item_kind kind;
    uint32_t mask;
    uint32_t unchecked; /* cells of which the command buffer knows nothing */
    uint32_t lost;      /* ... any more after a barrier or a secondary */
    VkImageLayout layout, old_layout;
    struct scope scope, source;
    bool transfer, release, acquire, rewritten;
    const struct tape *secondary;
};

/* A command buffer: its contract, the model of that, and what it gave down. */
struct tape {
    const struct world *world;
    struct arena arena;
    struct contract contract;
    struct contract_image *image;
    struct model_cell cells[MODEL_CELLS];
    uint8_t family;
    uint32_t repairs; /* transitions and rewritten barriers */
    uint32_t count;
    struct item items[ITEMS];
};

struct world {
    struct random *random;
    struct subresource_shape shape;
    VkImageAspectFlagBits aspects[2];
    uint32_t cell_count, queue_count;
    bool exclusive, out_of_memory;
    struct access first;
    struct subresource_map state;
    struct model_device device[MODEL_CELLS];
    struct model_real real[MODEL_CELLS];
    uint64_t serials[MODEL_QUEUES];
    uint64_t clocks[MODEL_QUEUES][MODEL_QUEUES]; /* [queue][other]: up to which it is ordered */
    uint64_t time;
    struct item last_patch;
};

/* What the code said of each cell about one command. */
struct answer {
    bool given;
    struct transition transition;
    enum resolve_problem problem;
    bool is_problem;
    bool has_part;
    struct barrier_part part;
};

struct asking {
    struct tape *tape;
    const struct world *world;
    struct answer answers[MODEL_CELLS];
    uint32_t parts, rewritten;
    struct item patches[MODEL_CELLS];
    uint32_t patch_count;
    uint8_t queue;
};

/* Whether the cell may be used in one layout as if in the other. */
bool world_cells_match(const struct world *world, uint32_t cell, VkImageLayout a, VkImageLayout b);
/* The same mip and layer of the other aspect; UINT32_MAX if there is none. */
uint32_t world_sibling_of(const struct world *world, uint32_t cell);
/* For struct transition_sink and struct resolve: the answer, and an item of the tape or a patch. */
void asking_take_transition(void *context, const struct transition *transition);
void asking_check_transition(const struct transition *transition, VkImageLayout old_layout,
                             VkImageLayout new_layout, const struct scope *destination);
/* A tape records each command twice, by the contract and by its model, and compares what they say of it. */
void tape_begin(struct tape *tape, const struct world *world, uint8_t family);
void tape_record_use(struct tape *tape, const struct subresource_range *range, const struct use *use);
void tape_record_barrier(struct tape *tape, const struct subresource_range *range,
                         const struct contract_barrier *barrier);
void tape_record_execute(struct tape *tape, const struct tape *secondary);
/* Some commands of all kinds; `secondary` is executed by some, if it is there. */
void tape_record_random(struct tape *tape, const struct world *world, const struct tape *secondary);
/* Compares the states that they are in. */
void tape_compare(const struct tape *tape);
VkImageLayout tape_random_layout(const struct world *world);
struct scope tape_random_use_scope(struct random *random);
struct scope tape_random_barrier_scope(struct random *random);
struct subresource_range tape_random_range(const struct world *world);
/* An image and queues, at random. */
void world_begin(struct world *world, struct random *random);
/* A semaphore or a fence at random: what one queue has done, and all that was before that, is before what
 * another does next. */
void world_order_some(struct world *world);
/* Resolves the contract, compares with the model, and plays the result as a driver would. Returns how many
 * repairs there were and subresources with problems. */
uint32_t world_submit(struct world *world, const struct tape *tape, uint8_t queue);

#endif
