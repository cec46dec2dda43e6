#include "check.h"

#include "cache/ledger.h"
#include "random.h"

#define NOW 1700000000
#define WEEK LEDGER_QUARANTINE_SECONDS

/* The hash that tests know by a number. */
static struct hash128 hash_of(size_t number)
{
    return hash128_of(&number, sizeof(number));
}

static void parse(struct ledger *ledger, const char *text, uint32_t expected_bad_lines)
{
    uint32_t bad_lines;

    assert_true(ledger_parse(ledger, text, strlen(text), &bad_lines));
    assert_int_equal(bad_lines, expected_bad_lines);
}

/* Field by field: structs have padding. */
static bool same_data(const struct ledger_data *a, const struct ledger_data *b)
{
    return hash128_equal(&a->hash, &b->hash) && a->proven == b->proven && a->deaths == b->deaths &&
           a->last_death == b->last_death && a->quarantine == b->quarantine &&
           a->quarantined_at == b->quarantined_at;
}

static void expect_equal(const struct ledger *a, const struct ledger *b)
{
    assert_int_equal(a->left_count, b->left_count);
    for (uint32_t i = 0; i < a->left_count; i++) {
        assert_true(a->left[i].size == b->left[i].size);
        assert_true(hash128_equal(&a->left[i].hash, &b->left[i].hash));
    }
    assert_int_equal(a->data_count, b->data_count);
    for (uint32_t i = 0; i < a->data_count; i++)
        check(same_data(&a->data[i], &b->data[i]), "record %u", i);
    assert_int_equal(a->asked, b->asked);
    assert_int_equal(a->rebuild, b->rebuild);
    assert_true(a->compiled_pipelines == b->compiled_pipelines);
    assert_true(a->compiled_ns == b->compiled_ns);
}

/* Anything that may happen to a ledger, on hashes 0..hashes-1. */
static void random_event(struct random *random, struct ledger *ledger, size_t hashes, int64_t now)
{
    struct hash128 hash = hash_of(random_below(random, hashes));

    switch (random_below(random, 8)) {
    case 0:
    case 1:
        ledger_add_left(ledger, random_below(random, 3), &hash);
        break;
    case 2:
        ledger_add_proven(ledger, &hash);
        break;
    case 3:
    case 4:
        ledger_add_death(ledger, &hash, now);
        break;
    case 5:
        ledger_add_rejected(ledger, &hash, now);
        break;
    case 6:
        ledger->compiled_pipelines += random_below(random, 100);
        ledger->compiled_ns += random_next(random) >> 40;
        break;
    default:
        ledger->asked = true;
        ledger->rebuild = !ledger->rebuild;
        break;
    }
}

static void text_of_each_record(void **state)
{
    static const char text[] = "robust_cache ledger 1\n"
                               "left 18446744073709551615 000102030405060708090a0b0c0d0e0f\n"
                               "left 32 ffffffffffffffffffffffffffffffff\n"
                               "proven 11111111111111111111111111111111\n"
                               "death 22222222222222222222222222222222 1700000000 1\n"
                               "death 33333333333333333333333333333333 9223372036854775807 4294967295\n"
                               "quarantine 33333333333333333333333333333333 1700000011 died\n"
                               "quarantine 44444444444444444444444444444444 0 rejected\n"
                               "asked\n"
                               "rebuild\n"
                               "compiled 12 18446744073709551615\n";
    static char out[LEDGER_TEXT_MAX];
    struct ledger ledger = {0};
    size_t size;

    (void)state;
    parse(&ledger, text, 0);
    assert_int_equal(ledger.left_count, 2);
    assert_true(ledger.left[0].size == UINT64_MAX);
    assert_int_equal(ledger.data_count, 4);
    assert_true(ledger.data[0].proven);
    assert_int_equal(ledger.data[1].deaths, 1);
    assert_int_equal(ledger.data[1].last_death, NOW);
    assert_int_equal(ledger.data[2].quarantine, LEDGER_DIED);
    assert_int_equal(ledger.data[2].quarantined_at, NOW + 11);
    assert_int_equal(ledger.data[3].quarantine, LEDGER_REJECTED);
    assert_true(ledger.asked && ledger.rebuild);
    assert_int_equal(ledger.compiled_pipelines, 12);

    size = ledger_format(&ledger, out);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(out, text, size);
}

