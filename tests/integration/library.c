/* The library as a file: what it needs, what it exports, how it is laid out; and that it says of itself what
 * its manifest says. P16. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vulkan/vk_layer.h>

#include <cmocka.h>

#include "sandbox.h"

#define PAGE_16K 16384

struct image {
    const unsigned char *bytes;
    size_t size;
    const ElfW(Ehdr) * header;
};

static struct image image;

static int map_library(void **state)
{
    (void)state;
    struct stat status;
    int fd = open(RC_LAYER_LIBRARY, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        return -1;
    image.size = (size_t)status.st_size;
    image.bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
    image.header = (const void *)image.bytes;
    close(fd);
    return image.bytes == MAP_FAILED || memcmp(image.bytes, ELFMAG, SELFMAG) != 0 ? -1 : 0;
}

/* The section of this type (and name, unless NULL), or NULL. */
static const ElfW(Shdr) * find_section(ElfW(Word) type, const char *name)
{
    const ElfW(Shdr) *sections = (const void *)(image.bytes + image.header->e_shoff);
    const char *names = (const char *)image.bytes + sections[image.header->e_shstrndx].sh_offset;
    for (int i = 0; i < image.header->e_shnum; i++)
        if (sections[i].sh_type == type && (!name || strcmp(names + sections[i].sh_name, name) == 0))
            return &sections[i];
    return NULL;
}

static const ElfW(Shdr) * section_linked_to(const ElfW(Shdr) * section)
{
    return (const ElfW(Shdr) *)(image.bytes + image.header->e_shoff) + section->sh_link;
}

static void skip_where_sanitized(void)
{
    if (RC_SANITIZE[0]) {
        print_message("a sanitizer's runtime adds to what the library needs and begins with\n");
        skip();
    }
}

static void test_needs(void **state)
{
    (void)state;
    static const char *const allowed[] = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux.so.2",
                                          "ld-linux-aarch64.so.1", "libm.so.6"};
    skip_where_sanitized();
    const ElfW(Shdr) *section = find_section(SHT_DYNAMIC, NULL);
    assert_non_null(section);
    const char *strings = (const char *)image.bytes + section_linked_to(section)->sh_offset;
    const ElfW(Dyn) *entry = (const void *)(image.bytes + section->sh_offset);
    unsigned needed = 0;
    for (; entry->d_tag != DT_NULL; entry++) {
        assert_int_not_equal(entry->d_tag, DT_TEXTREL);
        assert_int_not_equal(entry->d_tag, DT_RPATH);
        assert_int_not_equal(entry->d_tag, DT_RUNPATH);
        if (entry->d_tag != DT_NEEDED)
            continue;
        const char *name = strings + entry->d_un.d_val;
        bool found = false;
        for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
            found = found || strcmp(name, allowed[i]) == 0;
        if (!found)
            print_error("needs %s\n", name);
        assert_true(found);
        needed++;
    }
    assert_true(needed >= 1);
}

static void test_exports(void **state)
{
    (void)state;
    static const char *const entry_points[] = {"vkNegotiateLoaderLayerInterfaceVersion",
                                               "vkGetInstanceProcAddr",
                                               "vkGetDeviceProcAddr",
                                               "vkEnumerateInstanceLayerProperties",
                                               "vkEnumerateInstanceExtensionProperties",
                                               "vkEnumerateDeviceLayerProperties",
                                               "vkEnumerateDeviceExtensionProperties"};
    const size_t expected = sizeof(entry_points) / sizeof(entry_points[0]);
    const ElfW(Shdr) *section = find_section(SHT_DYNSYM, NULL);
    assert_non_null(section);
    const char *strings = (const char *)image.bytes + section_linked_to(section)->sh_offset;
    const ElfW(Sym) *symbols = (const void *)(image.bytes + section->sh_offset);
    size_t exported = 0;
    for (size_t i = 0; i < section->sh_size / sizeof(*symbols); i++) {
        if (symbols[i].st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbols[i].st_info) == STB_LOCAL)
            continue;
        const char *name = strings + symbols[i].st_name;
        bool found = false;
        for (size_t k = 0; k < expected; k++)
            found = found || strcmp(name, entry_points[k]) == 0;
        if (!found)
            print_error("exports %s\n", name);
        assert_true(found);
        exported++;
    }
    assert_int_equal(exported, expected);
}

