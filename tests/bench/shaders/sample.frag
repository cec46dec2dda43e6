#version 450
layout(set = 0, binding = 0) uniform sampler2D image;
layout(push_constant) uniform constants { vec4 tint; };
layout(location = 0) out vec4 color;
void main()
{
    color = texture(image, gl_FragCoord.xy) * tint;
}
