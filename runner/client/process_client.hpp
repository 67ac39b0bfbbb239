#pragma once
// A plugin in a worker process: the judge's side of worker/worker.cpp.

#include "client/plugin_client.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kzoo::client {

// In a worker process: a crash or a hang affects this plugin's cells only. `device_code`: where
// CUDA keeps what it compiles from PTX there, if anywhere.
std::unique_ptr<plugin_client> make_process_client(
    std::filesystem::path file, double timeout_seconds,
    std::optional<std::filesystem::path> device_code);

// CUDA_VISIBLE_DEVICES for a process that sees only one GPU, as cuda:0. `ours`: its value in this
// process. `ordinal`: the GPU's number here. Returns entry `ordinal` of `ours` or, if `ours` is
// empty, the number itself: both processes order the GPUs alike.
std::string visible_alone(std::string_view ours, int ordinal);

// Hides the GPUs that a worker does not need: "CUDA_VISIBLE_DEVICES=…"; "" for the CPU, and if no
// other GPU is visible.
std::string hiding_all_but(const results::device& d);

}  // namespace kzoo::client
