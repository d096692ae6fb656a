#include "bindings/core/held_report.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "bindings/core/arguments.hpp"
#include "bindings/core/options.hpp"
#include "spikeweave/report/page.hpp"
#include "spikeweave/report/table.hpp"

namespace spikeweave::python {

void bind_reports(nb::module_& m) {
    nb::class_<held_report>(m, "Report")
        .def("summary", &held_report::summary, "warnings"_a)
        .def(
            "document",
            [](const held_report& report, std::string command, std::vector<std::string> warnings) {
                return report.document(
                    {.command = std::move(command), .warnings = std::move(warnings)});
            },
            "command"_a, "warnings"_a)
        .def(
            "save",
            [](const held_report& report, const std::filesystem::path& folder, std::string command,
               std::vector<std::string> warnings, bool overwrite) {
                report.save(folder,
                            {.command = std::move(command), .warnings = std::move(warnings)},
                            overwrite);
            },
            "folder"_a, "command"_a, "warnings"_a, "overwrite"_a)
        .def(
            "label_epochs",
            [](held_report& report, nb::handle labelled) {
                for (const nb::handle one : items_of("epochs", labelled))
                    report.epoch_labels.push_back(
                        {time_of("epochs", one[0]), text_of("epochs", one[1])});
            },
            "labelled"_a);
    nb::class_<result_document>(m, "ResultDocument").def(nb::init<std::string, std::string>());
    m.def("read_result", &read_result);
    m.def("result_tables", [] {
        return column(describe_tables(), [](const table_description& one) {
            return nb::make_tuple(one.command, one.file,
                                  column(one.columns, [](const column_description& of) {
                                      return nb::make_tuple(of.name, of.help);
                                  }));
        });
    });
    m.def("page_of_results",
          [](const std::vector<result_document>& results, const nb::dict& given) {
              return call(page_of_results, results, given);
          });
}

}  // namespace spikeweave::python
