#include "manifest/read.hpp"

#include "experiment/reader.hpp"
#include "experiment/toml_tree.hpp"
#include "manifest/variants.hpp"

#include <utility>

namespace kzoo::manifest {

kernel_manifest read(const std::filesystem::path& file, std::string_view text) {
  input::diagnostics report(file.string(), text);
  const experiment::node_table document = experiment::parse_document(text, report);
  report.throw_if_any();

  experiment::table_reader keys(document, "", report);
  kernel_manifest m;
  m.id = file.stem().string();
  keys.read("kernel", m.kernel, experiment::text);
  if (m.kernel.empty())
    report.error(report.at(1, 1),
                 "it has no kernel = \"FILE\", the file that the compiled kernels are in; where it "
                 "is about a source, name that as the plugin");
  described_kernels all = read_variants(keys, kernel_origin::compiled, report.at(1, 1), report);
  keys.finish();
  report.throw_if_any();
  m.summary = std::move(all.summary);
  m.maps = std::move(all.maps);
  for (described_variant& v : all.variants) m.variants.push_back(std::move(v.launch));
  return m;
}

}  // namespace kzoo::manifest
