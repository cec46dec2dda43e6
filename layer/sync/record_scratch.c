#include "sync/record_scratch.h"

#include <stdlib.h>
#include <string.h>

void record_scratch_finish(struct record_scratch *scratch)
{
    free(scratch->given);
    free(scratch->targets);
    free(scratch->transitions);
    free(scratch->parts);
    free(scratch->memory);
    free(scratch->buffers);
    free(scratch->images);
    free(scratch->memory1);
    free(scratch->buffers1);
    free(scratch->images1);
    memset(scratch, 0, sizeof(*scratch));
}
