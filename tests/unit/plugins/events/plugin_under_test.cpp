// The exported symbol lives in the plugin's library alone; here it is compiled into the tests.
#include "plugins/events/plugin.cpp"