static void empty_ledger(void **state)
{
    static char out[LEDGER_TEXT_MAX];
    struct ledger ledger = {0};

    (void)state;
    assert_int_equal(ledger_format(&ledger, out), strlen("robust_cache ledger 1\n"));
    assert_memory_equal(out, "robust_cache ledger 1\n", strlen("robust_cache ledger 1\n"));
}

static void random_round_trips(void **state)
{
    struct random random = random_from(random_seed());
    static char text[LEDGER_TEXT_MAX];

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct ledger ledger = {0}, read = {0};
        size_t events = random_below(&random, 400);
        uint32_t bad_lines;

        for (size_t i = 0; i < events; i++)
            random_event(&random, &ledger, 100, (int64_t)random_below(&random, 100) - 10);
        assert_true(ledger_parse(&read, text, ledger_format(&ledger, text), &bad_lines));
        assert_int_equal(bad_lines, 0);
        expect_equal(&ledger, &read);
    }
}

/* Every field at its longest. */
static void fullest_ledger_fits(void **state)
{
    static char text[LEDGER_TEXT_MAX];
    struct ledger ledger = {.asked = true,
                            .rebuild = true,
                            .compiled_pipelines = UINT64_MAX,
                            .compiled_ns = UINT64_MAX,
                            .left_count = LEDGER_LEFT_MAX,
                            .data_count = LEDGER_DATA_MAX};
    struct ledger read = {0};
    uint32_t bad_lines;

    (void)state;
    for (size_t i = 0; i < LEDGER_LEFT_MAX; i++)
        ledger.left[i] = (struct ledger_left){.size = UINT64_MAX - i, .hash = hash_of(i)};
    for (size_t i = 0; i < LEDGER_DATA_MAX; i++) {
        ledger.data[i] = (struct ledger_data){.hash = hash_of(i),
                                              .deaths = UINT32_MAX,
                                              .last_death = INT64_MAX,
                                              .quarantine = LEDGER_REJECTED,
                                              .quarantined_at = INT64_MAX};
    }
    assert_true(ledger_parse(&read, text, ledger_format(&ledger, text), &bad_lines));
    assert_int_equal(bad_lines, 0);
    expect_equal(&ledger, &read);
}

static void bad_lines_are_skipped(void **state)
{
#define HASH "0123456789abcdef0123456789abcdef"
    static const char *const lines[] = {
        "",
        " ",
        "x",
        "left",
        "left ",
        "left 1",
        "left 1 ",
        "left 1 " HASH " ",
        "left 1 " HASH " 1",
        "left  1 " HASH,
        " left 1 " HASH,
        "left\t1 " HASH,
        "left 1 " HASH "0",
        "left 1 0123456789abcdef0123456789abcde",
        "left 1 g123456789abcdef0123456789abcdef",
        "left -1 " HASH,
        "left +1 " HASH,
        "left 0x1 " HASH,
        "left 18446744073709551616 " HASH,
        "left 99999999999999999999999999999999999999999999 " HASH,
        "LEFT 1 " HASH,
        "leftover 1 " HASH,
        "proven",
        "proven 1",
        "proven " HASH " 1",
        "death " HASH " 1",
        "death " HASH " 1 0",
        "death " HASH " 1 4294967296",
        "death " HASH " 9223372036854775808 1",
        "death " HASH " -1 1",
        "death x 1 1",
        "quarantine " HASH " 1",
        "quarantine " HASH " 1 ",
        "quarantine " HASH " 1 bored",
        "quarantine " HASH " x died",
        "quarantine x 1 died",
        "quarantine " HASH " 1 died twice",
        "asked ",
        "asked 1",
        "rebuild\r",
        "compiled 1",
        "compiled 1 x",
        "compiled x 1",
        "compiled 1 18446744073709551616",
        "compiled 1 2 3",
        "robust_cache ledger 1",
    };
    const size_t count = sizeof(lines) / sizeof(lines[0]);
    const char *good = "left 7 " HASH "\n";
    static const struct ledger empty;
    char text[300];

    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct ledger ledger = {0};

        snprintf(text, sizeof(text), "robust_cache ledger 1\n%s\n", lines[i]);
        parse(&ledger, text, 1);
        expect_equal(&ledger, &empty);

        snprintf(text, sizeof(text), "robust_cache ledger 1\n%s%s\n%s", good, lines[i], good);
        parse(&ledger, text, 1);
        assert_int_equal(ledger.left_count, 1);
        assert_int_equal(ledger.left[0].size, 7);
    }
}

