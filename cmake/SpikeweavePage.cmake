# The front end of pages as text in a C++ header. A browser that opens a page needs no other file: modules become one
# script, and the content security policy allows only this script and this style, by their digests.

# What a content security policy calls a digest: `sha256-` and base64.
function(spikeweave_policy_digest out text)
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(SHA256 hex "${text}")
  string(APPEND hex "00")  # 32 bytes are ten times three bytes, and two
  set(coded "")
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${hex}" ${at} 6 three)
    foreach(shift IN ITEMS 18 12 6 0)
      math(EXPR digit "(0x${three} >> ${shift}) & 63")
      string(SUBSTRING "${digits}" ${digit} 1 letter)
      string(APPEND coded "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${coded}" 0 43 coded)
  set(${out} "sha256-${coded}=" PARENT_SCOPE)
endfunction()

# The modules in the order in which they import each other; their names must all be different.
set(SPIKEWEAVE_PAGE_MODULES format data occurrences correlate layout graph state chart table raster_image raster
  episodes circuit correlogram counts about episodes_page pattern_data patterns aligned spectrum funnel spade_page
  sorting_data units probe waveforms unit_correlograms scatter sort_page
  compared_data compared_circuit compared_tables compared_about player gif exports comparison_pages app)

# spikeweave_embed_page(FOLDER HEADER): `report::page_head` and `page_tail` are what is before and after the data. The tail
# is a list with the modules one by one, because compilers need not support text of more than 65,536 bytes.
function(spikeweave_embed_page folder header)
  set(script "")
  set(pieces "")
  foreach(module IN LISTS SPIKEWEAVE_PAGE_MODULES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${module}.js)
    file(READ ${folder}/${module}.js text)
    string(REGEX REPLACE "import {[^}]*} from \"[^\"]*\";\n" "" text "${text}")
    string(REGEX REPLACE "\nexport " "\n" text "\n${text}")
    string(APPEND script "${text}")
    string(APPEND pieces "    R\"page(${text})page\",\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/page.css ${folder}/page.html)
  file(READ ${folder}/page.css style)
  file(READ ${folder}/page.html page)
  if("${script}${style}" MATCHES "</|<!--")
    message(FATAL_ERROR "A script or style of ${folder} has a tag, which would end it.")
  endif()
  spikeweave_policy_digest(script_digest "${script}")
  spikeweave_policy_digest(style_digest "${style}")
  foreach(part IN ITEMS script_digest style_digest style)
    string(REPLACE "{{${part}}}" "${${part}}" page "${page}")
  endforeach()
  string(REPLACE "{{data}}" ")page\";\n\ninline constexpr auto page_tail = std::to_array<std::string_view>({\n    R\"page(" page "${page}")
  string(REPLACE "{{script}}" ")page\",\n${pieces}    R\"page(" page "${page}")
  file(WRITE ${header}.new "#pragma once\n\n#include <array>\n#include <string_view>\n\nnamespace spikeweave::report {\n\n"
    "inline constexpr std::string_view page_head = R\"page(${page})page\"});\n\n}  // namespace spikeweave::report\n")
  file(COPY_FILE ${header}.new ${header} ONLY_IF_DIFFERENT)
endfunction()
