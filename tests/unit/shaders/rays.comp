#version 460
#extension GL_EXT_ray_query : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform accelerationStructureEXT scene;
layout(set = 0, binding = 1) buffer Hits { uint hits; };
layout(set = 0, binding = 2) uniform accelerationStructureEXT scenes[2];

void main()
{
    rayQueryEXT query;
    rayQueryInitializeEXT(query, scene, 0, 0xff, vec3(0), 0, vec3(1), 1);
    while (rayQueryProceedEXT(query))
        rayQueryConfirmIntersectionEXT(query);
    rayQueryInitializeEXT(query, scenes[1], 0, 0xff, vec3(0), 0, vec3(1), 1);
    hits = rayQueryGetIntersectionTypeEXT(query, true);
}