static void not_a_ledger(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "asked\n",
        "robust_cache ledger 2\nasked\n",
        "robust_cache ledger 11\nasked\n",
        "robust_cache ledger\nasked\n",
        " robust_cache ledger 1\nasked\n",
        "robust_cache ledger 1\r\nasked\n",
        "\nrobust_cache ledger 1\nasked\n",
    };
    static const struct ledger empty;
    static char big[LEDGER_TEXT_MAX + 1];
    struct ledger ledger = {0};
    uint32_t bad_lines;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(ledger_parse(&ledger, texts[i], strlen(texts[i]), &bad_lines));
        expect_equal(&ledger, &empty);
    }

    /* One byte decides about the size. */
    memset(big, '\n', sizeof(big));
    memcpy(big, "robust_cache ledger 1\nasked\n", strlen("robust_cache ledger 1\nasked\n"));
    assert_false(ledger_parse(&ledger, big, sizeof(big), &bad_lines));
    expect_equal(&ledger, &empty);
    assert_true(ledger_parse(&ledger, big, sizeof(big) - 1, &bad_lines));
    assert_true(ledger.asked);
    assert_int_equal(bad_lines, LEDGER_TEXT_MAX - strlen("robust_cache ledger 1\nasked\n"));
}

static void last_line_without_newline(void **state)
{
    struct ledger ledger = {0};

    (void)state;
    parse(&ledger, "robust_cache ledger 1", 0);
    parse(&ledger, "robust_cache ledger 1\nrebuild\nasked", 0);
    assert_true(ledger.asked && ledger.rebuild);
}

/* Binary text in an allocation of exactly its size, so that a sanitizer sees any read beyond it. */
static void hostile_text(void **state)
{
    static const char seed_text[] = "robust_cache ledger 1\nleft 7 " HASH "\nproven " HASH "\ndeath " HASH
                                    " 17 3\nquarantine " HASH " 99 died\nasked\ncompiled 1 2";
    struct random random = random_from(random_seed());

    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t size = random_below(&random, sizeof(seed_text));
        size_t flips = random_below(&random, 6);
        char *text = malloc(size + 1);
        struct ledger ledger = {0};
        uint32_t bad_lines;

        assert_non_null(text);
        text = realloc(text, size ? size : 1);
        assert_non_null(text);
        memcpy(text, seed_text, size);
        for (size_t i = 0; i < flips && size > 0; i++)
            text[random_below(&random, size)] = (char)random_next(&random);
        if (ledger_parse(&ledger, text, size, &bad_lines)) {
            assert_in_range(ledger.left_count, 0, 1);
            assert_in_range(ledger.data_count, 0, 3);
            assert_in_range(bad_lines, 0, 12);
        }
        free(text);
    }
}

static void parse_adds_to_what_is_there(void **state)
{
    struct ledger ledger = {.compiled_pipelines = 5, .compiled_ns = UINT64_MAX - 1};
    struct hash128 hash;

    (void)state;
    assert_true(hash128_from_hex(HASH, &hash));
    ledger_add_left(&ledger, 1, &hash);
    parse(&ledger, "robust_cache ledger 1\nleft 2 " HASH "\ncompiled 3 4\n", 0);
    assert_int_equal(ledger.left_count, 2);
    assert_int_equal(ledger.compiled_pipelines, 8);
    assert_true(ledger.compiled_ns == UINT64_MAX);
}

/* A later line of the same hash is the newer fact. */
static void success_and_failure_exclude_each_other(void **state)
{
    struct ledger ledger = {0};
    struct hash128 hash;

    (void)state;
    assert_true(hash128_from_hex(HASH, &hash));
    parse(&ledger,
          "robust_cache ledger 1\ndeath " HASH " 1700000000 2\nquarantine " HASH " 1700000000 died\n", 0);
    assert_int_equal(ledger.data_count, 1);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW), LEDGER_DIED);
    parse(&ledger, "robust_cache ledger 1\nproven " HASH "\n", 0);
    assert_true(ledger_is_proven(&ledger, &hash));
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW), LEDGER_NOT_QUARANTINED);
    assert_int_equal(ledger.data[0].deaths, 0);
    parse(&ledger, "robust_cache ledger 1\ndeath " HASH " 1700000000 1\n", 0);
    assert_false(ledger_is_proven(&ledger, &hash));
    parse(&ledger, "robust_cache ledger 1\nproven " HASH "\nquarantine " HASH " 1700000000 rejected\n", 0);
    assert_false(ledger_is_proven(&ledger, &hash));
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW), LEDGER_REJECTED);
}

