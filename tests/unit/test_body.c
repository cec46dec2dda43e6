#include "body_case.h"
#include "body_commands.h"
#include "check.h"

#include <stdarg.h>

#define BODY_COMMANDS_MOST 64

/* --wrap=arena_alloc: requests are counted, may fail from one on, and may each get a block of their own, so
 * that AddressSanitizer sees where one ends. */
static bool separate;
static unsigned requests, failing; /* failing: the n-th fails; 0: none */
static void *blocks[4096];
static size_t block_count;
void *__real_arena_alloc(struct arena *arena, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t size)
{
    void *memory;
    if (++requests == failing)
        return NULL;
    if (!separate) {
        memory = __real_arena_alloc(arena, size);
    } else {
        assert_true(block_count < sizeof(blocks) / sizeof(blocks[0]));
        memory = blocks[block_count++] = malloc(size);
    }
    if (memory)
        memset(memory, 0xcd, size);
    return memory;
}

static void blocks_free(void)
{
    while (block_count)
        free(blocks[--block_count]);
}

/* --wrap=malloc */
static unsigned mallocs;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    mallocs++;
    return __real_malloc(size);
}

/* --- What was said --- */

static char *said;
static size_t said_length, said_capacity;

static void say_text(const char *text, size_t length)
{
    if (said_length + length >= said_capacity) {
        said_capacity = 2 * (said_length + length) + 65536;
        said = realloc(said, said_capacity);
        assert_non_null(said);
    }
    memcpy(said + said_length, text, length);
    said_length += length;
    said[said_length] = 0;
}

void say(const char *name)
{
    say_text(name, strlen(name));
    say_text(" ", 1);
}

