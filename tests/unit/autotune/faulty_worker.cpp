// A worker (autotune/worker_runner.h) whose candidates say themselves what becomes of them. The job's text is a list of
// words: compile-WHAT and run-WHAT, where WHAT is crash, hang, memory, fail, wrong or poison; and the time that is
// "measured".
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>

using Json = nlohmann::json;

static bool read_exactly(void* bytes, size_t count) {
  for (size_t got = 0; got < count;) {
    ssize_t now = read(3, static_cast<char*>(bytes) + got, count - got);
    if (now <= 0) return false;
    got += static_cast<size_t>(now);
  }
  return true;
}

static void send(const std::string& message) {
  const auto length = static_cast<uint32_t>(message.size());
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes += message;
  if (write(3, bytes.data(), bytes.size()) < 0) std::exit(1);
}

static Json outcome(const std::string& word) {
  if (word == "crash") std::abort();
  if (word == "hang")
    for (;;) pause();
  if (word == "memory") { // ends the process
    static volatile char* memory = nullptr;
    memory = new char[size_t(1) << 46];
    memory[0] = 1;
  }
  if (word == "nonsense") return "nonsense";
  if (word == "wrong") return {{"outcome", "wrong_result"}, {"reason", "is off by 1"}};
  if (word == "poison") return {{"outcome", "poisoned"}, {"reason", "an illegal access"}};
  return {{"outcome", word == "fail" ? "run_failed" : "compile_failed"}, {"reason", word}};
}

int main() {
  send(R"({"ready": true})");
  bool is_poisoned = false, has_baseline = false;
  uint32_t length = 0;
  while (read_exactly(&length, sizeof(length))) {
    std::string text(length, ' ');
    if (!read_exactly(text.data(), length)) return 0;
    const Json message = Json::parse(text);
    std::ifstream file(message["folder"].get<std::string>() + "/job");
    const bool compiles = message["do"] == "compile";
    const std::string prefix = compiles ? "compile-" : "run-";
    Json answer{{"outcome", compiles ? "compiled" : "measured"}};
    for (std::string word; file >> word;) {
      if (word.starts_with(prefix)) answer = outcome(word.substr(prefix.size()));
      if (word.find_first_not_of("0123456789.") == std::string::npos && !compiles && answer["outcome"] == "measured")
        answer["microseconds"] = std::stod(word);
    }
    // What a runner must never do.
    if (!compiles && is_poisoned) answer = {{"outcome", "run_failed"}, {"reason", "the context was broken before"}};
    if (!compiles && message["do"] != "baseline" && !has_baseline)
      answer = {{"outcome", "run_failed"}, {"reason", "there is no baseline"}};
    has_baseline |= message["do"] == "baseline" && answer["outcome"] == "measured";
    is_poisoned |= answer.is_object() && answer["outcome"] == "poisoned";
    send(answer.dump());
  }
  return 0;
}
