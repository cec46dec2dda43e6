#version 450
// As fullscreen.vert; what comes out is captured by transform feedback.
layout(location = 0) out vec2 where;
layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out gl_PerVertex
{
    vec4 gl_Position;
};
void main()
{
    where = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(where * 2.0 - 1.0, 0.0, 1.0);
}
