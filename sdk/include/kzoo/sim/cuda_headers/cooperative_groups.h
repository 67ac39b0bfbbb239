#pragma once

#include <cuda_runtime.h>

#include <kzoo/sim/cooperative_groups.hpp>
