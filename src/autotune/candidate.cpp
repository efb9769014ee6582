#include "autotune/candidate.h"

#include "support/error.h"

#include <nlohmann/json.hpp>

namespace tilewright {

using Json = nlohmann::ordered_json;

std::string CandidateJob::to_json() const {
  return Json{{"tile_ir", tile_ir}, {"arguments", arguments}, {"config", Json::parse(config.to_json())}}.dump();
}

CandidateJob CandidateJob::from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    return {json.at("tile_ir").get<std::string>(), json.at("arguments").get<std::string>(),
            Config::from_json(json.at("config").dump())};
  } catch (const Json::exception& error) {
    fail("not a candidate job: {}", error.what());
  }
}

std::string_view name(Outcome outcome) {
  switch (outcome) {
  case Outcome::measured: return "measured";
  case Outcome::too_slow: return "too slow";
  case Outcome::compile_failed: return "compile failed";
  case Outcome::run_failed: return "run failed";
  case Outcome::wrong_result: return "wrong result";
  case Outcome::timed_out: return "timed out";
  case Outcome::crashed: return "crashed";
  case Outcome::out_of_memory: return "out of memory";
  case Outcome::poisoned: return "broke the device's context";
  case Outcome::skipped: return "skipped";
  }
  return "";
}

} // namespace tilewright