/* C09: the first death sets aside, a second one at least 10 s later quarantines, for 7 days. */
static void deaths_and_the_clock(void **state)
{
    struct ledger ledger = {0};
    struct hash128 hash = hash_of(1), other = hash_of(2);

    (void)state;
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW), LEDGER_FIRST_DEATH);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW), LEDGER_NOT_QUARANTINED);
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW), LEDGER_SAME_DEATH);
    /* A program restarted every few seconds must not stay below the distance for ever. */
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW + 6), LEDGER_SAME_DEATH);
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW + 9), LEDGER_SAME_DEATH);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW + 9), LEDGER_NOT_QUARANTINED);
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW + 10), LEDGER_SECOND_DEATH);

    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW + 10), LEDGER_DIED);
    assert_int_equal(ledger_quarantine_of(&ledger, &other, NOW + 10), LEDGER_NOT_QUARANTINED);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW + 10 + WEEK - 1), LEDGER_DIED);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW + 10 + WEEK), LEDGER_NOT_QUARANTINED);

    /* Tried once more: one further death is enough. */
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW + 10 + WEEK), LEDGER_SECOND_DEATH);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW + 10 + WEEK), LEDGER_DIED);
}

static void success_between_deaths(void **state)
{
    struct ledger ledger = {0};
    struct hash128 hash = hash_of(1);

    (void)state;
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW), LEDGER_FIRST_DEATH);
    ledger_add_proven(&ledger, &hash);
    assert_true(ledger_is_proven(&ledger, &hash));
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW + 100), LEDGER_FIRST_DEATH);
    assert_false(ledger_is_proven(&ledger, &hash));
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW + 200), LEDGER_SECOND_DEATH);
    ledger_add_proven(&ledger, &hash);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW + 200), LEDGER_NOT_QUARANTINED);
    assert_int_equal(ledger.data_count, 1);
}

/* C08. */
static void rejection(void **state)
{
    struct ledger ledger = {0};
    struct hash128 hash = hash_of(1);

    (void)state;
    ledger_add_proven(&ledger, &hash);
    ledger_add_rejected(&ledger, &hash, NOW);
    assert_false(ledger_is_proven(&ledger, &hash));
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW), LEDGER_REJECTED);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW + WEEK), LEDGER_NOT_QUARANTINED);
}

static void clocks_that_were_wrong(void **state)
{
    struct ledger ledger = {0};
    struct hash128 hash = hash_of(1), past = hash_of(2), first = hash_of(3);

    (void)state;
    /* A death in the far future doesn't quarantine for longer than a week, nor swallow the next death. */
    ledger_add_rejected(&ledger, &hash, INT64_MAX);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, INT64_MAX), LEDGER_REJECTED);
    assert_int_equal(ledger_quarantine_of(&ledger, &hash, NOW), LEDGER_NOT_QUARANTINED);
    assert_int_equal(ledger_add_death(&ledger, &first, INT64_MAX), LEDGER_FIRST_DEATH);
    assert_int_equal(ledger_add_death(&ledger, &first, NOW), LEDGER_SECOND_DEATH);
    /* Before 1970. */
    assert_int_equal(ledger_add_death(&ledger, &past, INT64_MIN), LEDGER_FIRST_DEATH);
    assert_int_equal(ledger_add_death(&ledger, &past, -20), LEDGER_SAME_DEATH);
    assert_int_equal(ledger_add_death(&ledger, &past, 10), LEDGER_SECOND_DEATH);
    assert_int_equal(ledger_quarantine_of(&ledger, &past, INT64_MIN), LEDGER_DIED);
}

static void death_counter_stays_at_its_end(void **state)
{
    struct ledger ledger = {0};
    struct hash128 hash;

    (void)state;
    assert_true(hash128_from_hex(HASH, &hash));
    parse(&ledger, "robust_cache ledger 1\ndeath " HASH " 5 4294967295\n", 0);
    assert_int_equal(ledger_add_death(&ledger, &hash, NOW), LEDGER_SECOND_DEATH);
    assert_int_equal(ledger.data[0].deaths, UINT32_MAX);
}

