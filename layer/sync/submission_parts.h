/* What the submission's files share. Under sync->lock. */
#ifndef RC_SYNC_SUBMISSION_PARTS_H
#define RC_SYNC_SUBMISSION_PARTS_H

#include "sync/submission.h"

struct late_use;

/* From here on nothing is known of the image. */
void submission_set_unknown(struct submission *submission, struct image *image);

/* Whether barriers name both aspects of the image. */
bool submission_names_both_aspects(const struct submission *submission, const struct image *image);

/* What the command buffer (or what is made up for it) needs of the image, and leaves. */
void submission_use_image(struct submission *submission, const struct contract_image *contract);

/* What a descriptor of an UPDATE_AFTER_BIND binding refers to now. */
void submission_use_late(struct submission *submission, const struct command_buffer *buffer,
                         const struct late_use *late);
/* Whether some of a range is read so, by one of the command buffer's descriptors before `end` (NULL: all). */
bool submission_reads_late(const struct command_buffer *buffer, const struct late_use *end,
                           const struct image *image, const struct subresource_range *range);

#endif
