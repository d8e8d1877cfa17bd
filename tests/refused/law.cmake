# cmake -DCOMPILER= -DINCLUDE= -DEIGEN= -DFOLDER= -P law.cmake: compiles a law with one expression
# after the other. One that is refused gives one error with the words that say what to write.
set(head "template <class T>
  void phi(const T* q, T* phi) const")
# What all of them include is read once.
set(options -std=c++20 -I${INCLUDE} -isystem ${EIGEN})
file(WRITE ${FOLDER}/law.hpp "#include <espalier/plugin.hpp>\n")
execute_process(
  COMMAND ${COMPILER} ${options} -x c++-header ${FOLDER}/law.hpp -o ${FOLDER}/law.hpp.gch
  COMMAND_ERROR_IS_FATAL ANY)
function(compile expression expected)
  file(WRITE ${FOLDER}/law.cpp "using namespace espalier;
struct Stop {
  static constexpr int positions = 2, equations = 1;
  explicit Stop(const PartSpec&) {}
  ${head} {
    phi[0] = ${expression};
  }
};
ESPALIER_PLUGIN(\"law\", \"1.0\") {
  registrar.sub_mechanism<Stop>({.name = \"law\", .summary = \"law\"});
}
")
  execute_process(
    COMMAND ${COMPILER} ${options} -fsyntax-only -include ${FOLDER}/law.hpp ${FOLDER}/law.cpp
    OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE code)
  string(REPLACE ";" "," out "${out}")  # of no list
  string(REGEX MATCHALL "error:[^\n]*" errors "${out}")
  list(LENGTH errors count)
  if(expected STREQUAL "")
    if(NOT code EQUAL 0)
      message(SEND_ERROR "${expression}: expected to compile, got\n${out}")
    endif()
  elseif(code EQUAL 0 OR NOT count EQUAL 1 OR NOT errors MATCHES "${expected}")
    message(SEND_ERROR "${expression}: expected one error with '${expected}', got ${count}\n${out}")
  elseif(NOT out MATCHES "law.cpp:[0-9]+:" OR NOT out MATCHES "Stop")
    message(SEND_ERROR "${expression}: expected the law's name and place, got\n${out}")
  endif()
endfunction()

set(instead "write select_less\\(a, b, x, y\\)")
set(functions "phi may call sin, cos")
compile("select_less(q[0], 0.5, 1, std::cos(q[1])) + std::atan2(q[0], 2.0) + hypot(1.0, q[1])" "")
compile("q[1] > 0 ? q[0] : q[1]" "${instead}")
compile("0.5 <= q[1] ? q[0] : q[1]" "${instead}")
compile("q[1] == q[0] ? q[0] : q[1]" "${instead}")
compile("q[1] != 0.0 ? q[0] : q[1]" "${instead}")
compile("std::max(q[0], q[1])" "${instead}")
compile("std::tanh(q[0])" "there is no tanh.*${functions}")
compile("exp(q[0])" "there is no exp.*${functions}")
compile("std::fabs(q[0])" "there is no fabs.*select_less: abs\\(x\\)")
compile("cbrt(q[0])" "there is no cbrt.*${functions}")
compile("std::pow(q[0], 3) + pow(q[1], 2)" "")
compile("pow(q[0], 1.5)" "pow takes a whole exponent")
compile("std::pow(q[0], q[1])" "pow takes a whole exponent")
compile("std::fmax(q[0], q[1])" "there is no fmax.*select_less\\(a, b, b, a\\)")

# Nobody can call these.
set(signature "template <class T> void phi\\(const T")
foreach(head "template <class T> void phi(const T* q, T* phi)"
    "void phi(const double* q, double* phi) const" "template <class T> void Phi(const T* q, T* phi) const")
  compile("q[0] - 2 * q[1]" "${signature}")
endforeach()
