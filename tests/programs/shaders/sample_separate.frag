#version 450
layout(set = 0, binding = 0) uniform texture2D source;
layout(set = 0, binding = 1) uniform sampler how;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    result = textureLod(sampler2D(source, how), where, 0.0).brga;
}
