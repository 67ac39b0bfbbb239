#pragma once

#include <kzoo/tensors.hpp>
