#version 450
layout(set = 0, binding = 0) uniform sampler2D sampled[3];
shared vec4 seen;
void main() { seen = textureLod(sampled[2], vec2(0), 0); }
