#version 450
#extension GL_EXT_multiview : require
layout(set = 0, binding = 0) uniform sampler2D source;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    result = textureLod(source, where, 0.0) / float(1 + gl_ViewIndex);
}