/* Against the whole history: what left is what is among the last 64 different records of it. */
static void left_against_the_model(void **state)
{
    enum { EVENTS = 600, KINDS = 90 };
    struct random random = random_from(random_seed());
    size_t history[EVENTS];
    struct ledger ledger = {0};

    (void)state;
    for (size_t event = 0; event < EVENTS; event++) {
        struct hash128 hash;
        bool expected[KINDS] = {false};
        size_t different = 0;

        history[event] = random_below(&random, KINDS);
        hash = hash_of(history[event] / 2);
        ledger_add_left(&ledger, history[event] % 2, &hash);

        for (size_t i = event + 1; i-- > 0 && different < LEDGER_LEFT_MAX;) {
            different += !expected[history[i]];
            expected[history[i]] = true;
        }
        assert_int_equal(ledger.left_count, different);
        for (size_t kind = 0; kind < KINDS; kind++) {
            hash = hash_of(kind / 2);
            check(ledger_has_left(&ledger, kind % 2, &hash) == expected[kind], "event %zu kind %zu", event,
                  kind);
        }
    }
}

/* Against a table without order: each hash with the number of its last change; the smallest goes that isn't
 * quarantined. */
static void data_cap_against_the_model(void **state)
{
    enum { KINDS = 150 };
    struct {
        size_t changed; /* 0: not known */
        bool quarantined;
    } model[KINDS] = {{0}};
    struct random random = random_from(random_seed());
    struct ledger ledger = {0};
    size_t known = 0;

    (void)state;
    for (size_t event = 1; event < 4000; event++) {
        size_t kind = random_below(&random, KINDS);
        struct hash128 hash = hash_of(kind);
        /* Now and then quarantines get so many that there is nothing else left. */
        bool quarantine = random_below(&random, event / 500 % 2 ? 10 : 2) > 0;

        if (model[kind].changed == 0 && known == LEDGER_DATA_MAX) {
            size_t victim = KINDS, oldest = KINDS;

            for (size_t i = 0; i < KINDS; i++) {
                if (model[i].changed == 0)
                    continue;
                if (oldest == KINDS || model[i].changed < model[oldest].changed)
                    oldest = i;
                if (!model[i].quarantined && (victim == KINDS || model[i].changed < model[victim].changed))
                    victim = i;
            }
            model[victim == KINDS ? oldest : victim].changed = 0;
        } else if (model[kind].changed == 0) {
            known++;
        }
        model[kind].changed = event;
        model[kind].quarantined = quarantine;
        if (quarantine)
            ledger_add_rejected(&ledger, &hash, NOW);
        else
            ledger_add_proven(&ledger, &hash);

        assert_int_equal(ledger.data_count, known);
        for (size_t i = 0; i < KINDS; i++) {
            hash = hash_of(i);
            check(ledger_is_proven(&ledger, &hash) == (model[i].changed != 0 && !model[i].quarantined),
                  "event %zu hash %zu", event, i);
            check((ledger_quarantine_of(&ledger, &hash, NOW) == LEDGER_REJECTED) ==
                      (model[i].changed != 0 && model[i].quarantined),
                  "event %zu hash %zu", event, i);
        }
    }
}

/* Merging. */

static void merge_with_one_side_unchanged(void **state)
{
    struct random random = random_from(random_seed());

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct ledger base = {0}, changed, unchanged;
        size_t before = random_below(&random, 60), after = random_below(&random, 60);

        for (size_t i = 0; i < before; i++)
            random_event(&random, &base, 20, NOW + (int64_t)random_below(&random, 100));
        changed = base;
        for (size_t i = 0; i < after; i++)
            random_event(&random, &changed, 20, NOW + (int64_t)random_below(&random, 100));

        unchanged = base;
        ledger_merge(&unchanged, &changed, &base);
        expect_equal(&unchanged, &changed);

        unchanged = changed;
        ledger_merge(&unchanged, &base, &base);
        expect_equal(&unchanged, &changed);
    }
}