void say_bytes(const char *name, const void *from, size_t size)
{
    const uint8_t *bytes = from;
    say_text(name, strlen(name));
    say_text("=", 1);
    for (size_t i = 0; i < size; i++)
        say_text((const char[]){"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]}, 2);
    say_text(" ", 1);
}

bool say_array(const char *name, const void *array, size_t count)
{
    say(name);
    say(count == 0 ? "nothing" : array ? "array" : "null");
    return count && array;
}

/* The text so far, to be freed; nothing is said then. */
static char *said_take(void)
{
    char *text = said;
    said = NULL;
    said_length = said_capacity = 0;
    return text;
}

/* --- What is made --- */

void *maker_alloc(struct maker *maker, size_t size)
{
    assert_true(maker->count < sizeof(maker->pieces) / sizeof(maker->pieces[0]));
    void *memory = malloc(size ? size : 1);
    assert_non_null(memory);
    random_fill(&maker->random, memory, size);
    maker->pieces[maker->count].memory = memory;
    maker->pieces[maker->count++].size = size;
    return memory;
}

void maker_finish(struct maker *maker)
{
    for (size_t i = 0; i < maker->count; i++) {
        memset(maker->pieces[i].memory, 0xab, maker->pieces[i].size);
        free(maker->pieces[i].memory);
    }
    maker->count = 0;
}

bool maker_one_in(struct maker *maker, size_t chances)
{
    return random_below(&maker->random, chances) == 0;
}

void *maker_array(struct maker *maker, size_t count, size_t size, bool may_be_null)
{
    if (count == 0)
        return maker_one_in(maker, 2) ? BAD_POINTER : NULL;
    if (may_be_null && maker_one_in(maker, 4))
        return NULL;
    if (!may_be_null && maker->breaks && maker_one_in(maker, 16)) {
        maker->broken = true;
        return NULL;
    }
    return maker_alloc(maker, count * size);
}

const char *maker_string(struct maker *maker)
{
    size_t length = random_below(&maker->random, 20);
    char *text = maker_array(maker, 1, length + 1, false);
    for (size_t i = 0; text && i < length; i++)
        text[i] = (char)('a' + random_below(&maker->random, 26));
    if (text)
        text[length] = 0;
    return text;
}

VkDescriptorType maker_descriptor_type(struct maker *maker)
{
    static const VkDescriptorType types[] = {
        VK_DESCRIPTOR_TYPE_SAMPLER,
        VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
        VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
        VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
        VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
        VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
        VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
        VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
        VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT,
        VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK,
        VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR,
        VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_NV,
        VK_DESCRIPTOR_TYPE_SAMPLE_WEIGHT_IMAGE_QCOM,
        VK_DESCRIPTOR_TYPE_BLOCK_MATCH_IMAGE_QCOM,
        (VkDescriptorType)1000570000, /* of VK_NV_partitioned_acceleration_structure */
    };
    if (maker->breaks && maker_one_in(maker, 16)) {
        maker->broken = true;
        return (VkDescriptorType)1999999999;
    }
    return types[random_below(&maker->random, sizeof(types) / sizeof(types[0]))];
}

bool is_image_type(VkDescriptorType type)
{
    return type <= VK_DESCRIPTOR_TYPE_STORAGE_IMAGE || type == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT ||
           type == VK_DESCRIPTOR_TYPE_SAMPLE_WEIGHT_IMAGE_QCOM ||
           type == VK_DESCRIPTOR_TYPE_BLOCK_MATCH_IMAGE_QCOM;
}

bool is_buffer_type(VkDescriptorType type)
{
    return type >= VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER && type <= VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

bool is_texel_type(VkDescriptorType type)
{
    return type == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER || type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
}

void *maker_join(void *chain, void *more)
{
    VkBaseOutStructure *last = chain;
    while (last->pNext)
        last = last->pNext;
    last->pNext = more;
    return chain;
}

void *maker_end_chain(struct maker *maker, void *chain)
{
    if (!maker->breaks || !maker_one_in(maker, 8))
        return chain;
    VkBaseOutStructure *unknown = maker_alloc(maker, sizeof(*unknown));
    unknown->sType = (VkStructureType)1999999999;
    unknown->pNext = chain;
    maker->broken = true;
    return unknown;
}

/* --- The body --- */

static VKAPI_ATTR void VKAPI_CALL mock_draw(VkCommandBuffer handle, uint32_t vertices, uint32_t instances,
                                            uint32_t vertex, uint32_t instance)
{
    assert_ptr_equal(handle, BUFFER_HANDLE);
    say_bytes("draw", (const uint32_t[]){vertices, instances, vertex, instance}, 16);
}

static VKAPI_ATTR void VKAPI_CALL mock_alias(VkCommandBuffer handle, uint32_t vertices, uint32_t instances,
                                             uint32_t vertex, uint32_t instance)
{
    say("alias");
    mock_draw(handle, vertices, instances, vertex, instance);
}

static VKAPI_ATTR void VKAPI_CALL mock_push(VkCommandBuffer handle, VkPipelineLayout layout,
                                            VkShaderStageFlags stages, uint32_t offset, uint32_t size,
                                            const void *values)
{
    (void)handle, (void)layout, (void)stages, (void)offset;
    say_bytes("push", values, size);
}

static void commands_come_in_order(void **state)
{
    struct body body = {0};
    uint32_t value = 0x04030201;
    (void)state;
    assert_true(body_put_CmdDraw(&body, mock_draw, 1, 2, 3, 4));
    assert_true(body_put_CmdPushConstants(&body, mock_push, VK_NULL_HANDLE, 0, 0, sizeof(value), &value));
    assert_true(body_put_CmdDraw(&body, mock_alias, 5, 6, 7, 8));
    assert_int_equal(body.count, 3);
    value = 0;
    body_replay(&body, BUFFER_HANDLE);
    char *text = said_take();
    assert_string_equal(text, "draw=01000000020000000300000004000000 push=01020304 "
                              "alias draw=05000000060000000700000008000000 ");
    free(text);
    assert_int_equal(body.count, 0);
    assert_null(body.first);
    assert_null(body.last);
    body_replay(&body, BUFFER_HANDLE);
    assert_null(said);
    body_finish(&body);
}

static void cleared_commands_are_forgotten(void **state)
{
    struct body body = {0};
    (void)state;
    assert_true(body_put_CmdDraw(&body, mock_draw, 1, 2, 3, 4));
    body_clear(&body);
    assert_int_equal(body.count, 0);
    assert_true(body_put_CmdDraw(&body, mock_alias, 0, 0, 0, 0));
    assert_int_equal(body.count, 1);
    body_replay(&body, BUFFER_HANDLE);
    char *text = said_take();
    assert_string_equal(text, "alias draw=00000000000000000000000000000000 ");
    free(text);
    body_finish(&body);
    assert_null(body.first);
    assert_null(body.arena.first);
}

/* And one request a command: the arrays lie behind the record. */
static void same_again_allocates_nothing(void **state)
{
    static const char values[100];
    static const VkViewport viewports[4];
    struct body body = {0};
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        requests = mallocs = 0;
        for (unsigned i = 0; i < 500; i++) {
            assert_true(body_put_CmdDraw(&body, mock_draw, i, 1, 0, 0));
            assert_true(body_put_CmdPushConstants(&body, mock_push, VK_NULL_HANDLE, 0, 0, 100, values));
            assert_true(body_put_CmdSetViewport(&body, NULL, 0, 4, viewports));
        }
        assert_int_equal(requests, 3 * 500);
        assert_true(round == 0 ? mallocs > 0 : mallocs == 0);
        body_clear(&body);
    }
    body_finish(&body);
}

static void out_of_memory_adds_nothing(void **state)
{
    struct body body = {0};
    (void)state;
    assert_true(body_put_CmdDraw(&body, mock_draw, 1, 1, 1, 1));
    failing = requests + 1;
    assert_false(body_put_CmdDraw(&body, mock_draw, 2, 2, 2, 2));
    bool failed = false;
    failing = requests + 1;
    assert_null(body_copy(&body, "text", 5, &failed));
    assert_true(failed);
    failing = 0;
    assert_int_equal(body.count, 1);
    assert_true(body_put_CmdDraw(&body, mock_draw, 3, 3, 3, 3));
    body_replay(&body, BUFFER_HANDLE);
    char *text = said_take();
    assert_string_equal(text, "draw=01000000010000000100000001000000 draw=03000000030000000300000003000000 ");
    free(text);
    body_finish(&body);
}

static void copies_of_nothing(void **state)
{
    struct body body = {0};
    bool failed = false;
    (void)state;
    assert_null(body_copy(&body, NULL, 4, &failed));
    assert_null(body_copy(&body, BAD_POINTER, 0, &failed));
    assert_false(failed);
    failed = true;
    const char *copy = body_copy(&body, "text", 5, &failed);
    assert_string_equal(copy, "text");
    assert_true(failed);
    body_finish(&body);
}

/* --- Every command --- */

/* The commands of a body, said as they should come, and put; the originals are gone then. */
static void put_some(struct random *random, const struct body_case *only, struct body *body, unsigned count)
{
    static struct maker maker;
    for (unsigned i = 0; i < count; i++) {
        const struct body_case *one = only ? only : &body_cases[random_below(random, body_case_count)];
        maker = (struct maker){.random = random_from(random_next(random))};
        check(one->put(&maker, body), "%s", one->name);
        maker_finish(&maker);
    }
    assert_int_equal(body->count, count);
}

static void check_replay(struct body *body, const char *name)
{
    char *expected = said_take();
    body_replay(body, BUFFER_HANDLE);
    char *came = said_take();
    check(strcmp(expected, came) == 0, "%s\n%s\ninstead of\n%s", name, came, expected);
    free(expected);
    free(came);
    blocks_free();
}

static void every_command_comes_as_it_was(void **state)
{
    struct random random = random_from(random_seed());
    struct body body = {0};
    (void)state;
    separate = true;
    for (size_t i = 0; i < body_case_count; i++)
        for (unsigned round = 0; round < 300; round++) {
            put_some(&random, &body_cases[i], &body, 1);
            check_replay(&body, body_cases[i].name);
        }
    separate = false;
    for (size_t i = 0; i < body_chain_count; i++)
        check(body_chains[i].made > 0, "never made: %s", body_chains[i].name);
    body_finish(&body);
}

static void many_commands_come_as_they_were(void **state)
{
    struct random random = random_from(random_seed());
    struct body body = {0};
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        put_some(&random, NULL, &body, (unsigned)random_below(&random, BODY_COMMANDS_MOST) + 1);
        check_replay(&body, "many");
    }
    body_finish(&body);
}

/* A command that can't be encoded, between others. */
static void broken_ones_are_refused(void **state)
{
    struct random random = random_from(random_seed());
    static struct maker maker;
    struct body body = {0};
    unsigned refused = 0;
    (void)state;
    for (size_t i = 0; i < body_case_count; i++)
        for (unsigned round = 0; round < 100; round++) {
            put_some(&random, NULL, &body, 1);
            maker = (struct maker){.random = random_from(random_next(&random)), .breaks = true};
            bool was_put = body_cases[i].put(&maker, &body);
            check(was_put == !maker.broken, "%s", body_cases[i].name);
            assert_int_equal(body.count, 1 + was_put);
            refused += maker.broken;
            maker_finish(&maker);
            check_replay(&body, body_cases[i].name);
        }
    assert_true(refused > 100);
    body_finish(&body);
}

/* At each request in turn, until there is memory enough. */
static void out_of_memory_anywhere(void **state)
{
    struct random random = random_from(random_seed());
    static struct maker maker;
    struct body body = {0};
    unsigned refused = 0;
    (void)state;
    for (size_t i = 0; i < body_case_count; i++)
        for (unsigned round = 0; round < 20; round++) {
            uint64_t seed = random_next(&random);
            bool was_put = false;
            for (unsigned at = 1; !was_put; at++) {
                free(said_take());
                maker = (struct maker){.random = random_from(seed)};
                requests = 0;
                failing = at;
                was_put = body_cases[i].put(&maker, &body);
                failing = 0;
                check(was_put == (requests < at), "%s", body_cases[i].name);
                assert_int_equal(body.count, was_put);
                assert_true(was_put == (body.first != NULL));
                refused += !was_put;
                maker_finish(&maker);
            }
            check_replay(&body, body_cases[i].name);
        }
    assert_true(refused > body_case_count);
    body_finish(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_come_in_order),
        cmocka_unit_test(cleared_commands_are_forgotten),
        cmocka_unit_test(same_again_allocates_nothing),
        cmocka_unit_test(out_of_memory_adds_nothing),
        cmocka_unit_test(copies_of_nothing),
        cmocka_unit_test(every_command_comes_as_it_was),
        cmocka_unit_test(many_commands_come_as_they_were),
        cmocka_unit_test(broken_ones_are_refused),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
