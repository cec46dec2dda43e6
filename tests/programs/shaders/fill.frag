#version 450
layout(push_constant) uniform Constants { vec4 color; };
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    result = vec4(color.rg * where, color.ba);
}
