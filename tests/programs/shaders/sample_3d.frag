#version 450
layout(set = 0, binding = 0) uniform sampler3D source;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    // The third of four slices.
    result = textureLod(source, vec3(where, 0.625), 0.0);
}
