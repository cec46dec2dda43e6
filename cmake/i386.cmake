# 32-bit x86 on a 64-bit system with gcc-multilib. The registry and the Vulkan headers are the system's own; the
# layer itself links nothing but libc.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER gcc)
set(CMAKE_C_FLAGS_INIT "-m32 -march=i686 -msse2 -mfpmath=sse")
# multilib's libc comes from the host's tree, but its other libraries are 64-bit
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
