#version 450
layout(set = 0, binding = 0, rgba8) uniform writeonly image2D image;
void main()
{
    imageStore(image, ivec2(0), vec4(1));
}
