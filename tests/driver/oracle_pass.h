/* What the oracle needs of a render pass: attachments' operations and layouts, and per subpass who is used
 * how. */
#ifndef DRIVER_ORACLE_PASS_H
#define DRIVER_ORACLE_PASS_H

#include <vulkan/vulkan.h>

struct oracle_pass;

/* NULL on out of memory; uses of such a render pass aren't judged. */
struct oracle_pass *oracle_pass_create(const VkRenderPassCreateInfo *info);
struct oracle_pass *oracle_pass_create2(const VkRenderPassCreateInfo2 *info);
/* NULL is safe. */
void oracle_pass_destroy(struct oracle_pass *pass);

#endif
