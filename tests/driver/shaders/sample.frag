#version 450
layout(set = 0, binding = 0) uniform sampler2D sampled;
layout(location = 0) out vec4 color;
void main() { color = textureLod(sampled, vec2(0), 0); }
