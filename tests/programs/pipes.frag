#version 450
layout(constant_id = 0) const uint id = 0;
layout(constant_id = 1) const uint rounds = 4;
layout(constant_id = 2) const float scale = 1.0;
layout(location = 0) in vec3 colour;
layout(location = 0) out vec4 result;

vec3 bend(vec3 p)
{
#if VARIANT == 0
    return abs(p) / max(dot(p, p), 0.1) - vec3(0.5, 0.7, 0.3) * scale;
#else
    return sin(p.yzx * scale) * cos(p.zxy) + p * 0.5;
#endif
}

void main()
{
    vec3 p = colour + vec3(gl_FragCoord.xy * 0.01, float(id));
    vec3 sum = vec3(0);
    for (uint i = 0; i < rounds; i++) {
        p = bend(p);
        sum += exp(-abs(p) * float(i + 1)) * normalize(p + 0.01);
        if ((id & 2u) != 0)
            sum = mix(sum, reflect(p, normalize(sum + 0.01)), 0.2);
    }
    result = vec4(pow(abs(sum), vec3(1.0 / 2.2)), 1.0);
}
