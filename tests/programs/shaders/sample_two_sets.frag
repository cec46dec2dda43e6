#version 450
layout(set = 0, binding = 0) uniform sampler2D first;
layout(set = 1, binding = 0) uniform sampler2D second;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    result = 0.5 * textureLod(first, where, 0.0) + 0.5 * textureLod(second, where, 0.0);
}