static void test_layout(void **state)
{
    (void)state;
    const ElfW(Phdr) *headers = (const void *)(image.bytes + image.header->e_phoff);
    unsigned loads = 0;
    skip_where_sanitized();
    for (int i = 0; i < image.header->e_phnum; i++) {
        assert_int_not_equal(headers[i].p_type, PT_TLS);
        if (headers[i].p_type == PT_GNU_STACK)
            assert_false(headers[i].p_flags & PF_X);
        if (headers[i].p_type != PT_LOAD)
            continue;
        assert_true(headers[i].p_align >= PAGE_16K);
        assert_false((headers[i].p_flags & PF_W) && (headers[i].p_flags & PF_X));
        loads++;
    }
    assert_true(loads >= 2);
}

/* The compiler's own frame_dummy and __do_global_dtors_aux are all that runs by itself. */
static void test_no_constructors(void **state)
{
    (void)state;
    skip_where_sanitized();
    const ElfW(Shdr) *begin = find_section(SHT_INIT_ARRAY, NULL);
    const ElfW(Shdr) *end = find_section(SHT_FINI_ARRAY, NULL);
    assert_true(!begin || begin->sh_size <= sizeof(void *));
    assert_true(!end || end->sh_size <= sizeof(void *));
    assert_null(find_section(SHT_PROGBITS, ".ctors"));
    assert_null(find_section(SHT_PROGBITS, ".dtors"));
}

/* --- What the manifest says is what the library says --- */

/* The value of the first `key` in the manifest's layer object. */
static void manifest_value(const char *manifest, const char *key, char out[256])
{
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\": \"", key);
    const char *value = strstr(manifest, quoted);
    assert_non_null(value);
    value += strlen(quoted);
    snprintf(out, 256, "%.*s", (int)strcspn(value, "\""), value);
}

static void test_agrees_with_manifest(void **state)
{
    (void)state;
    char *manifest = sandbox_read(RC_LAYER_DIR "/VkLayer_robust_cache.json");
    char value[256], own[64];
    void *library = dlopen(RC_LAYER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    PFN_vkEnumerateInstanceLayerProperties layers;
    PFN_vkEnumerateInstanceExtensionProperties extensions;
    *(void **)&layers = dlsym(library, "vkEnumerateInstanceLayerProperties");
    *(void **)&extensions = dlsym(library, "vkEnumerateInstanceExtensionProperties");
    VkLayerProperties layer;
    uint32_t count = 1;
    assert_int_equal(layers(&count, &layer), VK_SUCCESS);
    manifest_value(manifest, "name", value);
    assert_string_equal(layer.layerName, value);
    manifest_value(manifest, "description", value);
    assert_string_equal(layer.description, value);
    manifest_value(manifest, "api_version", value);
    snprintf(own, sizeof(own), "%u.%u.%u", VK_API_VERSION_MAJOR(layer.specVersion),
             VK_API_VERSION_MINOR(layer.specVersion), VK_API_VERSION_PATCH(layer.specVersion));
    assert_string_equal(own, value);
    manifest_value(manifest, "implementation_version", value);
    snprintf(own, sizeof(own), "%u", layer.implementationVersion);
    assert_string_equal(own, value);

    VkExtensionProperties extension;
    count = 1;
    assert_int_equal(extensions(layer.layerName, &count, &extension), VK_SUCCESS);
    assert_non_null(strstr(manifest, extension.extensionName));
    manifest_value(manifest, "spec_version", value);
    snprintf(own, sizeof(own), "%u", extension.specVersion);
    assert_string_equal(own, value);
    free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_exports),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_no_constructors),
        cmocka_unit_test(test_agrees_with_manifest),
    };
    return cmocka_run_group_tests_name("library", tests, map_library, NULL);
}
