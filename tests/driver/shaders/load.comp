#version 450
layout(set = 0, binding = 0, rgba8) uniform readonly image2D loaded;
shared vec4 seen;
void main() { seen = imageLoad(loaded, ivec2(0)); }
