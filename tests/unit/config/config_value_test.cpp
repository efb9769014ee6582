// Config as a value: JSON in and out, its C++ text, equality, hash, and what it says when asked for what it is not.
#include "tilewright/config.h"

#include "support/error_of.h"

#include <gtest/gtest.h>

namespace tw = tilewright;
using tw::Config;

namespace {

const Config kEverything{{"strings", {"a", "b\n\"\\"}},
                         {"block_sizes", {64, 128}},
                         {"loop_orders", {{1, 0}}},
                         {"empty", {}},
                         {"reduction_loops", {nullptr, 32}},
                         {"one", {8}},
                         {"nested_one", {{0}}},
                         {"pid_type", "flat"},
                         {"flag", true},
                         {"flags", {true, false}},
                         {"number", -3},
                         {"nothing", nullptr}};

TEST(ConfigValue, prints_as_json_sorted_by_name_on_one_line) {
  EXPECT_EQ(kEverything.to_json(),
            R"({"block_sizes": [64, 128], "empty": [], "flag": true, "flags": [true, false], "loop_orders": [[1, 0]], )"
            R"("nested_one": [[0]], "nothing": null, "number": -3, "one": [8], "pid_type": "flat", )"
            R"("reduction_loops": [null, 32], "strings": ["a", "b\n\"\\"]})");
}

TEST(ConfigValue, json_text_and_back_is_the_same_config) {
  EXPECT_EQ(Config::from_json(kEverything.to_json()), kEverything);
  EXPECT_EQ(Config::from_json(kEverything.to_json()).hash(), kEverything.hash());
  EXPECT_EQ(Config::from_json("{}"), Config());
  const Config extremes{{"least", INT64_MIN}, {"most", INT64_MAX}};
  EXPECT_EQ(Config::from_json(extremes.to_json()), extremes);
}

TEST(ConfigValue, its_cpp_text_is_the_text_that_builds_it) {
  // The literal on the right is the text on the left: what the tuning log prints can be pasted.
  EXPECT_EQ((Config{{"block_sizes", {64, 128}}, {"loop_orders", {{1, 0}}}, {"pid_type", "flat"}}).to_cpp(),
            R"(tw::Config{{"block_sizes", {64, 128}}, {"loop_orders", {{1, 0}}}, {"pid_type", "flat"}})");
  const Config pasted =
      tw::Config{{"empty", {}}, {"one", {8}}, {"reduction_loops", {nullptr, 32}}, {"text", "\"\012\\"}};
  EXPECT_EQ(pasted.to_cpp(),
            R"(tw::Config{{"empty", {}}, {"one", {8}}, {"reduction_loops", {nullptr, 32}}, {"text", "\"\012\\"}})");
}

TEST(ConfigValue, a_list_of_one_is_a_list_and_no_number) {
  EXPECT_EQ(Config::from_json(R"({"x": [8]})"), (Config{{"x", {8}}}));
  EXPECT_NE(Config::from_json(R"({"x": [8]})"), (Config{{"x", 8}}));
  EXPECT_EQ(Config::from_json(R"({"x": [[8]]})"), (Config{{"x", {{8}}}}));
}

TEST(ConfigValue, vectors_are_lists) {
  Config config;
  config.set("ints", std::vector<int64_t>{1, 2});
  config.set("optional", std::vector<std::optional<int64_t>>{std::nullopt, 3});
  config.set("orders", std::vector<std::vector<int>>{{1, 0}, {0}});
  config.set("strings", std::vector<std::string>{"a"});
  config.set("bools", std::vector<bool>{true, false});
  EXPECT_EQ(config, (Config{{"ints", {1, 2}},
                            {"optional", {nullptr, 3}},
                            {"orders", {{1, 0}, {0}}},
                            {"strings", {"a"}},
                            {"bools", {true, false}}}));
}