/* What is expected of one hash, said case by case. */
static struct ledger_data model_merge(struct ledger_data base, struct ledger_data ours,
                                      struct ledger_data theirs)
{
    struct ledger_data out = {.hash = base.hash};
    int64_t distance = ours.last_death - theirs.last_death;
    uint32_t our_deaths = ours.deaths - (base.deaths < ours.deaths ? base.deaths : ours.deaths);
    uint32_t their_deaths = theirs.deaths - (base.deaths < theirs.deaths ? base.deaths : theirs.deaths);
    uint32_t more = ours.deaths > theirs.deaths ? ours.deaths : theirs.deaths;

    if (same_data(&ours, &base))
        return theirs;
    if (same_data(&theirs, &base))
        return ours;
    if (ours.proven || theirs.proven) {
        out.proven = true;
        return out;
    }
    out.deaths = base.deaths + our_deaths + their_deaths;
    if (our_deaths && their_deaths && distance > -10 && distance < 10)
        out.deaths = more;
    out.last_death = distance > 0 ? ours.last_death : theirs.last_death;
    out.quarantine = ours.quarantine ? ours.quarantine : theirs.quarantine;
    out.quarantined_at = ours.quarantined_at;
    if (theirs.quarantine && theirs.quarantined_at > ours.quarantined_at) {
        out.quarantine = theirs.quarantine;
        out.quarantined_at = theirs.quarantined_at;
    }
    if (out.deaths >= 2 && out.deaths > more && out.last_death >= out.quarantined_at) {
        out.quarantine = LEDGER_DIED;
        out.quarantined_at = out.last_death;
    }
    return out;
}

enum { MERGE_KINDS = 12 };

/* The records by number; zero for what isn't known. */
static void table_of(const struct ledger *ledger, struct ledger_data table[MERGE_KINDS])
{
    for (size_t kind = 0; kind < MERGE_KINDS; kind++) {
        table[kind] = (struct ledger_data){.hash = hash_of(kind)};
        for (uint32_t i = 0; i < ledger->data_count; i++) {
            if (hash128_equal(&ledger->data[i].hash, &table[kind].hash))
                table[kind] = ledger->data[i];
        }
    }
}

static void merge_against_the_model(void **state)
{
    struct random random = random_from(random_seed());
    size_t both_changed = 0;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        struct ledger base = {0}, ours, theirs, merged;
        struct ledger_data b[MERGE_KINDS], o[MERGE_KINDS], t[MERGE_KINDS], m[MERGE_KINDS];
        size_t events[3];
        int64_t start = round % 2 ? NOW : 0; /* a clock that was never set is real */

        for (int i = 0; i < 3; i++)
            events[i] = random_below(&random, 40);
        for (size_t i = 0; i < events[0]; i++)
            random_event(&random, &base, MERGE_KINDS, start + (int64_t)random_below(&random, 50));
        ours = theirs = base;
        for (size_t i = 0; i < events[1]; i++)
            random_event(&random, &ours, MERGE_KINDS, start + (int64_t)random_below(&random, 50));
        for (size_t i = 0; i < events[2]; i++)
            random_event(&random, &theirs, MERGE_KINDS, start + (int64_t)random_below(&random, 50));
        merged = ours;
        ledger_merge(&merged, &theirs, &base);

        table_of(&base, b);
        table_of(&ours, o);
        table_of(&theirs, t);
        table_of(&merged, m);
        for (size_t kind = 0; kind < MERGE_KINDS; kind++) {
            struct ledger_data expected = model_merge(b[kind], o[kind], t[kind]);
            struct hash128 hash = hash_of(kind);

            check(same_data(&m[kind], &expected), "round %d hash %zu", round, kind);
            both_changed += !same_data(&o[kind], &b[kind]) && !same_data(&t[kind], &b[kind]);
            for (uint64_t size = 0; size < 3; size++) {
                check(ledger_has_left(&merged, size, &hash) ==
                          (ledger_has_left(&ours, size, &hash) || ledger_has_left(&theirs, size, &hash)),
                      "round %d hash %zu size %d", round, kind, (int)size);
            }
        }
        assert_int_equal(merged.asked, ours.asked || theirs.asked);
        assert_int_equal(merged.rebuild, ours.rebuild == base.rebuild ? theirs.rebuild : ours.rebuild);
        assert_true(merged.compiled_pipelines ==
                    ours.compiled_pipelines + theirs.compiled_pipelines - base.compiled_pipelines);
        assert_true(merged.compiled_ns == ours.compiled_ns + theirs.compiled_ns - base.compiled_ns);
    }
    assert_true(both_changed > 1000);
}

