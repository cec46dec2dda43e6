#version 450
/* Enough work for a compiler that a pipeline costs milliseconds; VARIANT (0..3) changes the code itself, the
 * specialization constants make every pipeline of a variant another one. */
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint id = 0;
layout(constant_id = 1) const uint rounds = 4;
layout(constant_id = 2) const float scale = 1.0;
layout(set = 0, binding = 0) buffer Data { uint words[]; };

uint mix_word(uint x)
{
    x ^= x >> 16;
    x *= 0x7feb352du + id;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

float noise(vec3 p)
{
    vec3 cell = floor(p), part = fract(p);
    part = part * part * (3.0 - 2.0 * part);
    float corners[8];
    for (uint i = 0; i < 8; i++) {
        uvec3 corner = uvec3(ivec3(cell) + ivec3(i & 1, (i >> 1) & 1, i >> 2));
        corners[i] = float(mix_word(corner.x + 57 * corner.y + 113 * corner.z) & 0xffffu) / 65535.0;
    }
    vec4 x = mix(vec4(corners[0], corners[2], corners[4], corners[6]),
                 vec4(corners[1], corners[3], corners[5], corners[7]), part.x);
    vec2 y = mix(x.xz, x.yw, part.y);
    return mix(y.x, y.y, part.z);
}

uint body(uint value, uint round_number)
{
#if VARIANT == 0
    vec3 p = vec3(value & 255u, (value >> 8) & 255u, round_number) * scale * 0.1;
    return value + uint(noise(p) * 1024.0) + uint(noise(p.zxy * 2.0) * 512.0);
#elif VARIANT == 1
    mat4 m = mat4(1.0);
    for (int i = 0; i < 4; i++)
        m[i][(i + 1) & 3] = float((value >> (8 * i)) & 255u) * scale / 255.0;
    mat4 square = m * m + transpose(m);
    return mix_word(value) + uint(clamp(determinant(square), 0.0, 1000.0) * 16.0);
#elif VARIANT == 2
    uint table[16];
    for (uint i = 0; i < 16; i++)
        table[i] = mix_word(value + i * id);
    for (uint i = 0; i < 15; i++) {
        uint low = min(table[i], table[i + 1]);
        table[i + 1] = max(table[i], table[i + 1]);
        table[i] = low;
    }
    return table[round_number & 15u] ^ bitfieldReverse(table[7]);
#else
    vec2 z = vec2(0), c = vec2(value & 1023u, (value >> 10) & 1023u) / 512.0 - 1.0;
    uint steps = 0;
    while (steps < 16 && dot(z, z) < 4.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c * scale;
        steps++;
    }
    return mix_word(value + steps) + uint(noise(vec3(c, scale)) * 256.0);
#endif
}

void main()
{
    uint index = gl_GlobalInvocationID.x;
    uint value = words[index] + index;
    for (uint i = 0; i < rounds; i++)
        value = body(value, i);
    if ((id & 1u) != 0)
        value = mix_word(value) + bitCount(value);
    words[index] = value;
}
