#version 450
// One of an array, always the same.
layout(set = 0, binding = 0) uniform sampler2D sources[4];
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    result = textureLod(sources[2], where, 0.0);
}
