# Runs the parser's fuzzer for a minute on a copy of the seeds, so that the source tree stays as it is.
file(REMOVE_RECURSE corpus)
file(COPY ${SEEDS}/ DESTINATION corpus)
execute_process(COMMAND ${FUZZER} corpus -max_total_time=60 -timeout=20 -rss_limit_mb=4096 -max_len=20000 -print_final_stats=1
                RESULT_VARIABLE result ERROR_VARIABLE log OUTPUT_VARIABLE log)
string(LENGTH "${log}" length)
if(length GREATER 3000)
  math(EXPR from "${length} - 3000")
  string(SUBSTRING "${log}" ${from} 3000 log)
endif()
message("${log}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the fuzzer stopped with ${result}")
endif()
