/* Mock of Android's system properties: the test defines the function. */
#ifndef RC_MOCK_SYSTEM_PROPERTIES_H
#define RC_MOCK_SYSTEM_PROPERTIES_H

#define PROP_VALUE_MAX 92

int __system_property_get(const char *name, char *value);

#endif
