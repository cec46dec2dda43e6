#version 450
layout(set = 0, binding = 0, rgba8) readonly uniform image2D source;
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 result;
void main()
{
    result = imageLoad(source, ivec2(gl_FragCoord.xy)).grba;
}
