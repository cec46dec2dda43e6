#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1, rgba8) readonly uniform image2D other;
layout(set = 0, binding = 2, rgba8) writeonly uniform image2D result;
void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    imageStore(result, at, texelFetch(source, at, 0) + imageLoad(other, at));
}
