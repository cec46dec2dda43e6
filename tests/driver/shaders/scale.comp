#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint factor = 1;
layout(set = 0, binding = 0) buffer Data { uint values[]; };
void main() { values[gl_GlobalInvocationID.x] *= factor; }
