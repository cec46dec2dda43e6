#version 450
layout(set = 0, binding = 0, rgba8) uniform writeonly image2D stored;
void main() { imageStore(stored, ivec2(0), vec4(1)); }
