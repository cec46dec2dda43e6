#version 460
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_shader_image_load_formatted : require
#extension GL_EXT_samplerless_texture_functions : require
/* One of each way to use a resource; each binding is another. */
layout(constant_id = 0) const int specialized = 1;

layout(set = 0, binding = 0) uniform sampler2D sampled;
layout(set = 0, binding = 1) uniform sampler2D unused;
layout(set = 0, binding = 2) uniform sampler2D by_constant[4];
layout(set = 0, binding = 3) uniform sampler2D by_specialized[4];
layout(set = 0, binding = 4) uniform sampler2D by_variable[4];
layout(set = 0, binding = 5) uniform sampler2D without_end[];
layout(set = 0, binding = 6) uniform texture2D fetched;
layout(set = 0, binding = 7) uniform texture2D separate;
layout(set = 0, binding = 8) uniform sampler separate_sampler;
layout(set = 0, binding = 9) uniform texture2D only_asked;
layout(set = 0, binding = 10) uniform sampler2D parameter;
layout(set = 0, binding = 11) uniform samplerBuffer texels;

layout(set = 1, binding = 0, rgba8) uniform image2D read_only;
layout(set = 1, binding = 1, rgba8) uniform image2D write_only;
layout(set = 1, binding = 2, rgba8) uniform image2D read_and_write;
layout(set = 1, binding = 3, r32ui) uniform uimage2D atomic;
layout(set = 1, binding = 4) uniform readonly image2D passed_readonly;
layout(set = 1, binding = 5) uniform writeonly image2D passed_writeonly;
layout(set = 1, binding = 6) uniform image2D passed;
layout(set = 1, binding = 7, rgba8) uniform image2D images[2];
layout(set = 1, binding = 8, rgba8) uniform imageBuffer stored_texels;

layout(set = 2, binding = 0) uniform Block { vec4 values[4]; } block;
layout(set = 2, binding = 1) uniform Blocks { vec4 value; } blocks[3];
layout(set = 2, binding = 2) buffer Read { vec4 values[]; } buffer_read;
layout(set = 2, binding = 3) buffer Write { vec4 values[]; } buffer_write;
layout(set = 2, binding = 4) buffer Both { uint count; } buffer_atomic;
layout(set = 2, binding = 5) buffer Length { vec4 values[]; } buffer_length;
layout(set = 2, binding = 6) buffer Unused { vec4 values[]; } buffer_unused;

layout(input_attachment_index = 0, set = 3, binding = 0) uniform subpassInput attachment;

layout(location = 0) flat in int index;
layout(location = 0) out vec4 color;

vec4 sample_it(sampler2D image)
{
    return texture(image, vec2(0.5));
}

vec4 load_it(readonly image2D image)
{
    return imageLoad(image, ivec2(0));
}

void store_it(writeonly image2D image, vec4 value)
{
    imageStore(image, ivec2(0), value);
}

vec4 never_called()
{
    return texture(unused, vec2(0)) + buffer_unused.values[0];
}

void main()
{
    vec2 at = vec2(0.5);
    vec4 sum = texture(sampled, at) + texture(by_constant[2], at) + textureLod(by_constant[0], at, 0);
    sum += texture(by_specialized[specialized], at) + texture(by_variable[index], at);
    sum += texture(without_end[nonuniformEXT(index)], at);
    sum += texelFetch(fetched, ivec2(0), 0) + textureGather(sampler2D(separate, separate_sampler), at);
    sum += vec4(textureSize(only_asked, 0), 0, 0) + sample_it(parameter) + texelFetch(texels, 3);
    sum += imageLoad(read_only, ivec2(1)) + imageLoad(read_and_write, ivec2(1));
    imageStore(write_only, ivec2(1), sum);
    imageStore(read_and_write, ivec2(1), sum);
    sum.x += float(imageAtomicAdd(atomic, ivec2(0), 1));
    sum += load_it(passed_readonly) + load_it(passed) + imageLoad(images[1], ivec2(0));
    store_it(passed_writeonly, sum);
    imageStore(images[0], ivec2(0), sum);
    sum += imageLoad(stored_texels, 1);
    sum += block.values[index] + blocks[1].value + blocks[index].value + buffer_read.values[index];
    buffer_write.values[index] = sum;
    atomicAdd(buffer_atomic.count, 1);
    sum.y += float(buffer_length.values.length());
    color = sum + subpassLoad(attachment);
}
