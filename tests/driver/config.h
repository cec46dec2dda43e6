/* The driver's configuration: FAULT_DRIVER or fault_configure(); the syntax stands in fault_driver.h. */
#ifndef DRIVER_CONFIG_H
#define DRIVER_CONFIG_H

#include "faults.h"

#define CONFIG_MAX_DEVICES 8
#define CONFIG_MAX_RULES 32
#define CONFIG_MAX_NAMES 32

enum config_uuid {
    CONFIG_UUID_AUTO,
    CONFIG_UUID_CONSTANT,
    CONFIG_UUID_ZERO,
    CONFIG_UUID_GIVEN,
};

enum config_keeps {
    CONFIG_KEEPS_ENTRIES,
    CONFIG_KEEPS_NOTHING,
    CONFIG_KEEPS_ECHO,
};

struct driver_config {
    uint32_t api;
    uint32_t vendor;
    uint32_t device;
    uint32_t driver_version;
    uint32_t driver_id;
    char driver_name[VK_MAX_DRIVER_NAME_SIZE];
    char driver_info[VK_MAX_DRIVER_INFO_SIZE];
    char device_name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    uint32_t devices;
    enum config_uuid uuid;
    uint8_t given_uuid[VK_UUID_SIZE];
    bool protected_memory;
    uint32_t hidden_count;
    char hidden[CONFIG_MAX_NAMES][FAULT_TEXT_SIZE];
    uint32_t shown_count;
    char shown[CONFIG_MAX_NAMES][FAULT_TEXT_SIZE];

    enum config_keeps keeps;
    uint32_t header;
    uint32_t entry_size;
    uint32_t miss_us;
    bool defer;
    bool merge_moves;

    char journal[4096];
    bool journal_commands;

    bool oracle;
    char oracle_file[4096];
};

/* The configuration in force, read from the environment at the first use. Sets *valid to whether FAULT_DRIVER
 * could be understood (if not, standard error has the reason, and nothing should work). Never NULL. */
const struct driver_config *config_current(bool *valid);

/* Rules in force; they count their calls. */
struct fault_rule *config_rules(uint32_t *count);

#endif
