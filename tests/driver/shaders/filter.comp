#version 450
layout(set = 0, binding = 0) uniform sampler2D from;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D to;
void main() { imageStore(to, ivec2(0), textureLod(from, vec2(0), 0)); }
