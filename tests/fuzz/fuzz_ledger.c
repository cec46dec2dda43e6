/* Input: up to three texts with a zero byte between them: a ledger, another, and what both were read from. */
#include "fuzz.h"

#include <string.h>

#include "cache/ledger.h"

/* Whatever came in, what goes out can be read back and written again without a difference. */
static void check_round_trip(const struct ledger *ledger)
{
    static char text[LEDGER_TEXT_MAX], again[LEDGER_TEXT_MAX];
    static struct ledger read;
    size_t size = ledger_format(ledger, text);
    uint32_t bad_lines;

    require(ledger->left_count <= LEDGER_LEFT_MAX && ledger->data_count <= LEDGER_DATA_MAX);
    memset(&read, 0, sizeof(read));
    require(ledger_parse(&read, text, size, &bad_lines) && bad_lines == 0);
    require(read.left_count == ledger->left_count && read.data_count == ledger->data_count);
    require(ledger_format(&read, again) == size && memcmp(text, again, size) == 0);
}

static void check_records(const struct ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->left_count; i++)
        require(ledger_has_left(ledger, ledger->left[i].size, &ledger->left[i].hash));
    for (uint32_t i = 0; i < ledger->data_count; i++) {
        const struct ledger_data *data = &ledger->data[i];

        require(data->last_death >= 0 && data->quarantined_at >= 0);
        require(ledger_is_proven(ledger, &data->hash) == data->proven);
        require(data->proven == (data->deaths == 0 && data->quarantine == LEDGER_NOT_QUARANTINED));
        require(ledger_quarantine_of(ledger, &data->hash, data->quarantined_at) == data->quarantine);
    }
}

static void check_merge(const struct ledger *ours, const struct ledger *theirs, const struct ledger *base)
{
    static struct ledger merged;

    merged = *ours;
    ledger_merge(&merged, theirs, base);
    check_round_trip(&merged);
    check_records(&merged);
    require(merged.asked == (ours->asked || theirs->asked));
    require(merged.compiled_ns >= theirs->compiled_ns);
    require(merged.left_count >= theirs->left_count && merged.data_count >= theirs->data_count);

    /* Once more: nothing is new any longer. */
    ledger_merge(&merged, &merged, &merged);
    check_round_trip(&merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ledger ledgers[3];
    const char *text = (const char *)data;

    memset(ledgers, 0, sizeof(ledgers));
    for (int i = 0; i < 3; i++) {
        const char *end = memchr(text, '\0', size);
        size_t length = end ? (size_t)(end - text) : size;
        uint32_t bad_lines;

        if (ledger_parse(&ledgers[i], text, length, &bad_lines))
            require(bad_lines <= length);
        check_round_trip(&ledgers[i]);
        check_records(&ledgers[i]);
        if (!end)
            break;
        text = end + 1;
        size -= length + 1;
    }
    check_merge(&ledgers[0], &ledgers[1], &ledgers[2]);
    return 0;
}
