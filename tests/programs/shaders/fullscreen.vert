#version 450
// A triangle that covers everything, without vertex input.
layout(location = 0) out vec2 where;
void main()
{
    where = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(where * 2.0 - 1.0, 0.0, 1.0);
}
