/* Mock of Android's log: the test defines the function. */
#ifndef RC_MOCK_ANDROID_LOG_H
#define RC_MOCK_ANDROID_LOG_H

enum {
    ANDROID_LOG_DEBUG = 3,
    ANDROID_LOG_INFO = 4,
    ANDROID_LOG_WARN = 5,
    ANDROID_LOG_ERROR = 6,
};

int __android_log_write(int priority, const char *tag, const char *text);

#endif
