#include "plugins/uploads/names.hpp"

#include <catch2/catch.hpp>

using namespace portico::uploads;

TEST_CASE("the base name is what follows the last slash of either kind") {
  CHECK(base_name("x.png") == "x.png");
  CHECK(base_name("/tmp/a b/x.png") == "x.png");
  CHECK(base_name("C:\\out\\x.png") == "x.png");
  CHECK(base_name("sub/x.png") == "x.png");
  CHECK(base_name("a\\b/c") == "c");
  CHECK(base_name("dir/") == "");
  CHECK(base_name("") == "");
}

TEST_CASE("each value of the view query is percent-encoded once") {
  CHECK(view_path({"/tmp/a b/\xc3\xa9.png", "", "output"}) == "/view?filename=%C3%A9.png&subfolder=&type=output");
  CHECK(view_path({"C:\\out\\x.png", "", "output"}) == "/view?filename=x.png&subfolder=&type=output");
  CHECK(view_path({"sub/x.png", "", "temp"}) == "/view?filename=x.png&subfolder=&type=temp");
  CHECK(view_path({"a&b#c%2fd+e\"f\n.png", "s/t u", "output"}) ==
        "/view?filename=a%26b%23c%252fd%2Be%22f%0A.png&subfolder=s%2Ft%20u&type=output");
}

TEST_CASE("a reference that would leave its folder is not contained") {
  CHECK(is_contained({"x.png", "", "output"}));
  CHECK(is_contained({"x.png", "a/b", "input"}));
  CHECK(is_contained({"x.png", "a\\b", "temp"}));
  CHECK(is_contained({"/abs/x.png", "", "output"}));  // only its base name is used
  CHECK(is_contained({"a..b.png", "..x/y..", "output"}));
  CHECK_FALSE(is_contained({"..", "", "output"}));
  CHECK_FALSE(is_contained({".", "", "output"}));
  CHECK_FALSE(is_contained({"", "", "output"}));
  CHECK_FALSE(is_contained({"a/", "", "output"}));
  CHECK_FALSE(is_contained({"x.png", "..", "output"}));
  CHECK_FALSE(is_contained({"x.png", "a/../../b", "output"}));
  CHECK_FALSE(is_contained({"x.png", "a\\..\\b", "output"}));
  CHECK_FALSE(is_contained({"x.png", "/etc", "output"}));
  CHECK_FALSE(is_contained({"x.png", "\\\\host\\share", "output"}));
  CHECK_FALSE(is_contained({"x.png", "C:\\out", "output"}));
  CHECK_FALSE(is_contained({"x.png", "", "models"}));
  CHECK_FALSE(is_contained({"x.png", "", ""}));
  CHECK_FALSE(is_contained({std::string("x\0.png", 6), "", "output"}));
}

TEST_CASE("a reference outside the input folder says which folder it means") {
  CHECK(reference_text({"a.png", "", "input"}) == "a.png");
  CHECK(reference_text({"a.png", "sub/dir", "input"}) == "sub/dir/a.png");
  CHECK(reference_text({"a.png", "", "output"}) == "a.png [output]");
  CHECK(reference_text({"/x/a.png", "sub", "temp"}) == "sub/a.png [temp]");
}
