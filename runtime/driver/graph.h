/* graph.h - graphs of work, built by hand or captured, and their runs. */
#ifndef DRIVER_GRAPH_H
#define DRIVER_GRAPH_H

#include "runtime/driver/driver.h"

cu_result dr_exec_run(dr_context *context, struct dr_exec_run *run);
void dr_exec_run_free(struct dr_exec_run *run);

#endif
