#pragma once

#include <kzoo/ffi_tensors.hpp>
