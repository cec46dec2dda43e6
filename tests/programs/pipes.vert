#version 450
layout(constant_id = 0) const uint id = 0;
layout(constant_id = 2) const float scale = 1.0;
layout(location = 0) out vec3 colour;

void main()
{
    vec2 corner = vec2(gl_VertexIndex & 1, (gl_VertexIndex >> 1) & 1) * 2.0 - 1.0;
    float angle = float(id) * 0.1;
    mat2 turn = mat2(cos(angle), sin(angle), -sin(angle), cos(angle));
#if VARIANT == 1
    turn *= inverse(turn + mat2(scale));
#endif
    gl_Position = vec4(turn * corner * scale, 0.0, 1.0);
    colour = vec3(corner, scale);
}
