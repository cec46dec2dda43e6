#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, rgba8) readonly uniform image2D source;
layout(set = 0, binding = 1) writeonly buffer Out { uint texels[]; };
void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    texels[at.y * 16 + at.x] = packUnorm4x8(imageLoad(source, ivec2(at)));
}