TEST(ConfigValue, equality_and_hash_do_not_depend_on_the_order_of_setting) {
  Config one, other;
  one.set("a", 1).set("b", 2);
  other.set("b", 0).set("a", 1).set("b", 2).set("c", 3).erase("c").erase("c");
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.hash(), other.hash());
  EXPECT_NE(one.hash(), other.set("a", 2).hash());
}

TEST(ConfigValue, hash_is_fixed_for_ever) {
  // It may stand in files: a change of the hash or of the printed form must be seen.
  EXPECT_EQ((Config{{"block_sizes", {64, 128}}, {"pid_type", "flat"}}).hash(), 5897757047404327436u);
}

TEST(ConfigValue, typed_getters_give_the_content) {
  EXPECT_EQ(kEverything.get_ints("block_sizes"), (std::vector<int64_t>{64, 128}));
  EXPECT_EQ(kEverything.get_int_lists("loop_orders"), (std::vector<std::vector<int64_t>>{{1, 0}}));
  EXPECT_EQ(kEverything.get_optional_ints("reduction_loops"), (std::vector<std::optional<int64_t>>{std::nullopt, 32}));
  EXPECT_EQ(kEverything.get_strings("strings").front(), "a");
  EXPECT_EQ(kEverything.get_bools("flags"), (std::vector<bool>{true, false}));
  EXPECT_EQ(kEverything.get_string("pid_type"), "flat");
  EXPECT_EQ(kEverything.get_int("number"), -3);
  EXPECT_TRUE(kEverything.get_bool("flag"));
  EXPECT_TRUE(kEverything.find("nothing")->is_null());
  EXPECT_EQ(kEverything.find("absent"), nullptr);
}

TEST(ConfigValue, typed_getters_name_the_option_and_what_it_holds) {
  EXPECT_EQ(error_of([] { kEverything.get_int("pid_type"); }),
            R"(config option 'pid_type': expected an integer, found "flat")");
  EXPECT_EQ(error_of([] { kEverything.get_ints("reduction_loops"); }),
            "config option 'reduction_loops': expected a list of integers, found [null, 32]");
  EXPECT_EQ(error_of([] { kEverything.get_int_lists("block_sizes"); }),
            "config option 'block_sizes': expected a list of lists of integers, found [64, 128]");
  EXPECT_EQ(error_of([] { Config{{"b", 1}, {"a", 2}}.get_int("c"); }), "config has no option 'c'; it has a, b");
  EXPECT_EQ(error_of([] { Config().get_int("c"); }), "config has no option 'c'; it has none");
}

TEST(ConfigValue, text_that_is_no_config_is_refused) {
  EXPECT_EQ(error_of([] { Config::from_json("{block_sizes: [1]}"); }),
            "config is not valid JSON: parse error at line 1, column 2: syntax error while parsing object key - "
            "invalid literal; last read: '{b'; expected string literal");
  EXPECT_EQ(error_of([] { Config::from_json("[64, 128]"); }),
            R"(a config is a JSON object such as {"block_sizes": [64, 128]}, found [64,128])");
  EXPECT_EQ(error_of([] { Config::from_json(R"({"x": [1, 2.5]})"); }),
            "config option 'x': 2.5 cannot be an option's value, which is null, true, false, an integer, a string, "
            "or a list of these");
  EXPECT_EQ(error_of([] { Config::from_json(R"({"x": 9223372036854775808})"); }),
            "config option 'x': 9223372036854775808 cannot be an option's value, which is null, true, false, an "
            "integer, a string, or a list of these");
  EXPECT_EQ(error_of([] { Config::from_json(R"({"x": {"y": 1}})"); }),
            R"(config option 'x': {"y":1} cannot be an option's value, which is null, true, false, an integer, )"
            "a string, or a list of these");
}

TEST(ConfigValue, an_option_given_twice_is_refused) {
  EXPECT_EQ(error_of([] { Config::from_json(R"({"x": 1, "x": 1})"); }), "config option 'x' is given twice");
  EXPECT_EQ(error_of([] { Config{{"x", 1}, {"x", 2}}; }), "config option 'x' is given twice");
}

} // namespace
