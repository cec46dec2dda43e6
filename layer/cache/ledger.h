/* The ledger: what one application on one device identity remembers between runs, apart from the cache
 * itself: which blobs left through the layer, which data the driver has proven to survive, and which killed
 * it. This is the model in memory and its text form; store.h reads and writes the file. Pure code.
 *
 * Text form: one record a line, fields separated by one space; the first line is "robust_cache ledger 1".
 * A line that can't be read is skipped and counted; the rest still holds. Numbers are decimal without sign,
 * times in seconds since 1970. The last line may lack its newline.
 *
 *   left <size> <hash>                  a payload, or the beginning of one, that left through the layer
 *   proven <hash>                       the driver created pipelines with this data and lived
 *   death <hash> <time> <count>         the process died in a guarded call on this data
 *   quarantine <hash> <time> <reason>   not to be offered for a while; reason: died | rejected
 *   asked                               the application has asked for cache data: it keeps its own
 *   rebuild                             the store went over its cap: start the next run without it
 *   compiled <pipelines> <nanoseconds>  time spent on cache misses, for the estimate of time saved
 *
 * Success and failure exclude each other: "proven" forgets deaths and quarantine, each of those forgets
 * "proven". */
#ifndef RC_CACHE_LEDGER_H
#define RC_CACHE_LEDGER_H

#include "hash.h"

#define LEDGER_LEFT_MAX 64
#define LEDGER_DATA_MAX 64
#define LEDGER_TEXT_MAX (64 * 1024) /* bytes; a file larger than this is not a ledger */
#define LEDGER_DEATH_DISTANCE 10    /* seconds; deaths closer together are one event */
#define LEDGER_QUARANTINE_SECONDS (7 * 24 * 3600)

enum ledger_quarantine {
    LEDGER_NOT_QUARANTINED,
    LEDGER_DIED,
    LEDGER_REJECTED,
};

struct ledger_left {
    uint64_t size; /* bytes */
    struct hash128 hash;
};

/* What is known of one payload, by its hash. */
struct ledger_data {
    struct hash128 hash;
    bool proven;
    uint32_t deaths;
    int64_t last_death; /* seconds since 1970 */
    enum ledger_quarantine quarantine;
    int64_t quarantined_at; /* seconds since 1970 */
};

/* Both arrays are ordered from oldest to newest: what is added, or added again, becomes the newest. When full
 * the oldest goes (of `data`: the oldest that is not quarantined, if there is one). A value, no pointers:
 * copy it freely. Zero is a valid empty ledger. The caller provides the locking; nothing here fails or
 * allocates. Times before 1970 count as 1970. */
struct ledger {
    struct ledger_left left[LEDGER_LEFT_MAX];
    uint32_t left_count;
    struct ledger_data data[LEDGER_DATA_MAX];
    uint32_t data_count;
    bool asked;
    bool rebuild;
    uint64_t compiled_pipelines;
    uint64_t compiled_ns;
};

enum ledger_death {
    LEDGER_FIRST_DEATH, /* set the data aside for this run */
    LEDGER_SAME_DEATH,  /* within LEDGER_DEATH_DISTANCE of the one before: set aside, not counted again */
    LEDGER_SECOND_DEATH /* now quarantined */
};

/* Adds the records of `text` (not zero-terminated) to `ledger`: "compiled" adds up, later lines are newer.
 * Returns false, and changes nothing, if the first line is not a ledger's or `size` is over LEDGER_TEXT_MAX.
 * *bad_lines is how many lines were skipped. */
bool ledger_parse(struct ledger *ledger, const char *text, size_t size, uint32_t *bad_lines);

/* Writes the text form. `out` has LEDGER_TEXT_MAX bytes; returns the number used (no final zero). What it
 * writes, ledger_parse() reads back into an equal ledger. */
size_t ledger_format(const struct ledger *ledger, char *out);

/* Unites what another process wrote meanwhile (`other`, read from disk) with `ledger`. `base` is what
 * `ledger` was loaded from; what `ledger` got since then is added to `other` as the newest, the result is in
 * `ledger`. If only one side changed, the result is that side (as long as nothing had to go).
 *
 * Where both changed what `base` knows of one hash: proven by either is proven, without deaths and
 * quarantine. Else deaths add up, except that the last ones of both sides within LEDGER_DEATH_DISTANCE of
 * each other are one event that both saw (then the larger count holds); the later time and the later
 * quarantine hold; and if only the sum makes a second death, the data is quarantined from the later death on.
 *
 * `asked` stays once set; `rebuild` is as `ledger` has it if it changed since `base`, else as `other` has it;
 * to the counters of `other` comes what `ledger` counted since `base`. */
void ledger_merge(struct ledger *ledger, const struct ledger *other, const struct ledger *base);

void ledger_add_left(struct ledger *ledger, uint64_t size, const struct hash128 *hash);
bool ledger_has_left(const struct ledger *ledger, uint64_t size, const struct hash128 *hash);

/* The driver lived with this data, as guarded.h has it: deaths and quarantine are forgotten. */
void ledger_add_proven(struct ledger *ledger, const struct hash128 *hash);
bool ledger_is_proven(const struct ledger *ledger, const struct hash128 *hash);

/* The process died in a guarded call on this data. */
enum ledger_death ledger_add_death(struct ledger *ledger, const struct hash128 *hash, int64_t now);
/* The driver returned an error for it, or took it and kept nothing: quarantined at once. */
void ledger_add_rejected(struct ledger *ledger, const struct hash128 *hash, int64_t now);

/* Whether the data may go down at `now`: NOT_QUARANTINED, also once the quarantine is over: the data is then
 * tried again, and the next death or rejection starts a new one. A quarantine from the future (the clock was
 * set back) counts as over where it would last longer than one that starts now. */
enum ledger_quarantine ledger_quarantine_of(const struct ledger *ledger, const struct hash128 *hash,
                                            int64_t now);

#endif
