# cmake -DLAYOUT=program -DEXPECTED=file -P layout.cmake: what the program prints is what the file holds.
execute_process(COMMAND ${LAYOUT} OUTPUT_VARIABLE found RESULT_VARIABLE failed)
file(READ ${EXPECTED} expected)
string(REPLACE "\r" "" found "${found}")
if(failed OR NOT found STREQUAL expected)
  message(FATAL_ERROR "the layout of the plugin interface has changed; it may only grow, and layout.txt with it:\n${found}")
endif()
