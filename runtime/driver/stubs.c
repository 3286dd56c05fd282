#include "runtime/driver/driver.h"
#include "runtime/driver/array.h"
#include "runtime/driver/graph.h"
#include "runtime/driver/library.h"
#include "runtime/driver/spy.h"
bool dr_spying;
void dr_spy_module(dr_module *module) { (void)module; }
void dr_spy_launch(const dr_launch *launch) { (void)launch; }
void dr_spy_launched(dr_function *function, uint64_t ns) { (void)function, (void)ns; }
void dr_texrefs_free(dr_module *module) { (void)module; }
