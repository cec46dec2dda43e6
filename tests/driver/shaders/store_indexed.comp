#version 450
layout(set = 0, binding = 0, rgba8) uniform writeonly image2D stored[2];
layout(push_constant) uniform Push { uint index; };
void main() { imageStore(stored[index], ivec2(0), vec4(1)); }
