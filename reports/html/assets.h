// Style and script of the HTML report: the files of assets/, which travel inside the program.
#pragma once

#include <string_view>

namespace fullband {

std::string_view ReportStyle();
std::string_view ReportScript();

}  // namespace fullband
