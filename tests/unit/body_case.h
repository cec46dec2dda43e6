/* What the generated cases of test_body are made of (generate_body_cases.py): random arguments for each
 * command, and a text of what a command was called with. */
#ifndef RC_TESTS_BODY_CASE_H
#define RC_TESTS_BODY_CASE_H

#include "random.h"
#include "sync/body.h"

/* Makes arguments. `breaks`: now and then what can't be encoded, which sets `broken`. */
struct maker {
    struct random random;
    bool breaks, broken;
    struct {
        void *memory;
        size_t size;
    } pieces[2048];
    size_t count;
};

/* Random bytes that live until maker_finish(), which overwrites them before it frees them. */
void *maker_alloc(struct maker *maker, size_t size);
void maker_finish(struct maker *maker);
bool maker_one_in(struct maker *maker, size_t chances);
/* What the registry calls an array: NULL now and then where that is legal or the maker breaks; anything where
 * `count` is 0. */
void *maker_array(struct maker *maker, size_t count, size_t size, bool may_be_null);
const char *maker_string(struct maker *maker);
VkDescriptorType maker_descriptor_type(struct maker *maker);
/* One chain and then another. */
void *maker_join(void *chain, void *more);
/* `chain`, behind a structure that nobody knows if the maker breaks. */
void *maker_end_chain(struct maker *maker, void *chain);

/* A pointer that must not be followed. */
#define BAD_POINTER ((void *)(uintptr_t)0x5a5a5a50)
/* Bytes that every template reads. */
#define TEMPLATE_SIZE 40
#define BUFFER_HANDLE ((VkCommandBuffer)(uintptr_t)0xb0d1)

/* What was called, with what. */
void say(const char *name);
void say_bytes(const char *name, const void *from, size_t size);
/* Whether elements follow. */
bool say_array(const char *name, const void *array, size_t count);
bool is_image_type(VkDescriptorType type);
bool is_buffer_type(VkDescriptorType type);
bool is_texel_type(VkDescriptorType type);

/* Makes arguments, says them as the command would be called, unless they are broken, and puts it. */
struct body_case {
    const char *name;
    bool (*put)(struct maker *maker, struct body *body);
};
extern const struct body_case body_cases[];
extern const size_t body_case_count;

/* A structure in the chain of another, and how often it was made. */
struct body_chain {
    const char *name;
    unsigned made;
};
extern struct body_chain body_chains[];
extern const size_t body_chain_count;

#endif
