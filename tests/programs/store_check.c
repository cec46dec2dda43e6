/* Says whether files are whole cache data with an envelope: one line a file, status 0 if all are. */
#include <stdio.h>
#include <stdlib.h>

#include "cache/envelope.h"
#include "file.h"

static const char *verdict_name(enum envelope_verdict verdict)
{
    switch (verdict) {
    case ENVELOPE_NONE:
        return "no envelope";
    case ENVELOPE_VALID:
        return "valid";
    case ENVELOPE_FOREIGN:
        return "foreign";
    case ENVELOPE_DAMAGED:
        return "damaged";
    case ENVELOPE_UNKNOWN_VERSION:
        return "of an unknown version";
    }
    return "?";
}

static bool check(const char *path)
{
    void *data;
    size_t size;
    if (!file_read(path, &data, &size)) {
        perror(path);
        return false;
    }
    struct envelope envelope;
    enum envelope_verdict verdict = envelope_open(data, size, NULL, &envelope);
    bool exact = verdict == ENVELOPE_VALID && size == envelope.payload_size + ENVELOPE_SIZE;
    printf("%s: %s, %zu bytes %s%s\n", path, verdict_name(verdict), size, envelope.problem,
           verdict == ENVELOPE_VALID && !exact ? "(padded)" : "");
    free(data);
    return exact;
}

int main(int argc, char **argv)
{
    int bad = argc < 2;
    for (int i = 1; i < argc; i++)
        bad |= !check(argv[i]);
    return bad;
}
