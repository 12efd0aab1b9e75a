#include "core/service/hosting.hpp"

int main(int count, char** arguments) { return portico::service::host(count, arguments); }
