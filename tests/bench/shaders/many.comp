#version 450
/* A big shader: 256 functions that sample, load, store and compute. */
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform sampler2D images[4];
layout(set = 0, binding = 1, rgba8) uniform image2D target;
layout(set = 0, binding = 2) uniform Parameters { mat4 transform; vec4 weights[16]; };
layout(set = 1, binding = 0) buffer Data { vec4 values[]; };

#define BODY(name)                                                                                           \
    vec4 name(vec4 value, uint index)                                                                        \
    {                                                                                                        \
        vec3 cell = floor(value.xyz), part = fract(value.xyz);                                               \
        part = part * part * (3.0 - 2.0 * part);                                                             \
        vec4 sum = transform * vec4(part, 1.0) + values[index] * weights[index & 15u];                       \
        for (uint i = 0; i < 4; i++) {                                                                       \
            vec2 at = mix(cell.xy, part.yz, float(i) * 0.25);                                                \
            sum += textureLod(images[2], at, 0.0) * weights[i];                                              \
            if (sum.x > 4.0)                                                                                 \
                sum = vec4(dot(sum, sum), sqrt(abs(sum.y)), sum.zw * 0.5);                                   \
        }                                                                                                    \
        sum += imageLoad(target, ivec2(index, index >> 4));                                                  \
        values[index + 1] = sum;                                                                             \
        return clamp(sum.zxyw, 0.0, 1.0);                                                                    \
    }
#define FOUR(action, name) action(name##0) action(name##1) action(name##2) action(name##3)
#define SIXTEEN(action, name)                                                                                \
    FOUR(action, name##0) FOUR(action, name##1) FOUR(action, name##2) FOUR(action, name##3)
#define ALL(action)                                                                                          \
    SIXTEEN(action, f0) SIXTEEN(action, f1) SIXTEEN(action, f2) SIXTEEN(action, f3)                          \
    SIXTEEN(action, f4) SIXTEEN(action, f5) SIXTEEN(action, f6) SIXTEEN(action, f7)                          \
    SIXTEEN(action, f8) SIXTEEN(action, f9) SIXTEEN(action, fa) SIXTEEN(action, fb)                          \
    SIXTEEN(action, fc) SIXTEEN(action, fd) SIXTEEN(action, fe) SIXTEEN(action, ff)

ALL(BODY)

#define CALL(name) value = name(value, index);

void main()
{
    uint index = gl_GlobalInvocationID.x;
    vec4 value = values[index];
    ALL(CALL)
    imageStore(target, ivec2(index), value);
}
