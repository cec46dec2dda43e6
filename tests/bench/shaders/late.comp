#version 450
#define IMAGE(n) layout(set = 0, binding = n) uniform sampler2D image##n;
#define READ(n) texture(image##n, vec2(0))
#define EACH(do, and) do(0) and do(1) and do(2) and do(3) and do(4) and do(5) and do(6) and do(7) and do(8) and \
    do(9) and do(10) and do(11) and do(12) and do(13) and do(14) and do(15)
#define NOTHING
#define PLUS +
EACH(IMAGE, NOTHING)
shared vec4 result;
void main()
{
    result = EACH(READ, PLUS);
}
