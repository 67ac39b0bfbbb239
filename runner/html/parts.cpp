#include "html/parts.hpp"

#include "html/assets.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

namespace kzoo::html {
namespace {

// Nothing is loaded, whatever a name in a result may turn out to be. Vega compiles expressions.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data:; base-uri 'none'; form-action 'none'";

}  // namespace

void begin_page(const std::string& title, const std::string& heading,
                const std::vector<std::pair<std::string, std::string>>& links,
                const text_sink& out) {
  out(fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n<nav>",
      kPolicy, report::html(title), assets::kStyle, report::html(heading)));
  for (const auto& [id, words] : links)
    out(fmt::format("<a href=\"#{}\">{}</a>", id, report::html(words)));
  out("</nav>\n</header>\n<main>\n");
}

// A script ends at the first </script, even within a string.
void add_script(std::string_view text, const text_sink& out) {
  constexpr std::string_view kEnd = "</script", kHarmless = "<\\/script";
  std::string safe(text);
  for (std::size_t at = 0; (at = safe.find(kEnd, at)) != std::string::npos;)
    safe.replace(at, kEnd.size(), kHarmless);
  out("<script>");
  out(safe);
  out("</script>\n");
}

void end_page(const text_sink& out) {
  out("</main>\n");
  add_script(assets::kScript, out);
  out("</body>\n</html>\n");
}

}  // namespace kzoo::html