/* Two processes, one death each since they read the ledger: merged is as if one had seen both. */
static void deaths_of_two_processes(void **state)
{
    struct hash128 hash = hash_of(1);

    (void)state;
    for (int deaths_before = 0; deaths_before < 3; deaths_before++) {
        for (int64_t distance = -12; distance <= 12; distance++) {
            struct ledger base = {0}, ours, theirs, one;
            int64_t now = NOW + 1000, later = distance > 0 ? now + distance : now;

            for (int i = 0; i < deaths_before; i++)
                ledger_add_death(&base, &hash, NOW + 20 * i);
            ours = theirs = one = base;
            ledger_add_death(&ours, &hash, now);
            ledger_add_death(&theirs, &hash, now + distance);
            ledger_add_death(&one, &hash, now);
            ledger_add_death(&one, &hash, now + distance);
            ledger_merge(&ours, &theirs, &base);
            check(ours.data[0].deaths == one.data[0].deaths, "distance %d", (int)distance);
            check(ledger_quarantine_of(&ours, &hash, later) == ledger_quarantine_of(&one, &hash, later),
                  "distance %d", (int)distance);
        }
    }
}

/* Full on both sides: the newest of either stays, as if ours had happened after theirs. */
static void merge_of_full_ledgers(void **state)
{
    struct random random = random_from(random_seed());

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct ledger base = {0}, ours, theirs, expected;
        size_t our_count = random_below(&random, 80), their_count = random_below(&random, 80);

        for (size_t i = 0; i < LEDGER_LEFT_MAX; i++) {
            struct hash128 hash = hash_of(i);

            ledger_add_left(&base, 1, &hash);
            ledger_add_proven(&base, &hash);
        }
        ours = theirs = base;
        for (size_t i = 0; i < their_count; i++) {
            struct hash128 hash = hash_of(2000 + i);

            ledger_add_left(&theirs, 1, &hash);
            ledger_add_proven(&theirs, &hash);
        }
        expected = theirs;
        for (size_t i = 0; i < our_count; i++) {
            struct hash128 hash = hash_of(1000 + i);

            ledger_add_left(&ours, 1, &hash);
            ledger_add_proven(&ours, &hash);
            ledger_add_left(&expected, 1, &hash);
            ledger_add_proven(&expected, &hash);
        }
        ledger_merge(&ours, &theirs, &base);
        expect_equal(&ours, &expected);
    }
}

static void counters_do_not_wrap(void **state)
{
    struct ledger base = {.compiled_ns = 10}, ours = {.compiled_ns = 20},
                  theirs = {.compiled_ns = UINT64_MAX - 5};

    (void)state;
    ledger_merge(&ours, &theirs, &base);
    assert_true(ours.compiled_ns == UINT64_MAX);

    /* A ledger that was made anew has counted less than its base: nothing is taken away. */
    ours.compiled_ns = 3;
    theirs.compiled_ns = 50;
    ledger_merge(&ours, &theirs, &base);
    assert_int_equal(ours.compiled_ns, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_each_record),
        cmocka_unit_test(empty_ledger),
        cmocka_unit_test(random_round_trips),
        cmocka_unit_test(fullest_ledger_fits),
        cmocka_unit_test(bad_lines_are_skipped),
        cmocka_unit_test(not_a_ledger),
        cmocka_unit_test(last_line_without_newline),
        cmocka_unit_test(hostile_text),
        cmocka_unit_test(parse_adds_to_what_is_there),
        cmocka_unit_test(success_and_failure_exclude_each_other),
        cmocka_unit_test(deaths_and_the_clock),
        cmocka_unit_test(success_between_deaths),
        cmocka_unit_test(rejection),
        cmocka_unit_test(clocks_that_were_wrong),
        cmocka_unit_test(death_counter_stays_at_its_end),
        cmocka_unit_test(left_against_the_model),
        cmocka_unit_test(data_cap_against_the_model),
        cmocka_unit_test(merge_with_one_side_unchanged),
        cmocka_unit_test(merge_against_the_model),
        cmocka_unit_test(deaths_of_two_processes),
        cmocka_unit_test(merge_of_full_ledgers),
        cmocka_unit_test(counters_do_not_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
