#version 450
// All shaders of shader_fuzz. READS says what is read, STORES where it goes besides the attachment: 1 an image,
// 2 a buffer. All bindings are declared always: which of them are used is what the layer must find out.
layout(push_constant) uniform Constants { vec4 color; uint element; };
layout(set = 0, binding = 0) uniform sampler2D first;
layout(set = 0, binding = 1) uniform sampler2D second;
layout(set = 0, binding = 2) uniform sampler2D several[4];
layout(set = 0, binding = 3, rgba8) readonly uniform image2D loaded;
layout(set = 0, binding = 4, rgba8) writeonly uniform image2D stored;
layout(set = 0, binding = 5) uniform samplerCube cube;
layout(set = 0, binding = 6) uniform sampler2DArray layered;
layout(set = 0, binding = 7) uniform texture2D separate;
layout(set = 0, binding = 8) uniform sampler how;
layout(set = 0, binding = 9) buffer Out { uint texels[]; };
layout(set = 0, binding = 10) uniform usampler2D stencil;
#if READS == 11
layout(input_attachment_index = 0, set = 1, binding = 0) uniform subpassInput attached;
#else
layout(set = 1, binding = 0) uniform sampler2D other[2];
#endif

vec4 value(vec2 where, ivec2 texel)
{
#if READS == 0
    return color * vec4(where, 1.0, 1.0);
#elif READS == 1
    return textureLod(first, where, 0.0).gbra;
#elif READS == 2
    return 0.5 * textureLod(first, where, 0.0) + 0.5 * textureLod(second, where, 0.0).brga;
#elif READS == 3
    return 0.5 * textureLod(several[0], where, 0.0) + 0.5 * textureLod(several[2], where, 0.0);
#elif READS == 4
    return textureLod(several[element], where, 0.0).bgra;
#elif READS == 5
    return textureLod(cube, vec3(1.0, 0.5 * where), 0.0).gbra;
#elif READS == 6
    return textureLod(layered, vec3(where, float(element)), 0.0).brga;
#elif READS == 7
    return textureLod(sampler2D(separate, how), where, 0.0).grba;
#elif READS == 8
    return imageLoad(loaded, texel & 3).bgra;
#elif READS == 9
    return 0.5 * textureLod(first, where, 0.0) + 0.5 * textureLod(other[1], where, 0.0).gbra;
#elif READS == 10
    return vec4(textureLod(stencil, where, 0.0).r) / 255.0;
#elif READS == 11
    return subpassLoad(attached).gbra;
#endif
}

void store(ivec2 texel, vec4 what)
{
#if STORES == 1
    imageStore(stored, texel, what);
#elif STORES == 2
    texels[(texel.y * 16 + texel.x) & 255] = packUnorm4x8(what);
#endif
}

#ifdef VERTEX
layout(location = 0) out vec2 where;
layout(location = 1) out vec4 factor;
void main()
{
    where = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(where * 2.0 - 1.0, 0.5, 1.0);
#if READS
    factor = textureLod(second, vec2(0.1), 0.0);
#else
    factor = vec4(1.0);
#endif
}
#endif

#ifdef FRAGMENT
layout(location = 0) in vec2 where;
layout(location = 1) in vec4 factor;
layout(location = 0) out vec4 result;
void main()
{
    result = value(where, ivec2(gl_FragCoord.xy)) * factor;
    store(ivec2(gl_FragCoord.xy), result);
}
#endif

#ifdef COMPUTE
layout(local_size_x = 8, local_size_y = 8) in;
void main()
{
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    store(texel, value((vec2(texel) + 0.5) / 16.0, texel));
}
#endif
