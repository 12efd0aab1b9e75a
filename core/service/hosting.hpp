// core/service/hosting.hpp - what the process is to the system.
//
// hosting_posix.cpp: a process in the foreground, as a terminal, systemd or a container start it; signals stop it.
// hosting_windows.cpp: a console program or a service of the Service Control Manager, by POCO's ServerApplication.
#pragma once

namespace portico::service {

// The whole of main().  No other thread exists yet.
int host(int count, char** arguments);

}  // namespace portico::service
