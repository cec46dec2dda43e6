#version 450
layout(set = 0, binding = 0) uniform sampler2D sampled;
layout(set = 0, binding = 7) uniform sampler2D unused;
shared vec4 seen;
vec4 look(sampler2D from) { return textureLod(from, vec2(0), 0); }
void main() { seen = look(sampled); }
