#version 450
layout(set = 0, binding = 0) uniform samplerCube source;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    // The face at +X, whatever the texel: the others may never have been written.
    result = textureLod(source, vec3(1.0, 0.5 * where), 0.0);
}
