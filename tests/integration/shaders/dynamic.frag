#version 450
#extension GL_EXT_nonuniform_qualifier : require
// One of an array, chosen while the shader runs.
layout(set = 0, binding = 0) uniform sampler2D sources[4];
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    result = textureLod(sources[nonuniformEXT(int(gl_FragCoord.x) & 3)], where, 0.0);
}
