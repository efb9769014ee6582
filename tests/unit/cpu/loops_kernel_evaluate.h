// The templates of loops_kernel.h.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

// Elements of a multiple of the largest lane count, the last one repeated.
template <class T> std::vector<T> filled_up(std::vector<T> values) {
  while (values.size() % 32 != 0) values.push_back(values.back());
  return values;
}

template <class Result, class... Operand>
std::vector<Result> evaluate(const std::string& body, const std::vector<std::string>& operand_types,
                             const std::string& result_type, const std::vector<Operand>&... operands) {
  size_t wanted = std::get<0>(std::tie(operands...)).size();
  auto run_one = [&](int lanes, const tilewright::cpu::CpuTarget& target) {
    auto filled = std::make_tuple(filled_up(operands)...);
    size_t count = std::get<0>(filled).size();
    std::vector<Result> results(count);
    std::vector<void*> arguments;
    std::apply([&](auto&... operand) { (arguments.push_back(operand.data()), ...); }, filled);
    arguments.push_back(results.data());
    LoopsKernel kernel(pointwise_kernel(body, operand_types, result_type, lanes, count), target);
    kernel.run(arguments);
    results.resize(wanted);
    return results;
  };
  std::vector<Result> first = run_one(1, tilewright::cpu::host_target());
  for (const tilewright::cpu::CpuTarget& target : runnable_targets())
    for (int lanes : {1, 4, 16, 32}) {
      std::vector<Result> others = run_one(lanes, target);
      EXPECT_EQ(std::memcmp(others.data(), first.data(), wanted * sizeof(Result)), 0)
          << body << ": " << lanes << " lanes for " << target.cpu << " differ from one on the host";
    }
  return first;
}
