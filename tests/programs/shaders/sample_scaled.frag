#version 450
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1) uniform Scale { uvec4 scale; };
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    result = textureLod(source, where, 0.0) * float(scale.x >> 24) / 32.0;
}
