// portico/sdk.hpp - C++20 plugins on top of the C interface in abi.h: header only, standard library only.
// Read plugin.hpp, request.hpp and response.hpp first.
#pragma once
#include "client.hpp"
#include "log.hpp"
#include "per_loop.hpp"
#include "plugin.hpp"
#include "request.hpp"
#include "response.hpp"
#include "service.hpp"
#include "settings.hpp"
#include "stats.hpp"
#include "stream.hpp"
#include "timer.hpp"
#include "websocket.hpp"
#include "work.hpp"
