#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(push_constant) uniform Constants { vec4 color; };
layout(set = 0, binding = 0, rgba8) writeonly uniform image2D result;
void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    imageStore(result, ivec2(at), vec4(color.rg * vec2(at) / 16.0, color.ba));
}
