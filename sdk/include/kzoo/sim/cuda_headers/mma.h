#pragma once

#include <kzoo/wmma.hpp>
