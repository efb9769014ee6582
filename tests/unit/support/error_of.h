// Errors are tested by the text a user reads.
#pragma once

#include "tilewright/error.h"

#include <string>

// The message of the Error that `function` throws, without the place in front of it.
template <class Function> std::string error_of(Function&& function) {
  try {
    function();
  } catch (const tilewright::Error& error) {
    std::string text = error.what();
    if (!error.location().known()) return text;
    std::string place = std::string(error.location().file) + ":" + std::to_string(error.location().line) + ": ";
    return text.starts_with(place) ? text.substr(place.size()) : "not at its location: " + text;
  }
  return "nothing was thrown";
}

// The line in the user's source that the Error names, or 0.
template <class Function> unsigned error_line_of(Function&& function) {
  try {
    function();
  } catch (const tilewright::Error& error) {
    return error.location().line;
  }
  return 0;
}
