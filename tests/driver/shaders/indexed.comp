#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform sampler2D sampled[];
layout(push_constant) uniform Push { uint index; };
shared vec4 seen;
void main() { seen = textureLod(sampled[index], vec2(0), 0); }
