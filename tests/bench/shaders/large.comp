#version 450
/* Much code, as a large application's shader has; what it computes doesn't matter. */
#define FOUR(x) x x x x
layout(set = 0, binding = 0) uniform sampler2D image;
shared vec4 result;
vec4 step(vec4 at)
{
    for (int i = 0; i < 4; i++)
        at += at.x > at.y ? texture(image, at.yz) : at.wzyx;
    return at;
}
void main()
{
    vec4 at = vec4(gl_GlobalInvocationID, 1);
    FOUR(FOUR(FOUR(FOUR(at = step(at) * at.y + texture(image, at.xy); if (at.x > at.w) at = -at;))))
    result = at;
}
