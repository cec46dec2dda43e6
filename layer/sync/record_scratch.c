#include "sync/record_scratch.h"

#include <stdlib.h>
#include <string.h>

static void free_arrays(struct barrier_arrays *arrays)
{
    free(arrays->memory);
    free(arrays->buffers);
    free(arrays->images);
}

void record_scratch_finish(struct record_scratch *scratch)
{
    free(scratch->targets);
    free(scratch->transitions);
    free(scratch->parts);
    free_arrays(&scratch->made);
    free_arrays(&scratch->kept);
    free(scratch->memory1);
    free(scratch->buffers1);
    free(scratch->images1);
    memset(scratch, 0, sizeof(*scratch));
}
