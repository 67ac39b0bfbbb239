{{#kernels}}
extern "C" __device__ const auto {{entry_mark}}{{number}} = {{entry}};
extern "C" __device__ const auto {{parameters_mark}}{{number}} = kzoo::types_of_parameters({{entry}});
{{/kernels}}
