/* The application's arrays of a submit, copied with patch command buffers in them. One per queue; memory is
 * kept from call to call. */
#ifndef RC_SYNC_SUBMIT_ARRAYS_H
#define RC_SYNC_SUBMIT_ARRAYS_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

struct submission;
struct submit_arrays;

struct submit_arrays *submit_arrays_create(void); /* NULL on out of memory */
void submit_arrays_destroy(struct submit_arrays *arrays);

/* Records the submission's repairs into patch command buffers. False if that can't be done: then nothing is
 * to be inserted. */
bool submit_arrays_patch(struct submission *submission);
/* The only patch of a submission that has one place for it (present). */
VkCommandBuffer submit_arrays_first_patch(const struct submission *submission);

/* The batches with each patch right before its command buffer; NULL on out of memory. Valid until the next
 * call. */
const VkSubmitInfo *submit_arrays_copy(struct submission *submission, uint32_t count,
                                       const VkSubmitInfo *infos);
const VkSubmitInfo2 *submit_arrays_copy2(struct submission *submission, uint32_t count,
                                         const VkSubmitInfo2 *infos);

/* Patches and barriers in them, for counting. */
uint32_t submit_arrays_patch_count(const struct submission *submission);
uint32_t submit_arrays_barrier_count(const struct submission *submission);

#endif
