/* The shaders that are compiled from shader_fuzz.glsl. */
#ifndef PROGRAMS_SHADER_FUZZ_TABLE_H
#define PROGRAMS_SHADER_FUZZ_TABLE_H

#include "shader_fuzz.h"

#include "fuzz_comp_0_1.h"
#include "fuzz_comp_10_1.h"
#include "fuzz_comp_1_1.h"
#include "fuzz_comp_1_2.h"
#include "fuzz_comp_2_1.h"
#include "fuzz_comp_3_1.h"
#include "fuzz_comp_3_2.h"
#include "fuzz_comp_4_1.h"
#include "fuzz_comp_5_1.h"
#include "fuzz_comp_6_1.h"
#include "fuzz_comp_7_1.h"
#include "fuzz_comp_8_1.h"
#include "fuzz_comp_8_2.h"
#include "fuzz_comp_9_1.h"
#include "fuzz_frag_0_0.h"
#include "fuzz_frag_0_1.h"
#include "fuzz_frag_10_0.h"
#include "fuzz_frag_11_0.h"
#include "fuzz_frag_1_0.h"
#include "fuzz_frag_1_1.h"
#include "fuzz_frag_2_0.h"
#include "fuzz_frag_3_0.h"
#include "fuzz_frag_4_0.h"
#include "fuzz_frag_5_0.h"
#include "fuzz_frag_6_0.h"
#include "fuzz_frag_7_0.h"
#include "fuzz_frag_8_0.h"
#include "fuzz_frag_9_0.h"
#include "fuzz_vert_0_0.h"
#include "fuzz_vert_1_0.h"

#define SHADER(stage, reads, stores)                                                                         \
    {                                                                                                        \
        fuzz_##stage##_##reads##_##stores, sizeof(fuzz_##stage##_##reads##_##stores), reads, stores          \
    }

static const struct fuzz_shader vertex_shaders[] = {
    SHADER(vert, 0, 0),
    SHADER(vert, 1, 0),
};
static const struct fuzz_shader fragment_shaders[] = {
    SHADER(frag, 0, 0),  SHADER(frag, 1, 0),  SHADER(frag, 2, 0), SHADER(frag, 3, 0), SHADER(frag, 4, 0),
    SHADER(frag, 5, 0),  SHADER(frag, 6, 0),  SHADER(frag, 7, 0), SHADER(frag, 8, 0), SHADER(frag, 9, 0),
    SHADER(frag, 10, 0), SHADER(frag, 11, 0), SHADER(frag, 0, 1), SHADER(frag, 1, 1),
};
static const struct fuzz_shader compute_shaders[] = {
    SHADER(comp, 0, 1),  SHADER(comp, 1, 1), SHADER(comp, 2, 1), SHADER(comp, 3, 1), SHADER(comp, 4, 1),
    SHADER(comp, 5, 1),  SHADER(comp, 6, 1), SHADER(comp, 7, 1), SHADER(comp, 8, 1), SHADER(comp, 9, 1),
    SHADER(comp, 10, 1), SHADER(comp, 1, 2), SHADER(comp, 3, 2), SHADER(comp, 8, 2),
};

#undef SHADER

#endif
