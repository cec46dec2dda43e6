#version 450
layout(set = 0, binding = 0) uniform sampler2D image;
shared vec4 result;
void main()
{
    result = texture(image, vec2(0));
}
